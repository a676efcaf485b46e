import { beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { Store } from '../../src/store/index.ts'
import { eachDatabase } from '../support/database.ts'

eachDatabase('users', (database) => {
  let store: Store
  beforeAll(async () => {
    store = await database.open()
  })

  test('a user is found by the name, without regard to case', async () => {
    const name = `Ann ${randomUUID()}`
    const id = (await store.addUser({ name, createdAt: 1 })) ?? ''
    expect(await store.userByName(name)).toEqual({ id, name, createdAt: 1 })
    expect(await store.userByName(name.toLowerCase())).toEqual({ id, name, createdAt: 1 })
    expect(await store.userByName(name.slice(1))).toBeUndefined()
    expect(await store.addUser({ name: name.toUpperCase(), createdAt: 2 })).toBeUndefined()
    expect(await store.listUsers()).toContainEqual({ id, name, createdAt: 1 })
  })

  test('of many concurrent additions of one name, exactly one succeeds', async () => {
    const name = randomUUID()
    const ids = await Promise.all(Array.from({ length: 12 }, () => store.addUser({ name, createdAt: 1 })))
    expect(ids.filter((id) => id !== undefined)).toHaveLength(1)
  })

  test('a user can be disabled once, and enabled again', async () => {
    const name = randomUUID()
    await store.addUser({ name, createdAt: 1 })
    await store.disableUser(name, 5)
    await store.disableUser(name, 9)
    expect((await store.userByName(name))?.disabledAt).toBe(5)
    await store.enableUser(name)
    expect((await store.userByName(name))?.disabledAt).toBeUndefined()
  })

  test('replacing a password raises the revision', async () => {
    const name = randomUUID()
    await store.addUser({ name, password: 'one', createdAt: 1 })
    const before = await store.revision()
    expect(await store.setPassword(name, 'two')).toBe(true)
    expect((await store.userByName(name))?.password).toBe('two')
    expect(await store.revision()).toBeGreaterThan(before)
  })

  test('nothing changes for a user who does not exist', async () => {
    const name = randomUUID()
    expect(await store.disableUser(name, 5)).toBe(false)
    expect(await store.enableUser(name)).toBe(false)
    expect(await store.setPassword(name, 'two')).toBe(false)
  })
})

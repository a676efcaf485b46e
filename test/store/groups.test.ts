import { beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import postgres from 'postgres'
import { openStore, type Store } from '../../src/store/index.ts'
import { eachDatabase, migratedDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

/** Names sort in another order than the ids. */
const nameOf = (id: string) => `${1_000 - (id.codePointAt(0) ?? 0)} ${id}`

eachDatabase('groups', (database) => {
  let store: Store
  beforeAll(async () => {
    store = await database.open()
  })

  const addGroup = async (user: string, id: string, createdAt = 1, type = 'AIGC') => {
    const claim = await store.claim({ user, type, name: nameOf(id), createdAt, dueAt: 1 })
    if (!claim || !(await store.confirm(claim, { id, createdAt }))) throw new Error('not owned')
  }

  test('the groups of a user are listed oldest first, then by id as code units, of one type or of all', async () => {
    const user = randomUUID()
    for (const [id, createdAt] of [
      ['b', 2],
      ['a', 2],
      ['B', 2],
      ['é', 2],
      ['z', 1],
    ] as const) {
      await addGroup(user, id + user, createdAt)
    }
    await addGroup(user, `face${user}`, 3, 'LivenessFace')
    await addGroup(randomUUID(), randomUUID())
    const ids = async (type?: string) => (await store.groupsOf(user, type)).map((group) => group.id.replace(user, ''))
    expect(await ids('AIGC')).toEqual(['z', 'B', 'a', 'b', 'é'])
    expect(await ids()).toEqual(['z', 'B', 'a', 'b', 'é', 'face'])
    expect(await ids('aigc')).toEqual([])
  })

  test('a group without an owner is not found', async () => {
    expect(await store.group(randomUUID())).toBeUndefined()
  })

  test('the description of a group can be replaced', async () => {
    const [user, id] = [randomUUID(), randomUUID()]
    await addGroup(user, id)
    await store.describeGroup({ id, user: 'ann' }, 'new')
    expect(await store.group(id)).toEqual({
      id,
      user,
      type: 'AIGC',
      name: nameOf(id),
      description: 'new',
      createdAt: 1,
    })
  })

  test('an asset is found in the group in which it was recorded', async () => {
    const [asset, id] = [randomUUID(), randomUUID()]
    expect(await store.groupOfAsset(asset)).toBeUndefined()
    await addGroup(randomUUID(), id)
    await store.recordAsset(asset, id)
    expect(await store.groupOfAsset(asset)).toBe(id)
  })

  test('an asset stays in its first group for as long as that group has an owner', async () => {
    const [asset, first, second] = [randomUUID(), randomUUID(), randomUUID()]
    await addGroup(randomUUID(), first)
    await addGroup(randomUUID(), second)
    await store.recordAsset(asset, first)
    await store.recordAsset(asset, second)
    expect(await store.groupOfAsset(asset)).toBe(first)
    await store.removeGroup({ id: first, user: 'ann' })
    await store.recordAsset(asset, first)
    await store.recordAsset(asset, second)
    expect(await store.groupOfAsset(asset)).toBe(second)
  })

  test('a removed group and its assets have no owner, and its name is free', async () => {
    const [user, id, asset] = [randomUUID(), randomUUID(), randomUUID()]
    await addGroup(user, id)
    await store.recordAsset(asset, id)
    const before = await store.revision()
    await store.removeGroup({ id, user: 'ann' })
    expect(await store.group(id)).toBeUndefined()
    expect(await store.groupOfAsset(asset)).toBeUndefined()
    expect(await store.revision()).toBeGreaterThan(before)
    await addGroup(user, id)
  })

  test('removing a group keeps another user’s claim that names it', async () => {
    const [user, other, id] = [randomUUID(), randomUUID(), randomUUID()]
    await addGroup(user, id)
    await expect(addGroup(other, id)).rejects.toThrow('not owned')
    await store.removeGroup({ id, user: 'ann' })
    expect(await store.openClaims()).toContainEqual(expect.objectContaining({ user: other, group: id }))
  })

  test('a group that only a claim names holds no asset', async () => {
    const [first, second, asset] = [randomUUID(), randomUUID(), randomUUID()]
    await addGroup(randomUUID(), first)
    await expect(addGroup(randomUUID(), first)).rejects.toThrow('not owned')
    await store.removeGroup({ id: first, user: 'ann' })
    await store.recordAsset(asset, first)
    await store.recordAsset(asset, second)
    expect(await store.groupOfAsset(asset)).toBe(second)
  })
})

test('the record of an asset that ends the claim of its slot waits for claims that count (postgres)', async () => {
  const { url, remove } = await migratedDatabase('postgres')
  const store = openStore(url, { deadlineMs: 60_000 })
  const admin = postgres(url, { max: 2 })
  const order: string[] = []
  let recording: Promise<unknown> | undefined
  await admin.begin(async (claiming) => {
    await claiming.unsafe(`insert into slotted_groups (group_id, turn) values ('', 1)`)
    recording = store.recordAsset('asset', 'group', 'slot').then(() => order.push('recorded'))
    await until(async () => {
      const waiting = await admin.unsafe('select 1 from pg_locks where not granted')
      return waiting.length > 0 || order.length > 0
    })
    order.push('counted')
  })
  await recording
  expect(order).toEqual(['counted', 'recorded'])
  await Promise.all([store.close(), admin.end()])
  await remove()
})

import { beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { createToken, hashToken, identifyByToken } from '../../plugins/api-token/index.ts'
import type { Store } from '../../src/store/index.ts'
import { repeatOnDatabases } from '../support/database.ts'
import { VirtualClock } from '../support/virtual-clock.ts'

repeatOnDatabases('the times of the last uses', (tested) => {
  let store: Store
  let other: Store
  beforeAll(async () => {
    store = await tested.open()
    other = await tested.open()
  })

  const addUser = async () => {
    const user = await store.addAdminUser({ name: randomUUID(), createdAt: 1 })
    if (typeof user === 'string') throw new Error(user)
    const token = createToken()
    const added = { hash: hashToken(token), start: 'sk-', scopes: ['text'], createdAt: 1 } as const
    const stored = await store.addUserToken(user.id, added)
    if (typeof stored === 'string') throw new Error(stored)
    return { user: user.id, id: stored.id, token }
  }

  const timesOf = async ({ user, id }: { readonly user: string; readonly id: string }) => [
    (await other.adminUser(user))?.lastActiveAt,
    (await other.adminToken(id))?.lastUsedAt,
  ]

  test('are written together, later, and about once a minute by all processes', async () => {
    const one = await addUser()
    const two = await addUser()
    store.noteUse({ user: one.user, token: one.id, at: 1_000_000 })
    store.noteUse({ user: two.user, at: 1_000_001 })
    expect(await timesOf(one)).toEqual([undefined, undefined])
    await store.flushUses()
    expect(await timesOf(one)).toEqual([1_000_000, 1_000_000])
    expect(await timesOf(two)).toEqual([1_000_001, undefined])
    other.noteUse({ user: one.user, token: one.id, at: 1_050_000 })
    await other.flushUses()
    expect(await timesOf(one)).toEqual([1_000_000, 1_000_000])
    other.noteUse({ user: one.user, token: one.id, at: 1_060_000 })
    await other.flushUses()
    expect(await timesOf(one)).toEqual([1_060_000, 1_060_000])
    expect(await other.listTokens(one.user)).toMatchObject([{ lastUsedAt: 1_060_000 }])
  })

  test('of more tokens than a batch has are all written, also when the store closes', async () => {
    const closing = await tested.open()
    const many = await Promise.all(Array.from({ length: 130 }, addUser))
    for (const { user, id } of many) closing.noteUse({ user, token: id, at: 2_000_000 })
    await closing.close()
    for (const each of many) expect(await timesOf(each)).toEqual([2_000_000, 2_000_000])
  })

  test('of a token are noted once a minute, whatever number of requests it has', async () => {
    const clock = new VirtualClock()
    const { user, id, token } = await addUser()
    const noted: object[] = []
    const counting = { ...store, noteUse: (use: object) => void noted.push(use) }
    const identify = identifyByToken({ store: counting, clock })
    const request = new Request('http://localhost/', { headers: { authorization: `Bearer ${token}` } })
    const wrong = new Request('http://localhost/', { headers: { authorization: 'Bearer sk-wrong' } })
    for (let count = 0; count < 9; count++) expect((await identify(request))?.user).toBe(user)
    expect(await identify(wrong)).toBeUndefined()
    expect(noted).toEqual([{ user, token: id, at: 1_000_000 }])
    await clock.pass(59_999)
    await identify(request)
    expect(noted).toHaveLength(1)
    await clock.pass(1)
    await identify(request)
    await identify(request)
    expect(noted).toEqual([expect.anything(), { user, token: id, at: 1_060_000 }])
  })

  test('of a disabled user or an expired token are not noted', async () => {
    const clock = new VirtualClock()
    const noted: object[] = []
    const identify = identifyByToken({ store: { ...store, noteUse: (use: object) => void noted.push(use) }, clock })
    const { id, token, user } = await addUser()
    await store.changeToken(id, { expiresAt: 999_999 })
    const request = new Request('http://localhost/', { headers: { authorization: `Bearer ${token}` } })
    expect(await identify(request)).toBeUndefined()
    await store.changeUser(user, { disabled: true }, { now: 1 })
    expect(await identify(request)).toBeUndefined()
    expect(noted).toEqual([])
  })
})

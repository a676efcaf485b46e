import { beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { AdminToken, NewAdminToken, PagePlace } from '../../plugins/admin/store.ts'
import type { Store } from '../../src/store/index.ts'
import { eachDatabase } from '../support/database.ts'

eachDatabase('tokens of the admin API', (tested) => {
  let store: Store
  let other: Store
  beforeAll(async () => {
    store = await tested.open()
    other = await tested.open()
  })

  const addUser = async (role: 'user' | 'admin' = 'user') => {
    const added = await store.addAdminUser({ name: randomUUID(), role, createdAt: 1 })
    if (typeof added === 'string') throw new Error(added)
    return added
  }

  const add = async (user: string, more: Partial<NewAdminToken> = {}): Promise<AdminToken & { hash: string }> => {
    const hash = randomUUID()
    const token: NewAdminToken = { hash, start: 'sk-abcdef', scopes: ['text', 'read'], createdAt: 5, ...more }
    const added = await store.addUserToken(user, token)
    if (typeof added === 'string') throw new Error(added)
    return { ...added, hash }
  }

  test('have what was given, and their owner has it too', async () => {
    const { id: user, name: userName } = await addUser('admin')
    const given = { label: 'ci', models: ['seed-*', 'm'], limits: '[]', expiresAt: 900 }
    const { hash, ...token } = await add(user, { ...given, scopes: ['admin', 'provision'] })
    const start = { start: 'sk-abcdef', createdAt: 5 }
    expect(await other.adminToken(token.id)).toEqual({
      ...{ id: token.id, user, userName, ...start, ...given, scopes: ['admin', 'provision'] },
    })
    expect(await other.ownerOf(hash)).toEqual({
      ...{ user, token: token.id, role: 'admin', scopes: ['admin', 'provision'], models: given.models, expiresAt: 900 },
    })
    expect(await store.addUserToken(randomUUID(), { hash: 'x', scopes: [], ...start })).toBe('unknown')
    expect(await store.adminToken(randomUUID())).toBeUndefined()
  })

  test('are listed page by page', async () => {
    const { id: user } = await addUser()
    const ids: string[] = []
    for (let index = 0; index < 9; index++) ids.push((await add(user, { createdAt: 5 + (index >> 2) })).id)
    await add((await addUser()).id)
    for (const limit of [1, 4, 8, 9, 10]) {
      const found: AdminToken[] = []
      let after: PagePlace | undefined
      do {
        const page: Awaited<ReturnType<Store['listUserTokens']>> = await other.listUserTokens(user, { limit, after })
        found.push(...page.items)
        after = page.next
      } while (after)
      expect(found.map(({ id }) => id).sort()).toEqual(ids.toSorted())
      expect(found.map(({ createdAt }) => createdAt)).toEqual([5, 5, 5, 5, 6, 6, 6, 6, 7])
    }
  })

  test('a change keeps what it does not name, null takes a value away, and all processes learn of it', async () => {
    const { id: user } = await addUser()
    const { hash, ...token } = await add(user, { label: 'a', models: ['m'], limits: '[]', expiresAt: 900 })
    const before = await store.revision()
    expect(await other.changeToken(token.id, { scopes: ['video'] })).toBe('changed')
    expect(await store.revision(before)).toMatchObject({ changes: [{ kind: 'token', key: hash }] })
    expect(await store.adminToken(token.id)).toEqual({ ...token, scopes: ['video'] })
    const nothing = { label: null, models: null, limits: null, expiresAt: null }
    expect(await other.changeToken(token.id, nothing)).toBe('changed')
    const { label: _, models: __, limits: ___, expiresAt: ____, ...rest } = token
    expect(await store.adminToken(token.id)).toEqual({ ...rest, scopes: ['video'] })
    expect(await store.ownerOf(hash)).toEqual({ user, token: token.id, role: 'user', scopes: ['video'] })
    expect(await other.changeToken(randomUUID(), nothing)).toBe('unknown')
  })

  test('keep their id with a new secret, and the old one works until the end of the overlap', async () => {
    const { id: user } = await addUser()
    const { hash, id } = await add(user)
    const second = randomUUID()
    expect(await other.rotateToken(id, { hash: second, start: 'sk-second', now: 10, oldUntil: 60 })).toBe('changed')
    expect(await store.ownerOf(second)).toEqual({ user, token: id, role: 'user', scopes: ['text', 'read'] })
    expect(await store.ownerOf(hash)).toMatchObject({ user, token: id, expiresAt: 60 })
    expect(await store.adminToken(id)).toMatchObject({ start: 'sk-second', oldUntil: 60 })
    await other.changeToken(id, { expiresAt: 40 })
    expect((await store.ownerOf(hash))?.expiresAt).toBe(40)
    expect((await store.ownerOf(second))?.expiresAt).toBe(40)
    await other.changeToken(id, { expiresAt: 80 })
    expect((await store.ownerOf(hash))?.expiresAt).toBe(60)
    const [third, before] = [randomUUID(), await store.revision()]
    expect(await other.rotateToken(id, { hash: third, start: 'sk-third', now: 20, oldUntil: 20 })).toBe('changed')
    const { changes } = (await store.revision(before)) as Exclude<Awaited<ReturnType<Store['revision']>>, number>
    expect(changes?.map(({ key }) => key).sort()).toEqual([hash, second, third].sort())
    for (const ended of [hash, second]) expect(await store.ownerOf(ended)).toBeUndefined()
    expect((await store.ownerOf(third))?.token).toBe(id)
    expect((await store.adminToken(id))?.oldUntil).toBeUndefined()
  })

  test('that are revoked or of a disabled user have no owner by either secret, and change no more', async () => {
    const user = await addUser()
    const { hash, id } = await add(user.id)
    const second = randomUUID()
    await store.rotateToken(id, { hash: second, start: 'sk-', now: 10, oldUntil: 60 })
    await other.changeUser(user.id, { disabled: true }, { now: 1 })
    for (const each of [hash, second]) expect(await store.ownerOf(each)).toBeUndefined()
    await other.changeUser(user.id, { disabled: false }, { now: 1 })
    for (const each of [hash, second]) expect(await store.ownerOf(each)).toBeDefined()
    const before = await store.revision()
    expect(await other.revokeUserToken(id, 30)).toBe('changed')
    const { changes } = (await store.revision(before)) as Exclude<Awaited<ReturnType<Store['revision']>>, number>
    expect(changes?.map(({ key }) => key).sort()).toEqual([hash, second].sort())
    for (const each of [hash, second]) expect(await store.ownerOf(each)).toBeUndefined()
    expect(await other.revokeUserToken(id, 31)).toBe('unknown')
    expect(await other.changeToken(id, { label: 'x' })).toBe('unknown')
    expect(await other.rotateToken(id, { hash: randomUUID(), start: 'sk-', now: 40, oldUntil: 60 })).toBe('unknown')
    expect(await store.adminToken(id)).toMatchObject({ revokedAt: 30, scopes: ['text', 'read'] })
  })

  test('a user who revokes an own token ends both secrets', async () => {
    const { id: user } = await addUser()
    const { hash, id } = await add(user)
    const second = randomUUID()
    await store.rotateToken(id, { hash: second, start: 'sk-', now: 10, oldUntil: 60 })
    const before = await store.revision()
    expect(await other.revokeToken(id, 20, user)).toBe(20)
    const { changes } = (await store.revision(before)) as Exclude<Awaited<ReturnType<Store['revision']>>, number>
    expect(changes?.map(({ key }) => key).sort()).toEqual([hash, second].sort())
    for (const each of [hash, second]) expect(await store.ownerOf(each)).toBeUndefined()
  })

  test('of admins, and with scopes beyond the permitted ones, are not changed by who may not', async () => {
    const [admin, user] = [await addUser('admin'), await addUser()]
    const adminToken = await add(admin.id)
    const strong = await add(user.id, { scopes: ['text', 'admin'] })
    const rotation = { hash: randomUUID(), start: 'sk-', now: 10, oldUntil: 60 }
    const ifRole = 'user'
    const ifScopes = ['media', 'text', 'video', 'read'] as const
    const change = { label: 'x' }
    for (const [id, outcome] of [
      [adminToken.id, 'other-role'],
      [strong.id, 'other-scopes'],
    ] as const) {
      expect(await store.changeToken(id, change, { ifRole, ifScopes })).toBe(outcome)
      expect(await store.rotateToken(id, rotation, { ifRole, ifScopes })).toBe(outcome)
      expect(await store.revokeUserToken(id, 5, { ifRole, ifScopes })).toBe(outcome)
    }
    expect(await store.adminToken(adminToken.id)).toEqual(without(adminToken))
    expect(await store.adminToken(strong.id)).toEqual(without(strong))
    const { start, scopes, createdAt } = strong
    const given = { hash: randomUUID(), start, scopes, createdAt }
    expect(await store.addUserToken(admin.id, given, { ifRole })).toBe('other-role')
    expect((await store.listUserTokens(admin.id, { limit: 9 })).items).toHaveLength(1)
  })

  const without = ({ hash: _, ...token }: AdminToken & { hash: string }) => token
})

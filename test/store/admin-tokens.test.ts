import { beforeAll, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { AdminToken, NewAdminToken, PageOf, PagePlace, TokenFilter } from '../../plugins/admin/store.ts'
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

  describe('of all users', () => {
    const users: { id: string }[] = []
    const tag = randomUUID()
    /** The labels of the tokens of this test on all pages. */
    const labels = async (filter: Partial<TokenFilter>, limit = 50): Promise<readonly string[]> => {
      const found: string[] = []
      let after: PagePlace | undefined
      do {
        const page: PageOf<AdminToken> = await other.listAdminTokens({ now: 1_000, ...filter }, { limit, after })
        expect(page.items.length).toBeLessThanOrEqual(limit)
        for (const { user, label = '' } of page.items) if (users.some(({ id }) => id === user)) found.push(label)
        after = page.next
      } while (after)
      return found.map((label) => label.replace(tag, '').trim())
    }

    beforeAll(async () => {
      users.push(await addUser(), await addUser('admin'))
      const [ann, bob] = users.map(({ id }) => id) as [string, string]
      await add(ann, { label: `${tag} CI Über`, createdAt: 1 })
      await add(bob, { label: `${tag} 100%_off`, createdAt: 2, expiresAt: 1_000 })
      await add(ann, { label: `${tag} later`, createdAt: 2, expiresAt: 1_001, start: 'sk-Zq9x_1' })
      const revoked = await add(bob, { label: `${tag} gone`, createdAt: 3, expiresAt: 900 })
      await store.revokeUserToken(revoked.id, 500)
      await add(ann, { createdAt: 4 })
    })

    test.each([1, 2, 3, 50])('are listed once each, oldest first, with %d on a page', async (limit) => {
      const found = await labels({}, limit)
      expect([found[0], ...found.slice(1, 3).sort(), ...found.slice(3)]).toEqual([
        ...['CI Über', '100%_off', 'later', 'gone', ''],
      ])
    })

    test('are found by a part of the label or the beginning of the token in any case, by user and by state', async () => {
      const [ann = { id: '' }, bob = { id: '' }] = users
      expect(await labels({ search: 'ÜBER' })).toEqual(['CI Über'])
      expect(await labels({ search: '%_' })).toEqual(['100%_off'])
      expect(await labels({ search: 'SK-zq9x_' })).toEqual(['later'])
      expect(await labels({ search: 'zq9' })).toEqual([])
      expect(await labels({ search: tag })).toHaveLength(4)
      expect(await labels({ user: ann.id })).toEqual(['CI Über', 'later', ''])
      expect(await labels({ user: bob.id, state: 'expired' })).toEqual(['100%_off'])
      expect(await labels({ state: 'revoked' })).toEqual(['gone'])
      expect(await labels({ state: 'expired' })).toEqual(['100%_off'])
      expect((await labels({ state: 'valid' })).toSorted()).toEqual(['', 'CI Über', 'later'])
      expect(await labels({ state: 'valid', now: 1_001 })).not.toContain('later')
    })

    test('are found by their last use', async () => {
      const [token] = (await store.listAdminTokens({ search: `${tag} ci`, now: 1 }, { limit: 1 })).items
      store.noteUse({ user: token?.user ?? '', token: token?.id ?? '', at: 100_700 })
      await store.flushUses()
      expect(await labels({ usedSince: 100_700 })).toEqual(['CI Über'])
      expect(await labels({ usedSince: 100_701 })).toEqual([])
      expect(await labels({ unusedSince: 100_700 })).not.toContain('CI Über')
      expect(await labels({ unusedSince: 100_701 })).toHaveLength(5)
    })

    test('are found by a changed label, and by none that was taken away', async () => {
      const token = await add(users[0]?.id ?? '', { label: `${tag} old` })
      await store.changeToken(token.id, { label: `${tag} NEW` })
      expect([await labels({ search: `${tag} old` }), await labels({ search: `${tag} new` })]).toEqual([[], ['NEW']])
      await store.changeToken(token.id, { scopes: ['read'] })
      expect(await labels({ search: `${tag} new` })).toEqual(['NEW'])
      await store.changeToken(token.id, { label: null })
      expect(await labels({ search: `${tag} new` })).toEqual([])
    })

    test('which users have made themselves are found, too', async () => {
      const [ann = { id: '' }] = users
      await store.addToken({
        ...{ user: ann.id, hash: randomUUID(), start: 'sk-own' },
        label: `${tag} Own`,
        createdAt: 9,
      })
      expect(await labels({ search: `${tag} own` })).toEqual(['Own'])
    })
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

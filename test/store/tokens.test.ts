import { beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { Store } from '../../src/store/index.ts'
import { eachDatabase } from '../support/database.ts'

const defaults = { role: 'user', scopes: ['media', 'text', 'video'] } as const

eachDatabase('tokens', (database) => {
  let store: Store
  let other: Store
  beforeAll(async () => {
    store = await database.open()
    other = await database.open()
  })

  const userWithToken = async (more: { label?: string; expiresAt?: number } = {}) => {
    const [name, hash] = [randomUUID(), randomUUID()]
    const user = (await store.addUser({ name, createdAt: 1 })) ?? ''
    const token = await store.addToken({ user, hash, start: 'sk-abcdef', createdAt: 2, ...more })
    return { name, user, hash, token }
  }

  test('the owner of a token is found by its hash', async () => {
    const { user, token, hash } = await userWithToken()
    expect(await other.ownerOf(hash)).toEqual({ user, token, ...defaults })
    expect(await store.ownerOf(randomUUID())).toBeUndefined()
  })

  test('a token has its expiry time', async () => {
    const { user, token, hash } = await userWithToken({ expiresAt: 1_790_000_000_123 })
    expect(await store.ownerOf(hash)).toEqual({ user, token, expiresAt: 1_790_000_000_123, ...defaults })
  })

  test('a revoked token has no owner, and the revision rises', async () => {
    const { token, hash } = await userWithToken()
    const before = await other.revision()
    expect(await store.revokeToken(token, 5)).toBe(5)
    expect(await other.ownerOf(hash)).toBeUndefined()
    expect(await other.revision()).toBeGreaterThan(before)
    expect(await store.revokeToken(token, 9)).toBe(5)
    expect((await store.listTokens()).find((each) => each.id === token)?.revokedAt).toBe(5)
    expect(await store.revokeToken(randomUUID(), 9)).toBeUndefined()
  })

  test('a user cannot revoke the token of another user', async () => {
    const mine = await userWithToken()
    const foreign = await userWithToken()
    expect(await store.revokeToken(foreign.token, 5, mine.user)).toBeUndefined()
    expect(await store.ownerOf(foreign.hash)).toBeDefined()
    expect(await store.revokeToken(mine.token, 5, mine.user)).toBe(5)
  })

  test('a user rotates a valid token of their own, with none but the given scopes, and the revision names its secrets', async () => {
    const mine = await userWithToken({ expiresAt: 900 })
    const foreign = await userWithToken()
    const hash = randomUUID()
    const secret = { hash, start: 'sk-second', now: 10, oldUntil: 60 }
    const scopes = ['media', 'text', 'video'] as const
    expect(await other.rotateOwnToken(foreign.token, secret, mine.user, scopes)).toBe('unknown')
    expect(await other.rotateOwnToken(mine.token, secret, mine.user, ['media'])).toBe('other-scopes')
    expect(await other.rotateOwnToken(mine.token, { ...secret, now: 900 }, mine.user, scopes)).toBe('unknown')
    expect(await store.ownerOf(hash)).toBeUndefined()
    const before = await store.revision()
    expect(await other.rotateOwnToken(mine.token, secret, mine.user, scopes)).toBe('changed')
    const { changes } = (await store.revision(before)) as Exclude<Awaited<ReturnType<Store['revision']>>, number>
    expect(changes?.map(({ key }) => key).sort()).toEqual([hash, mine.hash].sort())
    expect(await store.ownerOf(hash)).toMatchObject({ token: mine.token, expiresAt: 900 })
    expect(await store.ownerOf(mine.hash)).toMatchObject({ token: mine.token, expiresAt: 60 })
    expect(await store.listTokens(mine.user)).toMatchObject([{ id: mine.token, start: 'sk-second', oldUntil: 60 }])
    await store.revokeToken(mine.token, 11)
    expect(await other.rotateOwnToken(mine.token, { ...secret, hash: randomUUID() }, mine.user, scopes)).toBe('unknown')
  })

  test('the tokens of a disabled user have no owner until the user is enabled, and both raise the revision', async () => {
    const { name, hash } = await userWithToken()
    const before = await store.revision()
    expect(await store.disableUser(name, 5)).toBe(true)
    expect(await other.ownerOf(hash)).toBeUndefined()
    const between = await store.revision()
    expect(between).toBeGreaterThan(before)
    expect(await store.enableUser(name)).toBe(true)
    expect(await other.ownerOf(hash)).toBeDefined()
    expect(await store.revision()).toBeGreaterThan(between)
  })

  test('tokens of one user or of all are listed with their users, without their hashes', async () => {
    const { name, user, token } = await userWithToken({ label: 'ci' })
    const second = await userWithToken()
    expect(await store.listTokens(user)).toEqual([
      {
        id: token,
        user,
        userName: name,
        start: 'sk-abcdef',
        label: 'ci',
        createdAt: 2,
        scopes: ['media', 'text', 'video'],
      },
    ])
    const all = (await store.listTokens()).map((each) => each.id)
    expect(all).toContain(token)
    expect(all).toContain(second.token)
  })
})

import { beforeAll, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { isUserId } from '../../plugins/shared/identity/identify.ts'
import type { Revision } from '../../plugins/shared/identity/revision-clock.ts'
import type { Scope } from '../../plugins/shared/identity/scopes.ts'
import { databaseKinds } from '../../src/store/database/kinds.ts'
import { sql } from '../../src/store/database/statement.ts'
import type { Store } from '../../src/store/index.ts'
import { eachDatabase } from '../support/database.ts'

const scopes: readonly Scope[] = ['media', 'text', 'video']

eachDatabase('users of a host app', (tested) => {
  let store: Store
  let other: Store
  beforeAll(async () => {
    store = await tested.open()
    other = await tested.open()
  })

  const addToken = async (user: string) => {
    const hash = randomUUID()
    return { hash, id: await store.addToken({ user, hash, start: 'sk-abcdef', createdAt: 2 }, 100) }
  }

  const session = (user: string, name = 'Ann of the host') => {
    const times = { createdAt: 1_000, idleUntil: 5_000, endsAt: 9_000 }
    return { hash: randomUUID(), id: randomUUID(), user, name, password: 'p', ...times }
  }

  const addSession = async (user: string) => {
    const added = session(user)
    expect(await store.addSession(added)).toBe(true)
    return added
  }

  const addUser = async () => {
    const name = randomUUID()
    return { name, id: (await store.addUser({ name, password: 'p', createdAt: 1 })) ?? '' }
  }

  test('have tokens, which are listed with the id for a name, and revoked', async () => {
    const user = `host|${randomUUID()}`
    const { hash, id } = await addToken(user)
    expect(await other.ownerOf(hash)).toEqual({ user, token: id ?? '', scopes })
    const listed = { id: id ?? '', user, userName: user, start: 'sk-abcdef', createdAt: 2, scopes }
    expect(await store.listTokens(user)).toEqual([listed])
    expect(await store.listTokens(user, 2)).toEqual([listed])
    expect(await store.listTokens()).toContainEqual(listed)
    expect(await store.revokeToken(id ?? '', 5, user)).toBe(5)
    expect(await other.ownerOf(hash)).toBeUndefined()
  })

  test('have groups, shares and keys also with the longest ids', async () => {
    // Without repetition, which PostgreSQL would compress.
    const letters = Array.from({ length: 341 }, (_, index) => String.fromCodePoint(0x4e00 + ((index * 7_919) % 20_000)))
    const [user, borrower] = [letters.join(''), letters.toReversed().join('')]
    expect([user, borrower].map(isUserId)).toEqual([true, true])
    const name = letters.slice(0, 64).join('')
    const group = { id: letters.slice(0, 85).join(''), user, type: 'AIGC', name, createdAt: 1 }
    expect(await store.adoptGroup(group)).toBeUndefined()
    expect((await store.groupsOf(user)).map(({ id }) => id)).toEqual([group.id])
    const share = { group, borrower: { user: borrower }, access: 'use', now: 2, isKnown: true } as const
    expect(await store.lendGroup(share)).toMatchObject({ user: borrower })
    const key = { user, route: 'createAssetGroup', key: 'k'.repeat(255), fingerprint: 'f', holder: randomUUID() }
    expect(await store.idempotency.claim({ ...key, now: 1, leaseUntil: 2, expiresAt: 3 }, 1)).toEqual({
      state: 'claimed',
    })
  })

  test('have sessions with the name that they had at the login', async () => {
    const user = randomUUID()
    const { hash, id } = await addSession(user)
    expect(await other.session(hash)).toEqual({ id, user, name: 'Ann of the host', idleUntil: 5_000, endsAt: 9_000 })
    await other.endSessions(user)
    expect(await store.session(hash)).toBeUndefined()
  })

  describe('that are disabled by their id', () => {
    test('lose tokens and sessions, and only the tokens return', async () => {
      const [user, stranger] = [randomUUID(), randomUUID()]
      const [token, foreign, ended] = [await addToken(user), await addToken(stranger), await addSession(user)]
      const kept = await addSession(stranger)
      expect(await store.disableHostUser(user, 5)).toBe(true)
      expect(await store.disableHostUser(user, 6)).toBe(true)
      expect(await other.ownerOf(token.hash)).toBeUndefined()
      expect(await other.session(ended.hash)).toBeUndefined()
      expect(await other.ownerOf(foreign.hash)).toBeDefined()
      expect(await other.session(kept.hash)).toBeDefined()
      expect(await store.enableHostUser(user)).toBe(true)
      expect(await store.enableHostUser(user)).toBe(false)
      expect(await other.ownerOf(token.hash)).toBeDefined()
      expect(await other.session(ended.hash)).toBeUndefined()
    })

    test('get no session, and tokens that do not work', async () => {
      const user = randomUUID()
      await store.disableHostUser(user, 5)
      const token = await addToken(user)
      expect(await store.addSession(session(user))).toBe(false)
      expect(await other.ownerOf(token.hash)).toBeUndefined()
      await store.enableHostUser(user)
      expect(await other.ownerOf(token.hash)).toBeDefined()
    })

    test('raise the revision each time, with their tokens as what has changed', async () => {
      const user = randomUUID()
      const { hash } = await addToken(user)
      for (const change of [() => store.disableHostUser(user, 5), () => store.enableHostUser(user)]) {
        const before = await other.revision()
        await change()
        const { value, changes } = (await other.revision(before)) as Revision
        expect(value).toBe(before + 1)
        expect(changes).toContainEqual(expect.objectContaining({ kind: 'token', key: hash }))
      }
    })
  })

  describe('are told from users of the store', () => {
    test('who cannot be disabled like them', async () => {
      const { id } = await addUser()
      const [{ hash }, begun] = [await addToken(id), await addSession(id)]
      expect(await store.disableHostUser(id, 5)).toBe(false)
      expect(await other.ownerOf(hash)).toBeDefined()
      expect(await other.session(begun.hash)).toBeDefined()
    })

    test('whose tokens and sessions end when they are disabled', async () => {
      const { id, name } = await addUser()
      const [{ hash }, begun] = [await addToken(id), await addSession(id)]
      expect((await other.session(begun.hash))?.name).toBe(name)
      await store.disableUser(name, 5)
      expect(await other.ownerOf(hash)).toBeUndefined()
      expect(await other.session(begun.hash)).toBeUndefined()
      expect(await store.addSession(session(id))).toBe(false)
    })

    test('whose tokens and sessions end when someone deletes their row', async () => {
      const { id } = await addUser()
      const [{ hash }, begun] = [await addToken(id), await addSession(id)]
      const database = databaseKinds[tested.kind].open(tested.url, { deadlineMs: 60_000 })
      await database.query(sql`
        delete from users
        where id = ${id}`)
      await database.close()
      expect(await other.ownerOf(hash)).toBeUndefined()
      expect(await other.session(begun.hash)).toBeUndefined()
    })
  })
})

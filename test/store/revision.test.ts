import { beforeAll, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { createToken, hashToken, identifyByToken, RevisionClock } from '../../plugins/api-token/index.ts'
import type { Store } from '../../src/store/index.ts'
import { repeatOnDatabases } from '../support/database.ts'

repeatOnDatabases('a revision contains', (database) => {
  let store: Store
  let other: Store
  beforeAll(async () => {
    store = await database.open()
    other = await database.open()
  })

  const newUser = async () => {
    const name = randomUUID()
    return { name, id: (await store.addUser({ name, createdAt: 1 })) ?? '' }
  }
  const newToken = async (user: string) => {
    const token = createToken()
    const hash = hashToken(token)
    return { token, hash, id: (await store.addToken({ user, hash, start: 'sk-', createdAt: 2 })) ?? '' }
  }
  /** The changes that another process reads after `work`. */
  const changesOf = async (work: () => Promise<unknown>) => {
    const before = await other.revision()
    await work()
    return other.revision(before)
  }
  const keysOf = (read: Awaited<ReturnType<typeof changesOf>>, kind: string) =>
    typeof read === 'number' ? undefined : read.changes?.filter((change) => change.kind === kind).map(({ key }) => key)

  test('a revoked token, by its hash', async () => {
    const { id: user } = await newUser()
    const { hash, id } = await newToken(user)
    expect(keysOf(await changesOf(() => store.revokeToken(id, 5)), 'token')).toEqual([hash])
  })

  test('an added token, by its hash; not a token that exceeds the maximum', async () => {
    const { id: user } = await newUser()
    const token = { user, start: 'sk-', createdAt: 2 }
    expect(keysOf(await changesOf(() => store.addToken({ ...token, hash: 'first' }, 1)), 'token')).toEqual(['first'])
    const before = await other.revision()
    expect(await store.addToken({ ...token, hash: 'second' }, 1)).toBeUndefined()
    expect(await other.revision()).toBe(before)
  })

  test('no change for a token that does not exist, belongs to another user, or is revoked already', async () => {
    const { id: user } = await newUser()
    const { id } = await newToken(user)
    await store.revokeToken(id, 5)
    const mine = await newToken(user)
    const before = await other.revision()
    await store.revokeToken(randomUUID(), 6)
    await store.revokeToken(id, 7)
    await store.revokeToken(mine.id, 8, 'another user')
    expect(await other.revision()).toBe(before)
  })

  test('all tokens of a disabled user, and no others', async () => {
    const { id: user, name } = await newUser()
    const hashes = [(await newToken(user)).hash, (await newToken(user)).hash]
    await newToken((await newUser()).id)
    const read = await changesOf(() => store.disableUser(name, 5))
    expect(keysOf(read, 'token')?.toSorted()).toEqual(hashes.toSorted())
  })

  test('a token that was added while its user was being disabled, if a process may have cached it as valid', async () => {
    for (let round = 0; round < 60; round++) {
      const { id: user, name } = await newUser()
      const before = await other.revision()
      const late = Bun.sleep(round % 4).then(async () => {
        const { hash } = await newToken(user)
        return { hash, works: (await other.ownerOf(hash)) !== undefined }
      })
      await store.disableUser(name, 5)
      const { hash, works } = await late
      // Once because it was added, and once more for a process that has cached it as valid in between.
      const named = keysOf(await other.revision(before), 'token')?.filter((key) => key === hash)
      if (works) expect(named).toHaveLength(2)
    }
  }, 300_000)

  test('a group that was removed, described or adopted', async () => {
    const [id, user] = [randomUUID(), randomUUID()]
    const wanted = { id, user, type: 'AIGC', name: id, createdAt: 1 }
    for (const change of [
      () => store.adoptGroup(wanted),
      () => store.describeGroup({ id, user }, 'words'),
      () => store.removeGroup({ id, user }),
    ]) {
      const read = await changesOf(change)
      expect([keysOf(read, 'group'), keysOf(read, 'groups')]).toEqual([[id], [user]])
    }
  })

  test('the user whose list of groups has changed: a group was created, or found after a lost response', async () => {
    const [user, createdAt] = [randomUUID(), 1]
    for (const end of ['confirm', 'adopt'] as const) {
      const claim = await store.claim({ user, type: 'AIGC', name: end, createdAt, dueAt: 2 })
      const read = await changesOf(async () => claim && store[end](claim, { id: randomUUID(), createdAt }))
      expect([keysOf(read, 'group'), keysOf(read, 'groups')]).toEqual([[], [user]])
    }
  })

  test('a group that was renamed', async () => {
    const [id, user] = [randomUUID(), randomUUID()]
    await store.adoptGroup({ id, user, type: 'AIGC', name: id, createdAt: 1 })
    const wanted = { user, type: 'AIGC', name: `${id} anew`, renames: id, createdAt: 1, dueAt: 2 }
    const read = await changesOf(async () => {
      const claim = await store.claim(wanted)
      if (claim) expect(await store.confirm(claim, { id, createdAt: 1 })).toBe(true)
    })
    expect([keysOf(read, 'group'), keysOf(read, 'groups')]).toEqual([[id], [user]])
  })

  test('several concurrent changes, each in its revision', async () => {
    const { id: user } = await newUser()
    const made = await Promise.all(Array.from({ length: 20 }, () => newToken(user)))
    const read = await changesOf(() =>
      Promise.all(made.map(({ id }, nth) => (nth % 2 ? store : other).revokeToken(id, 5))),
    )
    expect(keysOf(read, 'token')?.toSorted()).toEqual(made.map(({ hash }) => hash).toSorted())
  })

  test('no list of changes when some of them were swept', async () => {
    const now = await store.revision()
    expect(await store.revision(now)).toEqual({ value: now, changes: [] })
    expect(await store.revision(now - 100_000)).toEqual({ value: now })
    expect(await store.revision(now + 7)).toEqual({ value: now })
  })

  test('a bounded number of changes: a process that is further behind gets no list', async () => {
    const [id, user] = [randomUUID(), randomUUID()]
    const before = await other.revision()
    for (let nth = 0; nth < 1_100; nth++) await store.describeGroup({ id, user }, 'words')
    expect(await other.revision(before)).toEqual({ value: before + 1_100 })
    expect(keysOf(await other.revision(before + 200), 'group')).toHaveLength(900)
  }, 300_000)

  describe('one revocation', () => {
    test('causes no query for any other token, in any process', async () => {
      let now = 0
      let queries = 0
      const counting = {
        revision: other.revision,
        ownerOf: (hash: string) => {
          queries++
          return other.ownerOf(hash)
        },
      }
      const revisionClock = new RevisionClock((since) => counting.revision(since), { clock: { now: () => now } })
      const identify = identifyByToken({ store: counting, revisionClock: revisionClock })
      const { id: user } = await newUser()
      const made = await Promise.all(Array.from({ length: 200 }, () => newToken(user)))
      const all = async () => {
        const found = []
        for (const { token } of made) {
          const headers = { authorization: `Bearer ${token}` }
          found.push((await identify(new Request('http://localhost/', { headers })))?.token)
        }
        return found
      }
      await all()
      expect(queries).toBe(200)
      await store.revokeToken(made[0]?.id ?? '', 5)
      now += 1_000
      expect(await all()).toEqual([undefined, ...made.slice(1).map(({ id }) => id)])
      expect(queries).toBe(201)
    })
  })
})

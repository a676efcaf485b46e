import { beforeAll, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { Attempt, Counter } from '../../plugins/web-session/index.ts'
import type { Database } from '../../src/store/database/database.ts'
import { openPostgres } from '../../src/store/database/postgres.ts'
import { openSqlite } from '../../src/store/database/sqlite.ts'
import { sql } from '../../src/store/database/statement.ts'
import { repeatOnDatabases, type TestDatabase } from '../support/database.ts'
import { makeTables, openFixture, storeOn } from '../web-session/fixture.ts'

const opened: Database[] = []
const open = ({ kind, url }: TestDatabase): Database => {
  const database =
    kind === 'sqlite' ? openSqlite(url.slice('sqlite:'.length)) : openPostgres(url, { deadlineMs: 60_000 })
  opened.push(database)
  return database
}

const counter = (more: Partial<Counter> = {}): Counter => ({
  key: randomUUID(),
  free: 5,
  forgetMs: 100_000,
  firstMs: 1_000,
  maxMs: 10_000,
  ...more,
})

const attempt = (now: number, ...counters: [Counter, ...Counter[]]): Attempt => ({ id: randomUUID(), counters, now })

repeatOnDatabases('sessions and login attempts', (tested) => {
  let store: ReturnType<typeof storeOn>
  let other: typeof store
  let database: Database
  beforeAll(async () => {
    database = open(tested)
    await makeTables(database)
    store = storeOn(database)
    other = storeOn(open(tested))
    return async () => Promise.all(opened.splice(0).map((each) => each.close()))
  }, 300_000)

  const userWithSession = async (more: { idleUntil?: number; createdAt?: number } = {}, ended?: readonly string[]) => {
    const [name, hash] = [randomUUID(), randomUUID()]
    const user = (await store.addUser({ name, password: 'p', createdAt: 1 })) ?? ''
    const times = { createdAt: 1_000, idleUntil: 5_000, endsAt: 9_000, ...more }
    const session = { hash, id: randomUUID(), user, name, password: 'p', ...times }
    await store.addSession(session, ended)
    return { name, user, hash, session }
  }

  describe('a session', () => {
    test('is found by its hash, with its user and times', async () => {
      const { name, user, hash, session } = await userWithSession({ idleUntil: 1_790_000_000_123 })
      expect(await other.session(hash)).toEqual({
        ...{ id: session.id, user, name, role: 'user' },
        ...{ idleUntil: 1_790_000_000_123, endsAt: 9_000 },
      })
      expect(await other.session(randomUUID())).toBeUndefined()
    })

    test('can be ended without ending others', async () => {
      const [one, two] = [await userWithSession(), await userWithSession()]
      await other.endSession(one.hash)
      await other.endSession(one.hash)
      expect(await store.session(one.hash)).toBeUndefined()
      expect(await store.session(two.hash)).toBeDefined()
    })

    test('ends the given sessions when it begins, and none when it cannot begin', async () => {
      const [one, two, three] = [await userWithSession(), await userWithSession(), await userWithSession()]
      const disabled = await userWithSession()
      await store.disableUser(disabled.name, 1)
      const nobodys = { ...disabled.session, hash: randomUUID(), id: randomUUID() }
      expect(await store.addSession(nobodys, [one.hash])).toBe(false)
      expect(await store.session(nobodys.hash)).toBeUndefined()
      expect(await store.session(one.hash)).toBeDefined()
      await userWithSession({}, [one.hash, two.hash])
      expect(await store.session(one.hash)).toBeUndefined()
      expect(await store.session(two.hash)).toBeUndefined()
      expect(await store.session(three.hash)).toBeDefined()
    })

    test('can be prolonged, and is never shortened', async () => {
      const { hash } = await userWithSession()
      await other.touchSession(hash, 6_000)
      await other.touchSession(hash, 5_500)
      expect((await store.session(hash))?.idleUntil).toBe(6_000)
      await other.touchSession(randomUUID(), 6_000)
    })

    test('cannot begin while its user is disabled, and does not exist after the user is enabled', async () => {
      const { name, session } = await userWithSession()
      const late = { ...session, hash: randomUUID(), id: randomUUID() }
      await store.disableUser(name, 1)
      expect(await store.addSession(late)).toBe(false)
      await store.enableUser(name)
      expect(await store.session(late.hash)).toBeUndefined()
      expect(await store.addSession(late)).toBe(true)
    })

    test('is not found while its user is disabled', async () => {
      const { name, hash } = await userWithSession()
      await other.disableUser(name, 5)
      expect(await store.session(hash)).toBeUndefined()
    })

    test('is not found when the user’s password was changed or removed', async () => {
      const { name, hash } = await userWithSession()
      const again = await userWithSession()
      await other.setPassword(name, 'q')
      expect(await store.session(hash)).toBeUndefined()
      await database.query(sql`
        update users
        set password = null
        where name = ${again.name}`)
      expect(await store.session(again.hash)).toBeUndefined()
    })

    test('keeps no copy of the password’s hash', async () => {
      const password = randomUUID()
      const { session } = await userWithSession()
      await store.addSession({ ...session, hash: randomUUID(), id: randomUUID(), password })
      expect(JSON.stringify(await database.query(sql`select * from sessions`))).not.toContain(password)
    })

    test('ends with all other sessions of its user, and no others', async () => {
      const [one, two] = [await userWithSession(), await userWithSession()]
      const second = randomUUID()
      await store.addSession({ ...one.session, hash: second, id: randomUUID() })
      await other.endSessionsOf(one.user)
      expect(await store.session(one.hash)).toBeUndefined()
      expect(await store.session(second)).toBeUndefined()
      expect(await store.session(two.hash)).toBeDefined()
    })

    test('that has expired is deleted when another begins', async () => {
      const old = await userWithSession({ createdAt: 100, idleUntil: 200 })
      const young = await userWithSession({ createdAt: 100, idleUntil: 1_001 })
      await userWithSession({ createdAt: 1_000 })
      expect(await store.session(old.hash)).toBeUndefined()
      expect(await store.session(young.hash)).toBeDefined()
    })
  })

  describe('login attempts', () => {
    /** The results of `count` attempts in sequence. */
    const take = async (count: number, now: number, ...counters: [Counter, ...Counter[]]) => {
      const outcomes: (number | undefined)[] = []
      for (let nth = 0; nth < count; nth++) outcomes.push(await store.takeAttempt(attempt(now, ...counters)))
      return outcomes
    }

    test('are free at first; then each delay is twice as long, up to a maximum', async () => {
      const one = counter({ free: 3 })
      expect(await take(4, 10, one)).toEqual([undefined, undefined, undefined, 1_010])
      let now = 1_010
      const waits: number[] = []
      for (let round = 0; round < 6; round++) {
        expect(await take(1, now, one)).toEqual([undefined])
        const [until = 0] = await take(1, now, one)
        waits.push(until - now)
        expect(await take(1, until - 1, one)).toEqual([until])
        now = until
      }
      expect(waits).toEqual([2_000, 4_000, 8_000, 10_000, 10_000, 10_000])
    })

    test('without a free one are delayed from the first on, with the largest times too', async () => {
      const now = 1_800_000_000_000
      expect(await take(2, now, counter({ free: 1 }))).toEqual([undefined, now + 1_000])
    })

    test('are counted from zero after the counter has expired', async () => {
      const one = counter({ free: 2, forgetMs: 20_000 })
      await take(2, 10, one)
      expect(await take(3, 20_010, one)).toEqual([undefined, undefined, 21_010])
    })

    test('under two keys are counted under both, or under neither', async () => {
      const [name, otherName, address] = [counter(), counter(), counter({ free: 2 })]
      expect(await take(3, 10, name, address)).toEqual([undefined, undefined, 1_010])
      expect(await take(3, 10, otherName, address)).toEqual([1_010, 1_010, 1_010])
      expect(await take(4, 10, name)).toEqual([undefined, undefined, undefined, 1_010])
      expect(await take(6, 10, otherName)).toEqual([...Array(5).fill(undefined), 1_010])
      const fresh = counter({ free: 2 })
      expect(await take(1, 10, name, fresh)).toEqual([1_010])
      expect(await take(3, 10, fresh)).toEqual([undefined, undefined, 1_010])
    })

    test('under five keys are counted under all of them, or under none, whichever key is blocked', async () => {
      for (const used of [0, 1, 2, 3, 4]) {
        const five = Array.from({ length: 5 }, (_, nth) => counter({ free: nth === used ? 2 : 9 }))
        const [first = counter(), ...others] = five
        expect([used, ...(await take(4, 10, first, ...others))]).toEqual([used, undefined, undefined, 1_010, 1_010])
        for (const [nth, each] of five.entries()) {
          if (nth !== used) expect((await take(8, 10, each)).at(-1)).toBe(1_010)
          if (nth !== used) expect((await take(1, 10, each))[0]).toBe(1_010)
        }
      }
    })

    test('in parallel under five keys stop at the smallest limit, and are not counted under the other keys beyond it', async () => {
      const networks = [40, 40, 40, 7].map((free) => counter({ free }))
      const names = Array.from({ length: 40 }, () => counter())
      const outcomes = await Promise.all(
        names.map((name, nth) => (nth % 2 ? store : other).takeAttempt(attempt(10, name, ...networks))),
      )
      expect(outcomes.filter((until) => until === undefined)).toHaveLength(7)
      const failures = await database.query<{ failures: number }>(sql`
        select failures
        from login_attempts
        where key in (${networks[0]?.key}, ${networks[1]?.key}, ${networks[2]?.key}, ${networks[3]?.key})`)
      expect(failures.map((row) => row.failures)).toEqual([7, 7, 7, 7])
      const counted = await Promise.all(names.map((name) => take(5, 10, name)))
      expect(counted.filter((each) => each.at(-1) !== undefined)).toHaveLength(7)
    })

    test('of a clock that was ahead do not block a counter until that time, and those of clocks that differ a little do', async () => {
      const [one, two] = [counter(), counter()]
      const ahead = 10 + 10 * one.maxMs
      expect((await take(6, ahead, one, two)).at(-1)).toBe(ahead + one.firstMs)
      expect(await take(6, 10, one, two)).toEqual([...Array(5).fill(undefined), 10 + one.firstMs])
      const other = counter()
      await take(5, 10 + one.maxMs, other)
      expect(await take(1, 10, other)).toEqual([10 + one.maxMs + one.firstMs])
    })

    test('in parallel stop at the number of free ones', async () => {
      const one = counter()
      const outcomes = await Promise.all(
        Array.from({ length: 50 }, (_, nth) => (nth % 2 ? store : other).takeAttempt(attempt(10, one))),
      )
      expect(outcomes.filter((until) => until === undefined)).toHaveLength(5)
      expect(new Set(outcomes)).toEqual(new Set([undefined, 1_010]))
    })

    test('in parallel from one address stop at the number of free ones, and the rejected ones are not counted under their names', async () => {
      const address = counter()
      const names = Array.from({ length: 40 }, () => counter({ free: 1 }))
      const outcomes = await Promise.all(
        names.map((name, nth) => (nth % 2 ? store : other).takeAttempt(attempt(10, name, address))),
      )
      expect(outcomes.filter((until) => until === undefined)).toHaveLength(5)
      for (const [nth, name] of names.entries()) {
        const [counted] = await take(1, 10, name)
        expect([nth, counted === undefined]).toEqual([nth, outcomes[nth] !== undefined])
      }
    })

    test('in parallel for one name stop at the number of free ones, and the rejected ones are not counted under their addresses', async () => {
      const [name, address] = [counter({ free: 1 }), counter({ free: 3 })]
      await Promise.all(
        Array.from({ length: 30 }, (_, nth) => (nth % 2 ? store : other).takeAttempt(attempt(10, name, address))),
      )
      expect(await take(3, 10, address)).toEqual([undefined, undefined, 1_010])
    })

    test('that are rejected write nothing', async () => {
      const [name, address] = [counter(), counter({ free: 1 })]
      await take(1, 10, address)
      let batches = 0
      const watched = storeOn({
        ...database,
        batch: (statements) => {
          batches++
          return database.batch(statements)
        },
      })
      expect(await watched.takeAttempt(attempt(10, name, address))).toBe(1_010)
      expect(await watched.takeAttempt(attempt(10, address))).toBe(1_010)
      expect(batches).toBe(0)
    })

    test('are returned with the delay that they caused', async () => {
      const [name, address] = [counter({ free: 2 }), counter({ free: 2 })]
      await take(1, 10, name, address)
      const right = attempt(10, name, address)
      await store.takeAttempt(right)
      expect(await take(1, 10, name, address)).toEqual([1_010])
      await other.revertAttempt(right)
      expect(await take(2, 10, name, address)).toEqual([undefined, 1_010])
    })

    test('are returned without the delay that another attempt caused', async () => {
      const one = counter({ free: 2 })
      const right = attempt(10, one)
      await store.takeAttempt(right)
      await take(1, 10, one)
      await store.revertAttempt(right)
      expect(await take(1, 10, one)).toEqual([1_010])
    })

    test('are cleared under one key, and returned under the other', async () => {
      const [name, address] = [counter({ free: 3 }), counter({ free: 3 })]
      await take(1, 10, name, address)
      const right = attempt(10, name, address)
      await store.takeAttempt(right)
      await store.revertAttempt(right, name.key)
      expect(await take(3, 10, name)).toEqual([undefined, undefined, undefined])
      expect(await take(3, 10, address)).toEqual([undefined, undefined, 1_010])
    })

    test('that were returned or have expired leave no row', async () => {
      const rows = async (key: string) =>
        (
          await database.query(sql`
            select key
            from login_attempts
            where key = ${key}`)
        ).length
      const [one, old] = [counter(), counter({ forgetMs: 5 })]
      const right = attempt(10, one)
      await store.takeAttempt(right)
      expect(await rows(one.key)).toBe(1)
      await store.revertAttempt(right)
      expect(await rows(one.key)).toBe(0)
      await take(1, 1_900_000_000_000, old)
      await take(1, 1_900_000_060_000, counter())
      expect(await rows(old.key)).toBe(0)
    })

    test('of a long attack are deleted in batches, so that no login takes long', async () => {
      await database.query(sql`
        with recursive numbers (number) as (
          select 1
          union all
          select number + 1
          from numbers
          where number < 1500
        )
        insert into login_attempts (key, failures, blocked_until, forget_at, counted_by)
        select 'left ' || number, 1, 0, 5, 'x'
        from numbers`)
      const left = async () => {
        const [row] = await database.query<{ count: number }>(sql`
          select count(*) as count
          from login_attempts
          where key like 'left %'`)
        return Number(row?.count)
      }
      const counts: number[] = []
      for (const second of [1, 2]) {
        await take(1, 1_950_000_000_000 + second * 1_000, counter())
        counts.push(await left())
      }
      expect(counts).toEqual([500, 0])
    })
  })

  test('fifty parallel logins with a wrong password compute five hashes, with the plugins of two processes', async () => {
    const name = randomUUID()
    await store.addUser({ name, password: '#right', createdAt: 1 })
    const fixtures = [await openFixture({ store }), await openFixture({ store: other })]
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, nth) => fixtures[nth % 2]?.login(name, 'wrong').then(({ status }) => status)),
    )
    expect(replies.filter((status) => status === 401)).toHaveLength(5)
    expect(replies.filter((status) => status === 429)).toHaveLength(45)
    expect(fixtures.flatMap(({ checked }) => checked)).toHaveLength(5)
  })
})

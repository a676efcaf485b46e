import { afterAll, beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { withClaim } from '../../plugins/ownership/index.ts'
import { openPostgres } from '../../src/store/database/postgres.ts'
import { sql } from '../../src/store/database/statement.ts'
import { openStore, type Store, StoreError } from '../../src/store/index.ts'
import { createClaimStore } from '../../src/store/library/claims.ts'
import { createGroupStore } from '../../src/store/library/groups.ts'
import { type FreshDatabase, migratedDatabase, postgresServer } from '../support/database.ts'

const deadlineMs = 600

let database: FreshDatabase
let store: Store
beforeAll(async () => {
  database = await migratedDatabase('postgres')
  store = openStore(database.url, { deadlineMs })
  await store.migrate()
}, 300_000)
afterAll(async () => {
  await store.close()
  await database.remove()
})

/** Whether work settles before a timer that is set at the same time, which a busy machine delays as much as it. */
const settlesWithin = async (ms: number, work: Promise<unknown>): Promise<boolean> => {
  const late = Bun.sleep(ms).then(() => false)
  const settled = work.then(
    () => true,
    () => true,
  )
  return Promise.race([settled, late])
}
const many = <Result>(count: number, ask: () => Promise<Result>) =>
  Promise.allSettled(Array.from({ length: count }, ask))
const whileFrozen = async (work: () => Promise<void>) => {
  const thaw = await (await postgresServer()).freeze()
  try {
    await work()
  } finally {
    thaw()
  }
}

test('on a frozen server every query rejects within the deadline, and queries succeed once it runs again', async () => {
  const direct = openPostgres(database.url, { deadlineMs })
  const [groups, claims] = [createGroupStore(direct), createClaimStore(direct)]
  const read = (ms?: number) => direct.query(sql`select value from revision`, { deadlineMs: ms ?? deadlineMs })
  const claim = (user: string) => claims.claim({ user, type: 'AIGC', name: 'cats', createdAt: 1, dueAt: 2 })
  await many(30, () => read())
  await whileFrozen(async () => {
    for (let round = 0; round < 3; round++) {
      const pending = Promise.all([
        many<unknown>(30, () => read()),
        many<unknown>(10, () => groups.removeGroup({ id: 'none', user: 'ann' })),
        many<unknown>(10, () => claim(randomUUID())),
      ])
      expect(await settlesWithin(deadlineMs + 300, pending)).toBe(true)
      for (const outcome of (await pending).flat()) {
        expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(StoreError) })
      }
    }
  })
  // No query fails after the thaw. Connecting takes long on a busy machine, so that these wait longer than `deadlineMs`.
  const outcomes = await many(50, () => read(5_000))
  expect(outcomes.filter((outcome) => outcome.status === 'rejected')).toEqual([])
  expect((await many(20, () => claim(randomUUID()))).every((outcome) => outcome.status === 'fulfilled')).toBe(true)
  await direct.close()
}, 300_000)

test('a name that was claimed on a frozen server is free soon after it runs again, although the server still writes the claim', async () => {
  const create = (user: string) =>
    withClaim({
      store,
      wanted: { user, type: 'AIGC', name: 'cats', createdAt: Date.now(), dueAt: Date.now() + 60_000 },
      send: async () => randomUUID(),
      idOf: (id) => id,
      effectOf: () => 'unknown',
    })
  // Opens the connections: the server must receive the claims before it is frozen.
  await many(10, () => store.revision())
  const users: string[] = Array.from({ length: 10 }, () => randomUUID())
  await whileFrozen(async () => {
    for (const outcome of await Promise.allSettled(users.map(create)))
      expect(outcome).toMatchObject({ status: 'rejected', reason: { message: 'failed to check asset group' } })
  })
  // Without a release, the names are reserved for a minute, which is longer than this test may take.
  for (const user of users) while ((await create(user).catch(() => undefined)) === undefined) await Bun.sleep(50)
  expect((await store.openClaims()).filter(({ user }) => users.includes(user))).toEqual([])
}, 300_000)

test('the readiness check rejects within a second', async () => {
  const patient = openStore(database.url, { deadlineMs: 60_000 })
  await patient.ready()
  await whileFrozen(async () => {
    const pending = patient.ready()
    expect(await settlesWithin(1_300, pending)).toBe(true)
    await expect(pending).rejects.toThrow('the database did not respond in time')
  })
  await patient.ready()
  await patient.close()
}, 300_000)

test('closing takes at most 3 seconds, with and without pending queries', async () => {
  const closing = openStore(database.url)
  await many(10, () => closing.revision())
  await whileFrozen(async () => {
    const pending = closing.revision().catch((error: unknown) => error)
    expect(await settlesWithin(3_000, closing.close())).toBe(true)
    expect(await pending).toBeInstanceOf(StoreError)
  })
}, 300_000)

test('the server ends a slow statement, and other queries are not affected', async () => {
  const direct = openPostgres(database.url, { deadlineMs })
  // The callers wait longer than the statement takes: only the server's timeout, which is shorter than `deadlineMs`, can end it.
  const patient = { deadlineMs: 10_000 }
  const one = () => direct.query(sql`select 1 as one`, patient)
  // Opens the connections, which takes long on a busy machine.
  await many(10, one)
  let isSlowPending = true
  const slow = direct.query(sql`select pg_sleep(${5})`, patient).finally(() => {
    isSlowPending = false
  })
  const failure = slow.catch((error: unknown) => error)
  // No query waits for the connection of the slow statement.
  const pending = await many(100, () => one().then(() => isSlowPending))
  expect(pending.every(({ status }) => status === 'fulfilled')).toBe(true)
  expect(pending[0]).toEqual({ status: 'fulfilled', value: true })
  expect(await failure).toMatchObject({ name: 'DatabaseBusyError', cause: { code: '57014' } })
  await direct.close()
}, 300_000)

test('queries succeed after the server has closed every connection', async () => {
  const direct = openPostgres(database.url, { deadlineMs })
  // Connecting takes long on a busy machine.
  const patient = openStore(database.url, { deadlineMs: 60_000 })
  await many(30, () => patient.revision())
  await direct.query(sql`
    select pg_terminate_backend(pid) as ended
    from pg_stat_activity
    where pid <> pg_backend_pid()
    and datname = current_database()`)
  await Bun.sleep(200)
  const outcomes = await many(30, () => patient.revision())
  expect(outcomes.filter((outcome) => outcome.status === 'rejected')).toEqual([])
  await patient.close()
  await direct.close()
})

test('an unreachable server is a StoreError at once, and the message does not contain its address', async () => {
  const nowhere = openStore('postgres://user:word@127.0.0.1:1/none')
  const failure = await nowhere.revision().catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(StoreError)
  expect(String(failure)).toBe('StoreError: the database request failed')
  await nowhere.close()
})

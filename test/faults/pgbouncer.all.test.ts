/** Runs with `--all`: every route of a server whose database is behind PgBouncer, which hands out its connections by transaction. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { openPostgres } from '../../src/store/database/postgres.ts'
import { sql } from '../../src/store/database/statement.ts'
import { openStore, type Store } from '../../src/store/index.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { describeIf } from '../support/run-if.ts'
import { expectUsual, prepare, runFault } from './matrix.ts'
import { type PgBouncer, pgBouncer, startPgBouncer } from './pgbouncer.ts'
import { type FaultWorld, openFaultWorld } from './world.ts'

setDefaultTimeout(300_000)

/** Fewer than a gateway opens: its transactions share them, and meet what others have left on them. */
const poolSize = 3

const all = <Result>(count: number, ask: (index: number) => Promise<Result>) =>
  Promise.all(Array.from({ length: count }, (_, index) => ask(index)))

describeIf(pgBouncer !== undefined, 'pgbouncer is not installed')('behind PgBouncer, by transaction', () => {
  let database: FreshDatabase
  let bouncer: PgBouncer
  let stores: readonly Store[]
  let url: string
  beforeAll(async () => {
    database = await freshDatabase('postgres')
    bouncer = await startPgBouncer(database.url, poolSize)
    url = bouncer.before(database.url)
    stores = [0, 1].map(() => openStore(url, { deadlineMs: 60_000 }))
  }, 300_000)
  afterAll(async () => {
    await Promise.all(stores.map((store) => store.close()))
    await bouncer[Symbol.asyncDispose]()
    await database.remove()
  })
  const either = (index: number) => stores[index % stores.length] as Store

  test('several processes create the tables at once, and find them created', async () => {
    await Promise.all(stores.map((store) => store.migrate()))
    await Promise.all(stores.map((store) => store.migrate()))
    expect(await all(2, (index) => either(index).revision())).toEqual([1, 1])
  })

  test('one of many takes a lease, the name of a group, an idempotency key and the name of a user', async () => {
    const now = Date.now()
    const leases = await all(20, (index) => either(index).takeLease('job', `holder-${index}`, now, now + 60_000))
    expect(leases.filter(Boolean)).toHaveLength(1)
    const user = (await either(0).addUser({ name: 'ann', createdAt: now })) ?? ''
    const claim = { user, type: 'AIGC', name: 'cats', createdAt: now, dueAt: now + 60_000 }
    const claims = await all(20, (index) => either(index).claim(claim))
    expect(claims.filter((claimed) => claimed?.id !== undefined)).toHaveLength(1)
    const key = {
      user,
      route: 'POST /x',
      key: 'k',
      fingerprint: 'f',
      now,
      leaseUntil: now + 60_000,
      expiresAt: now + 1e6,
    }
    const keys = await all(20, (index) => either(index).idempotency.claim({ ...key, holder: `h${index}` }, 10))
    expect(keys.filter(({ state }) => state === 'claimed')).toHaveLength(1)
    const names = await all(20, (index) => either(index).addUser({ name: 'bob', createdAt: now }))
    expect(names.filter((id) => id !== undefined)).toHaveLength(1)
  })

  test('the server ends a slow statement at the time limit of the role, as the example says', async () => {
    const direct = openPostgres(url, { deadlineMs: 60_000 })
    await direct.query(sql`create role limited login password 'postgres' superuser`)
    await direct.query(sql`alter role limited set statement_timeout = '100ms'`)
    const limited = openPostgres(bouncer.before(database.url.replace('postgres:postgres@', 'limited:postgres@')), {
      deadlineMs: 60_000,
    })
    const slow = limited.query(sql`select pg_sleep(${30})`)
    expect(await slow.catch((error: unknown) => error)).toMatchObject({ cause: { code: '57014' } })
    await Promise.all([limited.close(), direct.close()])
  })

  test('every route works, also after PgBouncer was down', async () => {
    const world: FaultWorld = await openFaultWorld(async (address, stack) => {
      const own = stack.use(await startPgBouncer(address, poolSize))
      return own.before(address)
    })
    await expectUsual(world, world.routes)
    await expectUsual(world, world.routes)
    const reading = world.routes.filter((route) => route.startsWith('GET'))
    const prepared = await prepare(world, reading)
    expect(await runFault(world, { dependency: 'database', fault: { kind: 'refuse' }, prepared })).toEqual([])
    await world[Symbol.asyncDispose]()
  })
})

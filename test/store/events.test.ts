import { afterAll, beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { StoredEvent } from '../../plugins/events/store.ts'
import type { Database, Steps } from '../../src/store/database/database.ts'
import { openPostgres } from '../../src/store/database/postgres.ts'
import { openSqlite } from '../../src/store/database/sqlite.ts'
import { type Statement, sql } from '../../src/store/database/statement.ts'
import { addDelivery, addEvent, type NewEvent } from '../../src/store/events/events.ts'
import type { Store } from '../../src/store/index.ts'
import { eachDatabase } from '../support/database.ts'

eachDatabase('events', (tested) => {
  let store: Store
  let database: Database
  let other: Database
  const open = (): Database =>
    tested.kind === 'sqlite'
      ? openSqlite(tested.url.slice('sqlite:'.length))
      : openPostgres(tested.url, { deadlineMs: 10_000 })
  beforeAll(async () => {
    store = await tested.open()
    database = open()
    other = open()
  })
  afterAll(() => Promise.all([database.close(), other.close()]))

  const event = (user: string, more: Partial<NewEvent> = {}): readonly Statement[] =>
    addEvent({ user, type: 'video.queued', data: '{"id":"cgt-1"}', at: 1_000, ...more })
  const typesOf = (events: readonly StoredEvent[]) => events.map(({ type }) => type)

  test('are read by their user only, in order, and resumed from an id', async () => {
    const [ann, bob] = [randomUUID(), randomUUID()]
    const before = await store.newestEvent()
    await database.batch([...event(ann), ...event(bob), ...event(ann, { type: 'video.running' })])
    const [first, second] = await store.eventsOf(ann, 0, 10)
    expect(first).toEqual({
      ...{ user: ann, type: 'video.queued', data: '{"id":"cgt-1"}', at: 1_000 },
      ...{ sequence: expect.any(Number), id: expect.stringMatching(/^evt_[0-9a-f]{32}$/) },
    })
    expect(second?.type).toBe('video.running')
    expect(typesOf(await store.eventsOf(ann, first?.sequence ?? 0, 10))).toEqual(['video.running'])
    expect(await store.findEvent(ann, first?.id ?? '')).toBe(first?.sequence as number)
    expect(await store.findEvent(bob, first?.id ?? '')).toBeUndefined()
    expect((await store.eventsAfter(before, 10)).map(({ user }) => user)).toEqual([ann, bob, ann])
    expect(await store.eventsAfter(before, 2)).toHaveLength(2)
    expect(await store.newestEventOf(ann, second?.sequence ?? 0)).toMatchObject({ id: second?.id })
    expect(await store.newestEventOf(ann, (second?.sequence ?? 0) - 1)).toMatchObject({ id: first?.id })
    expect(await store.newestEventOf(randomUUID(), 1_000_000)).toBeUndefined()
  })

  test('are added with the state that they report, or not at all', async () => {
    const ann = randomUUID()
    await database.query(sql`create table states (id text primary key, state text not null)`)
    await database.query(sql`insert into states (id, state) values (${ann}, 'queued')`)
    const move = (to: string) =>
      function* (): Steps<boolean> {
        const moved = yield sql`
          update states
          set state = ${to}
          where id = ${ann}
          and state = 'queued'
          returning id`
        if (moved.length === 1) for (const statement of event(ann, { type: `video.${to}` })) yield statement
        return moved.length === 1
      }
    const moves = await Promise.all([database, other].map((each) => each.transaction(move('running'))))
    expect(moves.sort()).toEqual([false, true])
    expect(typesOf(await store.eventsOf(ann, 0, 10))).toEqual(['video.running'])
    const failing = database.transaction(function* (): Steps {
      yield* event(ann)
      yield sql`select broken`
    })
    await expect(failing).rejects.toThrow('the database request failed')
    expect(await store.eventsOf(ann, 0, 10)).toHaveLength(1)
  })

  test('become visible in the order of their numbers, whatever transactions are slow', async () => {
    const users = Array.from({ length: 8 }, () => randomUUID())
    const pause = (): readonly Statement[] =>
      tested.kind === 'sqlite' ? [] : [sql`select pg_sleep(${Math.ceil(Math.random() * 12)} / 1000.0)`]
    const seen: number[] = []
    let cursor = await store.newestEvent()
    let writing = true
    const reading = (async () => {
      for (let last = false; !last; ) {
        last = !writing
        const events = await store.eventsAfter(cursor, 1_000)
        for (const { sequence } of events) seen.push(sequence)
        cursor = events.at(-1)?.sequence ?? cursor
        await new Promise((resolve) => setTimeout(resolve, 1))
      }
    })()
    await Promise.all(
      users.map(async (user, index) => {
        for (let round = 0; round < 20; round++) {
          await (index % 2 ? database : other).batch([...event(user), ...pause(), ...event(user), ...pause()])
        }
      }),
    )
    writing = false
    await reading
    const stored = (await Promise.all(users.map((user) => store.eventsOf(user, 0, 100)))).flat()
    expect(stored).toHaveLength(8 * 20 * 2)
    expect(seen).toEqual(stored.map(({ sequence }) => sequence).sort((a, b) => a - b))
  })

  test('are swept after a time, but the newest of each user, from which a client may resume', async () => {
    const [ann, bob] = [randomUUID(), randomUUID()]
    await database.batch([...event(ann, { at: 10 }), ...event(ann, { at: 11 }), ...event(ann, { at: 12 })])
    await database.batch(event(bob, { at: 10 }))
    expect(await store.sweepEvents(20, 1)).toBe(1)
    while ((await store.sweepEvents(20, 100)) > 0);
    expect((await store.eventsOf(ann, 0, 10)).map(({ at }) => at)).toEqual([12])
    expect(await store.eventsOf(bob, 0, 10)).toHaveLength(1)
  })

  test('tell listeners of the process that committed them', async () => {
    const own = await tested.open()
    let told = 0
    own.onEvents(() => told++)
    await database.batch(event(randomUUID()))
    expect(told).toBe(0)
  })

  test('of a callback: the newest state of a subject replaces those that wait', async () => {
    const [user, subject] = [randomUUID(), randomUUID()]
    const delivery = (body: string, at = 1_000) =>
      database.batch(addDelivery({ user, subject, url: 'https://ann.example/', body, at }))
    await delivery('{"status":"queued"}')
    await database.query(sql`update callbacks set lease_until = 2000 where subject = ${subject}`)
    await delivery('{"status":"running"}')
    await delivery('{"status":"succeeded"}')
    const waiting = await database.query(sql`select body from callbacks where subject = ${subject} order by sequence`)
    // The first is being sent.
    expect(waiting).toEqual([{ body: '{"status":"queued"}' }, { body: '{"status":"succeeded"}' }])
  })

  test('go to the webhooks of their user that want their type', async () => {
    const [ann, bob] = [randomUUID(), randomUUID()]
    const webhook = (user: string, name: string, types?: string, disabledAt?: number) =>
      database.query(sql`
        insert into webhooks (id, user_id, url, types, secret, created_at, failures, paused_until, disabled_at, lease_until)
        values (${`${user}-${name}`}, ${user}, 'https://ann.example/', ${types}, 's', 1, 0, 0, ${disabledAt}, 0)`)
    await webhook(ann, 'all')
    await webhook(ann, 'some', ' asset.active video.succeeded ')
    await webhook(ann, 'family', ' video.* ')
    await webhook(ann, 'others', ' asset.* face_verification.verified ')
    await webhook(ann, 'disabled', undefined, 5)
    await webhook(bob, 'all')
    const deliveries = async (type: string) => {
      await database.batch(event(ann, { type }))
      const rows = await database.query<{ webhook: string }>(sql`
        delete from deliveries
        where webhook_id like ${`${ann}%`}
        returning webhook_id as webhook`)
      return rows.map(({ webhook }) => webhook.slice(ann.length + 1)).sort()
    }
    expect(await deliveries('video.succeeded')).toEqual(['all', 'family', 'some'])
    expect(await deliveries('video.queued')).toEqual(['all', 'family'])
    expect(await deliveries('asset.failed')).toEqual(['all', 'others'])
    expect(await deliveries('asset.active')).toEqual(['all', 'others', 'some'])
  })
})

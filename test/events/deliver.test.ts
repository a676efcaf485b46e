import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { createTargetRules } from '../../plugins/events/address/address.ts'
import type { LeasedDelivery } from '../../plugins/events/index.ts'
import { type DeliverOptions, deliver } from '../../plugins/events/webhooks/deliver.ts'
import type { PostOptions } from '../../plugins/events/webhooks/post.ts'
import { createSecret } from '../../plugins/events/webhooks/signature.ts'
import { Background } from '../../plugins/shared/background/background.ts'
import { systemClock } from '../../plugins/shared/clock.ts'
import { noLog } from '../../plugins/shared/problem.ts'
import type { Database } from '../../src/store/database/database.ts'
import { sql } from '../../src/store/database/statement.ts'
import { addDelivery, addEvent } from '../../src/store/events/events.ts'
import type { Store } from '../../src/store/index.ts'
import { repeatOnDatabases } from '../support/database.ts'
import { happen, newUser, openDatabase } from './fixture.ts'

const hour = 3_600_000

/** The store, and the latest time at which nothing was due and no attempt ran. */
const countAttempts = (store: Store) => {
  let running = 0
  let idleAt = 0
  const counted: Store = {
    ...store,
    async isDeliveryDue(now) {
      const isDue = await store.isDeliveryDue(now)
      if (!isDue && running === 0) idleAt = now
      return isDue
    },
    async leaseDeliveries(...wanted) {
      const leased = await store.leaseDeliveries(...wanted)
      running += leased.length
      return leased
    },
    deliverySucceeded: (...outcome) => store.deliverySucceeded(...outcome).finally(() => running--),
    deliveryFailed: (...outcome) => store.deliveryFailed(...outcome).finally(() => running--),
  }
  return { counted, idleAt: () => idleAt }
}

repeatOnDatabases('deliveries', (tested) => {
  let store: Store
  let second: Store
  let other: Database
  let offset = 0
  const clock = { ...systemClock, now: () => Date.now() + offset }
  const running: Background[] = []
  beforeAll(async () => {
    store = await tested.open()
    second = await tested.open()
    other = openDatabase(tested)
  })
  afterEach(async () => {
    await Promise.all(running.splice(0).map((background) => background.stop()))
    for (const table of [sql`delete from deliveries`, sql`delete from callbacks`, sql`delete from webhooks`]) {
      await other.query(table)
    }
    offset = 0
  })
  afterAll(() => other.close())

  const start = (post: (request: PostOptions) => Promise<number>, more: Partial<DeliverOptions> = {}, at = store) => {
    const background = new Background()
    deliver({
      ...{ store: at, onEvents: at.onEvents, clock, log: noLog, rules: createTargetRules(), everyMs: 5 },
      ...{ post, background, ...more },
    })
    running.push(background)
    return background
  }
  const addWebhook = async (user: string, more: { url?: string; types?: readonly string[] } = {}) => {
    const webhook = {
      id: randomUUID(),
      user,
      url: 'https://ann.example/',
      secret: createSecret(),
      createdAt: 1,
      ...more,
    }
    expect(await store.addWebhook(webhook, 10)).toBe(true)
    return webhook
  }
  const until = async (isTrue: () => boolean | Promise<boolean>) => {
    while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 2))
  }
  const statusOf = async (user: string) => (await store.listWebhooks(user))[0]
  const typeOf = ({ body }: { readonly body: string }) => JSON.parse(body).type as string
  const callback = (user: string, subject: string, body: string, url = 'https://ann.example/task') =>
    other.batch(addDelivery({ user, url, subject, body, at: clock.now() }))

  test('of events are signed, in order, and sent once', async () => {
    const [ann, bob] = [newUser(), newUser()]
    const webhook = await addWebhook(ann, { types: ['video.*'] })
    await addWebhook(bob)
    const received: PostOptions[] = []
    start(async (request) => {
      received.push(request)
      return 204
    })
    for (const type of ['video.queued', 'asset.active', 'video.running', 'video.succeeded'])
      await happen(other, ann, type)
    await until(async () => received.length >= 3 && (await statusOf(ann))?.waiting === 0)
    expect(received.map(typeOf)).toEqual(['video.queued', 'video.running', 'video.succeeded'])
    for (const { url, headers, body } of received) {
      expect(url).toBe('https://ann.example/')
      expect(headers).toMatchObject({ 'content-type': 'application/json', 'user-agent': 'sluice-webhooks' })
      expect(new Webhook(webhook.secret).verify(body, headers)).toEqual(JSON.parse(body))
    }
    const ids = (await store.eventsOf(ann, 0, 10)).filter(({ type }) => type !== 'asset.active').map(({ id }) => id)
    expect(received.map(({ headers }) => headers['webhook-id'])).toEqual(ids)
    expect(await statusOf(ann)).toMatchObject({ deliveredAt: expect.any(Number) })
  })

  test('of an event with a time that no date has are sent, and delay no other', async () => {
    const [ann, bob] = [newUser(), newUser()]
    await addWebhook(ann, { url: 'https://ann.example/poisoned' })
    await addWebhook(bob)
    await happen(other, ann, 'video.queued', { at: Number.MAX_SAFE_INTEGER })
    await other.query(sql`update deliveries set due_at = 1`)
    await other.query(sql`update webhooks set due_at = 1 where due_at is not null`)
    await happen(other, bob, 'video.queued')
    const received: string[] = []
    start(async ({ url }) => {
      received.push(url)
      return 204
    })
    await until(() => received.length === 2)
    expect(received.toSorted()).toEqual(['https://ann.example/', 'https://ann.example/poisoned'])
  })

  test('of a callback have the body as it is, and a signature only if the user has a secret', async () => {
    const [ann, bob] = [newUser(), newUser()]
    const { secret } = await addWebhook(ann, { types: ['asset.active'] })
    const received: PostOptions[] = []
    start(async (request) => {
      received.push(request)
      return 200
    })
    await callback(ann, 'cgt-1', '{"id":"cgt-1","status":"running"}')
    await callback(bob, 'cgt-2', '{"id":"cgt-2","status":"running"}', 'https://bob.example/task')
    await until(() => received.length === 2)
    const [toAnn, toBob] = received.toSorted((a, b) => (a.url < b.url ? -1 : 1))
    expect(toAnn?.body).toBe('{"id":"cgt-1","status":"running"}')
    expect(new Webhook(secret).verify(toAnn?.body ?? '', toAnn?.headers ?? {})).toMatchObject({ id: 'cgt-1' })
    expect(toBob?.headers['webhook-signature']).toBeUndefined()
    expect(toBob?.headers['webhook-id']).toMatch(/^msg_[0-9a-f]{32}$/)
  })

  test('that fail are sent again later; after an outage the address receives all that waits', async () => {
    const ann = newUser()
    await addWebhook(ann)
    let works = false
    const attempts: string[] = []
    start(async (request) => {
      attempts.push(typeOf(request))
      if (works) return 200
      throw new Error('the host is not reachable')
    })
    await happen(other, ann, 'video.queued')
    for (let failures = 1; failures <= 4; failures++) {
      await until(async () => (await statusOf(ann))?.lastError !== undefined && attempts.length === failures)
      await new Promise((resolve) => setTimeout(resolve, 30))
      expect(attempts).toHaveLength(failures)
      offset += hour / 2
    }
    await until(() => attempts.length === 5)
    await happen(other, ann, 'video.running')
    await happen(other, ann, 'video.succeeded')
    expect(await statusOf(ann)).toMatchObject({
      ...{ waiting: 3, lastError: 'the host is not reachable', failingSince: expect.any(Number) },
    })
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(attempts).toHaveLength(5)
    works = true
    attempts.length = 0
    offset += hour / 2
    await until(async () => (await statusOf(ann))?.waiting === 0)
    expect(attempts).toEqual(['video.running', 'video.succeeded', 'video.queued'])
    const { failingSince, lastError } = (await statusOf(ann)) ?? {}
    expect([failingSince, lastError]).toEqual([undefined, undefined])
  })

  test('one that its receiver never accepts does not hold up the others', async () => {
    const ann = newUser()
    await addWebhook(ann)
    const accepted: string[] = []
    const { counted, idleAt } = countAttempts(store)
    const post = async (request: PostOptions) => {
      if (typeOf(request) === 'video.failed') return 500
      accepted.push(typeOf(request))
      return 200
    }
    start(post, {}, counted)
    await happen(other, ann, 'video.failed')
    await until(async () => (await statusOf(ann))?.lastError === 'response with status 500')
    await happen(other, ann, 'video.queued')
    // The clock advances when all that is due was attempted, however long that takes.
    while (accepted.length === 0) {
      offset += 10_000
      const now = clock.now()
      await until(() => idleAt() >= now || accepted.length > 0)
    }
    // The first two attempts come before the others, and the pause between them is half a minute.
    expect(offset).toBeLessThan(120_000)
    await until(async () => (await statusOf(ann))?.waiting === 1)
  })

  test('stop when the address is gone, or has accepted nothing in a day; then nothing more waits for it', async () => {
    const [ann, bob] = [newUser(), newUser()]
    await addWebhook(ann, { url: 'https://gone.example/' })
    await addWebhook(bob, { url: 'https://down.example/' })
    const disabled: LeasedDelivery[] = []
    start(async ({ url }) => (url.includes('gone') ? 410 : 503), { onDisabled: (each) => disabled.push(each) })
    await happen(other, ann, 'video.queued')
    await happen(other, bob, 'video.queued')
    await until(
      async () => (await statusOf(ann))?.disabledAt !== undefined && (await statusOf(bob))?.lastError !== undefined,
    )
    expect((await statusOf(bob))?.disabledAt).toBeUndefined()
    offset += 25 * hour
    await happen(other, bob, 'video.running', { at: clock.now() })
    await until(async () => (await statusOf(bob))?.disabledAt !== undefined)
    expect(disabled.map(({ user }) => user)).toEqual([ann, bob])
    for (const user of [ann, bob]) {
      await happen(other, user, 'video.succeeded')
      expect((await statusOf(user))?.waiting).toBe(0)
    }
  })

  test('of two processes: each is sent once, one at a time for each webhook, and at most four for each user', async () => {
    const users = Array.from({ length: 4 }, newUser)
    for (const user of users)
      for (let count = 0; count < 6; count++) await addWebhook(user, { url: `https://${user}.example/${count}` })
    const sending = new Map<string, number>()
    const most = { webhook: 0, user: 0 }
    const sent: string[] = []
    const post = async ({ url, headers }: PostOptions) => {
      const keys = { webhook: url, user: new URL(url).hostname }
      for (const kind of ['webhook', 'user'] as const) {
        const now = (sending.get(keys[kind]) ?? 0) + 1
        sending.set(keys[kind], now)
        most[kind] = Math.max(most[kind], now)
      }
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 3))
      for (const key of Object.values(keys)) sending.set(key, (sending.get(key) ?? 0) - 1)
      sent.push(`${url} ${headers['webhook-id']}`)
      return 200
    }
    start(post)
    start(post, {}, second)
    for (let count = 0; count < 10; count++) for (const user of users) await happen(other, user, 'video.queued')
    await until(() => sent.length >= 4 * 6 * 10)
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect([sent.length, new Set(sent).size]).toEqual([240, 240])
    expect(most).toEqual({ webhook: 1, user: 4 })
  })

  test('of a user with many slow receivers do not hold up those of others', async () => {
    const [hog, ann] = [newUser(), newUser()]
    for (let count = 0; count < 60; count++) await callback(hog, `cgt-${count}`, '{}', 'https://slow.example/')
    let slow = 0
    const done: string[] = []
    const hold = Promise.withResolvers<number>()
    start(
      async ({ url }) => {
        if (!url.includes('slow')) return done.push(url) && 200
        slow++
        return hold.promise
      },
      { max: 8 },
    )
    await until(() => slow === 4)
    for (let count = 0; count < 20; count++) await callback(ann, `ann-${count}`, '{}')
    await until(() => done.length === 20)
    expect(slow).toBe(4)
    hold.resolve(200)
    await until(() => slow === 60)
  })

  test('whose process has ended are sent again by another when the lease is over', async () => {
    const ann = newUser()
    await addWebhook(ann)
    const ids: (string | undefined)[] = []
    const first = start(
      ({ headers, signal }) =>
        new Promise((_, reject) => {
          ids.push(headers['webhook-id'])
          signal.addEventListener('abort', () => reject(new Error('ended')))
        }),
    )
    await happen(other, ann, 'video.queued')
    await until(() => ids.length === 1)
    await first.stop()
    start(
      async ({ headers }) => {
        ids.push(headers['webhook-id'])
        return 200
      },
      {},
      second,
    )
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(ids).toHaveLength(1)
    offset += 40_000
    await until(() => ids.length === 2)
    expect(ids[0]).toBe(ids[1] as string)
    await until(async () => (await statusOf(ann))?.waiting === 0)
  })

  test('that a process has held for too long do not change what another has done since', async () => {
    const ann = newUser()
    await addWebhook(ann)
    await happen(other, ann, 'video.queued')
    const limits = { max: 1, maxPerUser: 1 }
    const [late] = await store.leaseDeliveries(clock.now(), clock.now() + 10, limits)
    offset += 1_000
    const [current] = await second.leaseDeliveries(clock.now(), clock.now() + 60_000, limits)
    if (!late || !current) throw new Error('not leased')
    const failure = { at: clock.now(), error: 'late', dueAt: undefined, pausedUntil: 0, disables: true }
    await store.deliveryFailed(late, failure)
    await store.deliverySucceeded(late, clock.now(), false)
    expect(await statusOf(ann)).toMatchObject({ waiting: 1 })
    expect((await statusOf(ann))?.disabledAt).toBeUndefined()
    await second.deliverySucceeded(current, clock.now(), false)
    expect(await statusOf(ann)).toMatchObject({ waiting: 0 })
  })

  test('of a callback: an older state is not sent after, nor beside, a newer one', async () => {
    const ann = newUser()
    await callback(ann, 'cgt-1', '{"status":"running"}')
    const limits = { max: 5, maxPerUser: 5 }
    const [older] = await store.leaseDeliveries(clock.now(), clock.now() + 60_000, limits)
    await callback(ann, 'cgt-1', '{"status":"succeeded"}')
    expect(await second.leaseDeliveries(clock.now(), clock.now() + 60_000, limits)).toEqual([])
    if (!older) throw new Error('not leased')
    const dueAt = clock.now()
    await store.deliveryFailed(older, { at: dueAt, error: 'x', dueAt, pausedUntil: 0, disables: false })
    const next = await second.leaseDeliveries(clock.now(), clock.now() + 60_000, limits)
    expect(next.map(({ body }) => body)).toEqual(['{"status":"succeeded"}'])
  })

  test('wait in bounded number, and events that are too old for them are left out', async () => {
    const ann = newUser()
    const { id } = await addWebhook(ann)
    await other.query(sql`
      with recursive numbers (number) as (select 1 union all select number + 1 from numbers where number < 4999)
      insert into deliveries (webhook_id, event_sequence, created_at, due_at, attempts)
      select cast(${id} as text), -number, 1, 1, 0
      from numbers`)
    const add = () => other.batch(addEvent({ user: ann, type: 'video.queued', data: '{}', at: clock.now() }))
    await add()
    await add()
    const [row] = await other.query<{ count: number }>(sql`select count(*) as count from deliveries`)
    expect(Number(row?.count)).toBe(5_000)
    await store.sweepDeliveries(2, 10_000)
    expect(await statusOf(ann)).toMatchObject({ waiting: 1 })
  })

  test('of a deleted webhook are deleted, also while one is being sent', async () => {
    const ann = newUser()
    const { id } = await addWebhook(ann)
    const sent = Promise.withResolvers<number>()
    let attempts = 0
    start(async () => {
      attempts++
      return sent.promise
    })
    await happen(other, ann, 'video.queued')
    await happen(other, ann, 'video.running')
    await until(() => attempts === 1)
    expect(await store.deleteWebhook(newUser(), id)).toBe(false)
    expect(await store.deleteWebhook(ann, id)).toBe(true)
    expect(await store.deleteWebhook(ann, id)).toBe(false)
    sent.resolve(500)
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(attempts).toBe(1)
    expect(await other.query(sql`select webhook_id from deliveries`)).toEqual([])
  })
})

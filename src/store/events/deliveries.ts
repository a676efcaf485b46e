import { randomUUID } from 'node:crypto'
import { eventJson } from '../../../plugins/events/frames.ts'
import type { DeliveryLimits, DeliveryStore, LeasedDelivery } from '../../../plugins/events/webhooks/delivery-store.ts'
import type { Database, Row, Steps } from '../database/database.ts'
import { deleteOldest } from '../database/oldest-rows.ts'
import { clause, type Statement, sql } from '../database/statement.ts'
import { createDueSearch } from './due-deliveries.ts'

/**
 * Deliveries to webhooks and callbacks. A process that sends one holds the lease of its webhook, or of the callback.
 */
export const createDeliveryStore = (database: Database, findDue = createDueSearch()): DeliveryStore => ({
  async isDeliveryDue(now) {
    // In the order of the index: otherwise PostgreSQL expects to find one at once in any order, and reads all of them.
    const due = await database.query(sql`
      select id
      from (
        select id
        from webhooks
        where due_at <= ${now}
        and lease_until <= ${now}
        order by due_at
        limit 1
      ) due
      union all
      select id
      from (
        select id
        from callbacks
        where due_at <= ${now}
        and lease_until <= ${now}
        order by due_at
        limit 1
      ) due`)
    return due.length > 0
  },

  leaseDeliveries: (now, until, limits) => database.transaction(() => lease(now, until, limits, findDue)),

  deliverySucceeded: ({ kind, id, lease: held, sequence }, at, recovered) =>
    database.transaction(function* (): Steps {
      if (kind === 'callback') return void (yield deleteCallback(id, held))
      const [webhook] = yield sql`
        update webhooks
        set delivered_at = ${at}, failing_since = null, failures = 0, paused_until = 0, last_error = null
        where id = ${id}
        and lease_id = ${held}
        returning id`
      if (!webhook) return
      yield deleteDelivery(id, sequence)
      if (recovered) {
        yield sql`
          update deliveries
          set due_at = ${at}
          where webhook_id = ${id}
          and due_at > ${at}`
      }
      yield release(id)
    }),

  deliveryFailed: ({ kind, id, lease: held, sequence }, { at, error, dueAt, pausedUntil, disables }) =>
    database.transaction(function* (): Steps {
      if (kind === 'callback') {
        yield deleteReplaced(id, held)
        yield dueAt === undefined ? deleteCallback(id, held) : retryCallback(id, held, dueAt)
        return
      }
      const [webhook] = yield sql`
        update webhooks
        set failing_since = coalesce(failing_since, ${at}), failures = failures + 1, last_error = ${error},
          paused_until = ${pausedUntil},
          disabled_at = case when ${Number(disables)} = 1 then cast(${at} as bigint) else disabled_at end
        where id = ${id}
        and lease_id = ${held}
        returning id`
      if (!webhook) return
      if (disables) {
        yield sql`
          delete from deliveries
          where webhook_id = ${id}`
      } else if (dueAt === undefined) yield deleteDelivery(id, sequence)
      else {
        yield sql`
          update deliveries
          set due_at = ${dueAt}, attempts = attempts + 1
          where webhook_id = ${id}
          and event_sequence = ${sequence}`
      }
      yield release(id)
    }),

  async sweepDeliveries(before, max) {
    const [deliveries = [], callbacks = []] = await database.batch(sweepStatements(before, max))
    return Math.max(deliveries.length, callbacks.length)
  },
})

/** Deletes old deliveries, and callbacks that are long due. */
export const sweepStatements = (before: number, max: number): readonly Statement[] => [
  deleteOldest(
    {
      ...{ table: clause`deliveries`, time: clause`created_at`, key: clause`webhook_id, event_sequence` },
      where: clause`created_at < ${before}`,
    },
    max,
  ),
  deleteOldest(
    { table: clause`callbacks`, time: clause`due_at`, key: clause`id`, where: clause`due_at < ${before}` },
    max,
  ),
]

const deleteDelivery = (webhook: string, sequence: number) => sql`
  delete from deliveries
  where webhook_id = ${webhook}
  and event_sequence = ${sequence}`

const deleteCallback = (id: string, held: string) => sql`
  delete from callbacks
  where id = ${id}
  and lease_id = ${held}`

/** A callback that a newer state of the same object has replaced meanwhile is not sent again. */
const deleteReplaced = (id: string, held: string) => sql`
  delete from callbacks
  where id = ${id}
  and lease_id = ${held}
  and exists (
    select 1
    from callbacks newer
    where newer.subject = callbacks.subject
    and newer.sequence > callbacks.sequence
  )`

const retryCallback = (id: string, held: string, dueAt: number) => sql`
  update callbacks
  set lease_id = null, lease_until = 0, attempts = attempts + 1, due_at = ${dueAt}
  where id = ${id}
  and lease_id = ${held}`

/** Ends the lease of a webhook. A statement of its own: it sees events that were added until the webhook was locked. */
const release = (id: string) => sql`
  update webhooks
  set lease_id = null, lease_until = 0, due_at = (
    select case when min(deliveries.due_at) < webhooks.paused_until then webhooks.paused_until else min(deliveries.due_at) end
    from deliveries
    where deliveries.webhook_id = webhooks.id
  )
  where id = ${id}`

function* lease(
  now: number,
  until: number,
  { max, maxPerUser }: DeliveryLimits,
  findDue: ReturnType<typeof createDueSearch>,
): Steps<readonly LeasedDelivery[]> {
  // Locks the row: two processes do not choose at once.
  yield sql`update delivery_turns set turn = turn + 1`
  const sent = yield sql`
    select user_id as "user", null as subject
    from webhooks
    where lease_id is not null
    and lease_until > ${now}
    union all
    select user_id, subject
    from callbacks
    where lease_id is not null
    and lease_until > ${now}`
  // An older state of an object is not sent beside a newer one.
  const subjects = new Set(sent.flatMap(({ subject }) => subject ?? []))
  const due = (yield* findDue(now)).filter(({ subject }) => subject === undefined || !subjects.has(subject))
  const sending = new Map<string, number>()
  for (const { user } of sent) sending.set(String(user), (sending.get(String(user)) ?? 0) + 1)
  const leased: LeasedDelivery[] = []
  for (const { kind, id, user } of fewestFirst(due, sending)) {
    if (leased.length === max) break
    const count = sending.get(String(user)) ?? 0
    if (count >= maxPerUser) continue
    const held = randomUUID()
    const found =
      kind === 'webhook'
        ? yield* leaseWebhook(String(id), held, now, until)
        : yield* leaseCallback(String(id), held, until)
    if (!found) continue
    sending.set(String(user), count + 1)
    leased.push(found)
  }
  return leased
}

/** Due deliveries in turn: the first of each user, then the second. A user for whom some are being sent comes later. */
const fewestFirst = (due: readonly Row[], sending: ReadonlyMap<string, number>): readonly Row[] => {
  const turns = new Map(sending)
  const inTurn = due.map((row) => {
    const turn = (turns.get(String(row.user)) ?? 0) + 1
    turns.set(String(row.user), turn)
    return { row, turn }
  })
  return inTurn.sort((a, b) => a.turn - b.turn).map(({ row }) => row)
}

/** An event that has failed this often comes after all others: perhaps the receiver rejects only this one. */
const patience = 2

function* leaseWebhook(id: string, held: string, now: number, until: number): Steps<LeasedDelivery | undefined> {
  const [webhook] = yield sql`
    update webhooks
    set lease_id = ${held}, lease_until = ${until}
    where id = ${id}
    and disabled_at is null
    returning user_id as "user", url, secret, failures, failing_since as "failingSince"`
  const [delivery] = yield sql`
    select deliveries.event_sequence as sequence, deliveries.created_at as "createdAt", deliveries.attempts,
      events.id, events.type, events.data, events.at
    from deliveries
    left join events on events.sequence = deliveries.event_sequence
    where deliveries.webhook_id = ${id}
    and deliveries.due_at <= ${now}
    order by case when deliveries.attempts < ${patience} then 0 else 1 end, deliveries.event_sequence
    limit 1`
  if (!webhook || delivery?.id === undefined) {
    // The event was removed with all old ones, or the webhook is deleted or disabled.
    if (delivery) yield deleteDelivery(id, Number(delivery.sequence))
    yield release(id)
    return undefined
  }
  return {
    ...{ kind: 'webhook', id, lease: held, messageId: String(delivery.id) },
    ...{ user: String(webhook.user), url: String(webhook.url), secrets: [String(webhook.secret)] },
    ...{ failures: Number(webhook.failures), failingSince: webhook.failingSince as number | undefined },
    body: eventJson({ type: String(delivery.type), data: String(delivery.data), at: Number(delivery.at) }),
    sequence: Number(delivery.sequence),
    ...{ createdAt: Number(delivery.createdAt), attempts: Number(delivery.attempts) },
  }
}

function* leaseCallback(id: string, held: string, until: number): Steps<LeasedDelivery | undefined> {
  const [callback] = yield sql`
    update callbacks
    set lease_id = ${held}, lease_until = ${until}
    where id = ${id}
    returning user_id as "user", url, body, sequence, created_at as "createdAt", attempts`
  if (!callback) return undefined
  const secrets = yield sql`
    select secret
    from webhooks
    where user_id = ${callback.user}
    order by created_at, id`
  return {
    ...{ kind: 'callback', id, lease: held, messageId: id },
    ...{ user: String(callback.user), url: String(callback.url), body: String(callback.body) },
    secrets: secrets.map(({ secret }) => String(secret)),
    ...{ sequence: Number(callback.sequence), createdAt: Number(callback.createdAt) },
    ...{ attempts: Number(callback.attempts), failures: Number(callback.attempts) },
  }
}

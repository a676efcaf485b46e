import { randomUUID } from 'node:crypto'
import type { EventStore, StoredEvent } from '../../../plugins/events/store.ts'
import { checkUser } from '../../../plugins/shared/identity/identify.ts'
import { parsedObject } from '../../../plugins/shared/json/parsed.ts'
import type { Database } from '../database/database.ts'
import { type Statement, sql } from '../database/statement.ts'
import { createEventSweep } from './event-sweep.ts'

/** What has happened, to whom. */
export interface NewEvent {
  readonly user: string
  /** For example `video.succeeded`: the kind of object, a dot, and its new state. */
  readonly type: string
  /** A JSON object: what the user may know. */
  readonly data: string
  /** Milliseconds since 1970. */
  readonly at: number
}

/**
 * A request that is sent to an address which a caller has given for one object, for example the `callback_url` of a
 * video task.
 */
export interface NewCallback {
  readonly user: string
  readonly url: string
  /** The object: a new state replaces an older one that has not been delivered. */
  readonly subject: string
  /** A JSON document. */
  readonly body: string
  /** Milliseconds since 1970. */
  readonly at: number
}

/** Deliveries that may wait for one webhook. What comes beyond is not delivered to it. */
const maxWaiting = 5_000

/**
 * The lock is held until the end of the transaction, so events become visible in the order of their numbers: a reader
 * that has seen number N never misses a smaller one that is committed later.
 */
const nextSequence = sql`update event_sequence set value = value + 1`

/**
 * The statements that record an event, and its delivery to the webhooks of the user.
 *
 * They must be the last of their transaction: one with an event waits here until all earlier events are committed, and
 * must not make others wait for its locks after that.
 */
export const addEvent = ({ user, type, data, at }: NewEvent): readonly Statement[] => {
  const id = `evt_${randomId()}`
  return [
    nextSequence,
    sql`
      insert into events (sequence, id, user_id, type, data, at)
      select value, cast(${id} as text), cast(${user} as text), cast(${type} as text), cast(${data} as text),
        cast(${at} as bigint)
      from event_sequence`,
    sql`
      insert into deliveries (webhook_id, event_sequence, created_at, due_at, attempts)
      select webhooks.id, event_sequence.value, cast(${at} as bigint), cast(${at} as bigint), 0
      from event_sequence
      join webhooks on webhooks.user_id = ${user}
      where webhooks.disabled_at is null
      and (
        webhooks.types is null
        or webhooks.types like ${`% ${type} %`}
        or webhooks.types like ${`% ${type.split('.', 1)[0]}.* %`}
      )
      and (
        select count(*)
        from (
          select 1
          from deliveries waiting
          where waiting.webhook_id = webhooks.id
          limit ${maxWaiting}
        ) counted
      ) < ${maxWaiting}`,
    sql`
      update webhooks
      set due_at = case
        when due_at < ${at} then due_at
        when paused_until > ${at} then paused_until
        else ${at}
      end
      where user_id = ${user}
      and exists (
        select 1
        from deliveries
        join event_sequence on event_sequence.value = deliveries.event_sequence
        where deliveries.webhook_id = webhooks.id
      )`,
  ]
}

/**
 * The statements that record a delivery to an address of the caller's own. They must be the last of their transaction,
 * as those of `addEvent`.
 */
export const addDelivery = ({ user, url, subject, body, at }: NewCallback): readonly Statement[] => [
  nextSequence,
  sql`
    delete from callbacks
    where subject = ${subject}
    and lease_until <= ${at}`,
  sql`
    insert into callbacks (id, sequence, user_id, url, subject, body, created_at, due_at, lease_until, attempts)
    select cast(${`msg_${randomId()}`} as text), value, cast(${user} as text), cast(${url} as text),
      cast(${subject} as text), cast(${body} as text), cast(${at} as bigint), cast(${at} as bigint), 0, 0
    from event_sequence`,
]

const randomId = () => randomUUID().replaceAll('-', '')

/** Whether a transaction has added an event or a delivery. */
export const addsEvents = (statements: readonly Statement[]): boolean =>
  statements.some(({ strings }) => strings === nextSequence.strings)

/** Events of the host app's own. */
export interface EventRecords {
  /**
   * Adds an event, for the user's streams and webhooks. Rejects with TypeError for one that a stream could not show.
   */
  addEvent(event: NewEvent): Promise<void>
}

/** The types to which webhooks and streams can subscribe. Those of the stream itself are not among them. */
const eventType = /^(?!stream\.)[a-z_]{1,40}\.[a-z_]{1,40}$/

const maxDataCharacters = 2 ** 20

const checkEvent = ({ user, type, data, at }: NewEvent): void => {
  checkUser(user)
  if (typeof type !== 'string' || !eventType.test(type)) throw new TypeError('type must be such as order.sent')
  if (typeof data !== 'string' || data.length > maxDataCharacters || !parsedObject(data))
    throw new TypeError(`data must be a JSON object as text, of at most ${maxDataCharacters} characters`)
  if (!Number.isSafeInteger(at)) throw new TypeError('at must be a time in milliseconds since 1970')
}

/** Events of all users. @param onEvents calls a listener after each transaction that has added one */
export const createEventStore = (database: Database, onEvents: EventStore['onEvents']): EventStore & EventRecords => ({
  onEvents,

  async addEvent(event) {
    checkEvent(event)
    await database.batch(addEvent(event))
  },

  async newestEvent() {
    const [row] = await database.query<{ value: number }>(sql`select value from event_sequence`)
    return Number(row?.value)
  },

  async eventsAfter(sequence, max) {
    return database.query<StoredEvent>(sql`
      select sequence, id, user_id as "user", type, data, at
      from events
      where sequence > ${sequence}
      order by sequence
      limit ${max}`)
  },

  async eventsOf(user, after, max) {
    return database.query<StoredEvent>(sql`
      select sequence, id, user_id as "user", type, data, at
      from events
      where user_id = ${user}
      and sequence > ${after}
      order by sequence
      limit ${max}`)
  },

  async findEvent(user, id) {
    const [found] = await database.query<{ sequence: number }>(sql`
      select sequence
      from events
      where id = ${id}
      and user_id = ${user}`)
    return found?.sequence
  },

  async newestEventOf(user, until) {
    const [found] = await database.query<Pick<StoredEvent, 'sequence' | 'id'>>(sql`
      select sequence, id
      from events
      where user_id = ${user}
      and sequence <= ${until}
      order by sequence desc
      limit 1`)
    return found
  },

  sweepEvents: createEventSweep(database),
})

import type { Database } from './database/database.ts'
import { clause, type Statement, sql } from './database/statement.ts'

/** What is removed after some time. */
export const retainedKinds = [
  'events',
  'deliveries',
  'usage',
  'audit',
  'videos',
  'verifications',
  'asset_batches',
  'idempotency_keys',
  'text_objects',
  'files',
] as const

export type RetainedKind = (typeof retainedKinds)[number]

/** How much there is that should have been removed. */
export interface OverdueRecords {
  /** Counts the rows of a kind from before a time (milliseconds since 1970) that must not stay: up to `max`. */
  countOverdue(kind: RetainedKind, before: number, max: number): Promise<number>
}

export const createOverdueStore = (database: Database): OverdueRecords => ({
  async countOverdue(kind, before, max) {
    const [counted] = await database.query(countRows(kind, before, max))
    return Number(counted?.count)
  },
})

type OldRows = (before: number) => Statement

/** Each reads the end of an index: PostgreSQL too, because it is asked for the rows in that order. */
const oldRows: Readonly<Record<Exclude<RetainedKind, 'events'>, OldRows>> = {
  deliveries: (before) => clause`deliveries where created_at < ${before} order by created_at`,
  usage: (before) => clause`text_usage where day < ${dayOf(before)} order by day`,
  audit: (before) => clause`audit_entries where at < ${before} order by at`,
  videos: (before) => clause`video_tasks where phase = 'ended' and ended_at < ${before} order by ended_at`,
  verifications: (before) => clause`face_verifications where created_at < ${before} order by created_at`,
  asset_batches: (before) => clause`asset_batches where ended_at < ${before} order by ended_at`,
  idempotency_keys: (before) => clause`idempotency_keys where expires_at < ${before} order by expires_at`,
  text_objects: (before) => clause`text_objects where expires_at < ${before} order by expires_at`,
  files: (before) => clause`files where expires_at < ${before} order by expires_at`,
}

export const countRows = (kind: RetainedKind, before: number, max: number): Statement =>
  kind === 'events'
    ? countEvents(before, max)
    : clause`select count(*) as count from (select 1 as one from ${oldRows[kind](before)} limit ${max}) counted`

/** The newest of each user stays. Those that are removed last are the newest of the old ones. */
const countEvents = (before: number, max: number): Statement => sql`
  select count(*) as count
  from (
    select user_id, sequence
    from events
    where at < ${before}
    order by at desc
    limit ${max}
  ) examined
  where exists (
    select 1
    from events newer
    where newer.user_id = examined.user_id
    and newer.sequence > examined.sequence
  )`

/** The first day of the month of a time, in UTC: usage is removed by whole months. */
export const dayOf = (time: number): string => `${new Date(time).toISOString().slice(0, 7)}-01`

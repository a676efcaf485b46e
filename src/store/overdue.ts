import { type Database, type Statement, sql } from './database/database.ts'

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
    const [counted] = await database.query(counts[kind](before, max))
    return Number(counted?.count)
  },
})

type Count = (before: number, max: number) => Statement

/** Each reads the end of an index: PostgreSQL too, because it is asked for the rows in that order. */
const counts: Readonly<Record<RetainedKind, Count>> = {
  // The newest of each user stays. Those that are removed last are the newest of the old ones.
  events: (before, max) => sql`
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
    )`,
  deliveries: (before, max) => sql`
    select count(*) as count
    from (
      select 1 as one
      from deliveries
      where created_at < ${before}
      order by created_at
      limit ${max}
    ) counted`,
  usage: (before, max) => sql`
    select count(*) as count
    from (
      select 1 as one
      from text_usage
      where day < ${dayOf(before)}
      order by day
      limit ${max}
    ) counted`,
  audit: (before, max) => sql`
    select count(*) as count
    from (
      select 1 as one
      from audit_entries
      where at < ${before}
      order by at
      limit ${max}
    ) counted`,
  videos: (before, max) => sql`
    select count(*) as count
    from (
      select 1 as one
      from video_tasks
      where phase = 'ended'
      and ended_at < ${before}
      order by ended_at
      limit ${max}
    ) counted`,
  verifications: (before, max) => sql`
    select count(*) as count
    from (
      select 1 as one
      from face_verifications
      where created_at < ${before}
      order by created_at
      limit ${max}
    ) counted`,
  asset_batches: (before, max) => sql`
    select count(*) as count
    from (
      select 1 as one
      from asset_batches
      where ended_at < ${before}
      order by ended_at
      limit ${max}
    ) counted`,
  idempotency_keys: (before, max) => sql`
    select count(*) as count
    from (
      select 1 as one
      from idempotency_keys
      where expires_at < ${before}
      order by expires_at
      limit ${max}
    ) counted`,
  text_objects: (before, max) => sql`
    select count(*) as count
    from (
      select 1 as one
      from text_objects
      where expires_at < ${before}
      order by expires_at
      limit ${max}
    ) counted`,
  files: (before, max) => sql`
    select count(*) as count
    from (
      select 1 as one
      from files
      where expires_at < ${before}
      order by expires_at
      limit ${max}
    ) counted`,
}

/** The first day of the month of a time, in UTC: usage is removed by whole months. */
export const dayOf = (time: number): string => `${new Date(time).toISOString().slice(0, 7)}-01`

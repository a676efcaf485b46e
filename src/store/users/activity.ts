import { type Clock, systemClock } from '../../../plugins/shared/clock.ts'
import { runOutsideRequests } from '../../../plugins/shared/http/current-request.ts'
import type { CredentialUse } from '../../../plugins/shared/identity/credential-use.ts'
import { type Log, noLog } from '../../../plugins/shared/problem.ts'
import type { Database } from '../database/database.ts'
import { type Statement, sql } from '../database/statement.ts'

/** When tokens and users were used last. */
export interface ActivityRecords {
  /** Notes a use of a credential. It is written a second later; no caller waits. */
  noteUse(use: CredentialUse): void
  /** Writes what was noted. Rejects when the database request fails. */
  flushUses(): Promise<void>
  /** Writes what was noted, if the database is reachable. Never rejects. */
  closeUses(): Promise<void>
}

/** How long uses are collected into one batch. */
const batchMs = 1_000
/** Processes note the same use within a minute; the first one writes it. */
const writtenEveryMs = 55_000
/** SQLite runs synchronously: all requests wait while a batch is written. */
const maxBatchRows = 100
/** Bound of the buffer while the database is unreachable. Beyond it uses are lost: the next ones are noted again. */
const maxBuffered = 20_000

/** Writes the times of the last uses, in batches, off the path of requests. */
export const createActivityStore = (
  database: Database,
  { clock = systemClock, log = noLog }: { readonly clock?: Clock; readonly log?: Log | undefined } = {},
): ActivityRecords => {
  const tokens = new Map<string, number>()
  const users = new Map<string, number>()
  let cancelTimer: (() => void) | undefined
  let writing: Promise<void> = Promise.resolve()

  const writeAll = async (): Promise<void> => {
    cancelTimer?.()
    cancelTimer = undefined
    for (;;) {
      const statements = [...take(tokens, touchToken), ...take(users, touchUser)]
      if (statements.length === 0) return
      await database.batch(statements)
    }
  }

  const flushUses = (): Promise<void> => {
    const flushed = writing.then(writeAll)
    writing = flushed.catch(() => {})
    return flushed
  }

  const flushSoon = (): void => {
    // What was not written is lost: the next use is noted again.
    runOutsideRequests(flushUses).catch((err: unknown) =>
      log.warn({ err }, 'the times of the last uses could not be written'),
    )
  }

  return {
    noteUse({ user, token, at }) {
      if (users.size >= maxBuffered || tokens.size >= maxBuffered) return
      users.set(user, at)
      if (token !== undefined) tokens.set(token, at)
      cancelTimer ??= clock.at(clock.now() + batchMs, flushSoon)
    },
    flushUses,
    async closeUses() {
      await flushUses().catch(() => {})
      cancelTimer?.()
    },
  }
}

/** The statements of some of the uses, always in the same order: two batches with the same rows cannot deadlock. */
const take = (uses: Map<string, number>, touch: (id: string, at: number) => Statement): readonly Statement[] => {
  const taken = [...uses].slice(0, maxBatchRows)
  for (const [id] of taken) uses.delete(id)
  return taken.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([id, at]) => touch(id, at))
}

const touchToken = (id: string, at: number): Statement => sql`
  update tokens
  set last_used_at = ${at}
  where id = ${id}
  and coalesce(last_used_at, 0) < ${at - writtenEveryMs}`

const touchUser = (id: string, at: number): Statement => sql`
  update users
  set last_active_at = ${at}
  where id = ${id}
  and coalesce(last_active_at, 0) < ${at - writtenEveryMs}`

import { Buffer } from 'node:buffer'
import type { VideoClaims } from '../../../../plugins/video-generation/store/queue.ts'
import { dropUsesOf, usesPersons } from '../../consents/consent-uses.ts'
import type { Database } from '../../database/database.ts'
import { UniqueViolationError } from '../../database/error.ts'
import { sql } from '../../database/statement.ts'
import { endTaskHold, keepTaskHold } from '../holds.ts'
import type { Notices } from '../notices.ts'
import { forgetRequest, isLong, isWaitingFull, readRequest, writePieces } from '../requests.ts'
import { readClaimed, readTasks } from '../task-rows.ts'
import { addClaimed, addToPool } from './addition.ts'
import { claimNext, enterPool, isPoolFull, returnTurn, signalPool } from './pool.ts'

/** Tasks from their creation to the upstream's answer. */
export const videoClaims = (database: Database, notices: Notices): VideoClaims => {
  const forget = (id: string, bytes: unknown) => forgetRequest(database, id, bytes)
  return {
    async addVideoTask(task, limits, leaseUntil) {
      const { id, request } = task
      const long = isLong(request)
      if (long && limits && (await isWaitingFull(database, task, limits))) return { outcome: 'waiting-full' }
      // The task makes its request valid, so it is added last.
      if (long) await writePieces(database, id, request, task.createdAt)
      const row = { ...task, request: long ? '' : request, bytes: Buffer.byteLength(request) }
      const added = await database.transaction(function* () {
        if (task.holds) yield keepTaskHold(id)
        if (!limits) return yield* addClaimed(row, leaseUntil)
        const outcome = yield* addToPool(row, limits, leaseUntil)
        if (outcome.outcome === 'waiting-full') yield* endTaskHold(id)
        if (outcome.outcome === 'waiting') yield* notices.tellStatuses([id], task.createdAt)
        return outcome
      })
      if (added.outcome === 'waiting-full') await forget(id, row.bytes)
      return added.outcome === 'claimed' ? { outcome: 'claimed', task: { ...added.task, request } } : added
    },

    async claimVideoTask(pool, limits, now, leaseUntil) {
      if (await isPoolFull(database, pool, limits, now)) return undefined
      const claimed = await database.transaction(function* () {
        const state = yield* enterPool(pool, now)
        const id = yield* claimNext({ pool, state, limits, now, leaseUntil })
        if (id === undefined) return undefined
        const [row = {}] = yield sql`
        select request, bytes
        from video_tasks
        where id = ${id}`
        return { task: yield* readClaimed(id), row }
      })
      return claimed && { ...claimed.task, request: await readRequest(database, claimed.task.id, claimed.row) }
    },

    async poolsWithWaiting(now) {
      const pools = await database.query<{ pool: string }>(sql`
        with recursive waiting (pool) as (
          select min(pool)
          from video_tasks
          where phase = 'waiting'
          union all
          select (
            select min(pool)
            from video_tasks
            where phase = 'waiting'
            and pool > waiting.pool
          )
          from waiting
          where waiting.pool is not null
        )
        select waiting.pool
        from waiting
        left join video_pools on video_pools.pool = waiting.pool
        where waiting.pool is not null
        and coalesce(video_pools.paused_until, 0) <= ${now}`)
      return pools.map(({ pool }) => pool)
    },

    async confirmVideoTask({ id, attempts }, upstreamId, at, dueAt) {
      try {
        let bytes: unknown = 0
        const isConfirmed = await database.transaction(function* () {
          const [confirmed] = yield sql`
            update video_tasks
            set phase = 'submitted', upstream_id = ${upstreamId}, submitted_at = ${at}, request = null,
              due_at = case when due_at < ${dueAt} then due_at else ${dueAt} end
            where id = ${id}
            and attempts = ${attempts}
            and phase = 'submitting'
            returning pool, bytes`
          bytes = confirmed?.bytes
          if (confirmed?.pool !== undefined) {
            yield sql`
              update video_pools
              set pauses = 0
              where pool = ${confirmed.pool}
              and pauses > 0`
          }
          if (confirmed) {
            yield* notices.tellStatuses([id], at)
            return true
          }
          // This call, or the search for a lost answer, has confirmed it before.
          const [known] = yield sql`
            select id
            from video_tasks
            where id = ${id}
            and attempts = ${attempts}
            and upstream_id = ${upstreamId}`
          return known !== undefined
        })
        await forget(id, bytes)
        return isConfirmed
      } catch (error) {
        if (error instanceof UniqueViolationError) return false
        throw error
      }
    },

    async releaseVideoTask({ id, attempts }, at, signal) {
      return database.transaction(function* () {
        const [released] = yield sql`
          update video_tasks
          set phase = 'waiting', nonce = null, claimed_at = null, due_at = null, lease_until = 0
          where id = ${id}
          and attempts = ${attempts}
          and phase = 'submitting'
          and place is not null
          returning pool, user_id as "user"`
        if (released?.pool === undefined) return false
        yield returnTurn(String(released.pool), String(released.user))
        if (signal) yield* signalPool(String(released.pool), at, signal)
        yield* notices.tellStatuses([id], at)
        return true
      })
    },

    async failVideoTask({ id, attempts }, task, at, undecided = false) {
      const failed = await database.transaction(function* () {
        const [row] = yield sql`
          update video_tasks
          set phase = 'ended', status = 'failed', task = ${task}, ended_at = ${at}, due_at = null, request = null,
            undecided_at = ${undecided ? at : undefined}
          where id = ${id}
          and attempts = ${attempts}
          and (phase = 'submitting' or (phase = 'waiting' and due_at is not null))
          returning bytes`
        if (row) {
          // What an unknown outcome has used is decided later.
          if (!undecided) yield* endTaskHold(id)
          yield* notices.tellStatuses([id], at)
        }
        return row
      })
      await forget(id, failed?.bytes)
      return failed !== undefined
    },

    async dropVideoTask({ id, attempts }) {
      const dropped = await database.transaction(function* () {
        const [row] = yield sql`
          delete from video_tasks
          where id = ${id}
          and attempts = ${attempts}
          and phase = 'submitting'
          returning bytes, fields`
        if (row) yield* endTaskHold(id)
        if (row && usesPersons(row.fields)) yield dropUsesOf(id)
        return row
      })
      await forget(id, dropped?.bytes)
      return dropped !== undefined
    },

    async unsettledVideoTasks(now, max) {
      // Two statements, because each has an index.
      const unsettled = await database.batch([
        sql`
          select id
          from video_tasks
          where phase = 'submitting'
          and due_at <= ${now}
          order by due_at, id
          limit ${max}`,
        sql`
          select id
          from video_tasks
          where phase = 'submitting'
          and due_at is null
          and lease_until < ${now}
          order by lease_until, id
          limit ${max}`,
      ])
      return readTasks(database, unsettled.flat().slice(0, max))
    },

    async deferVideoClaim({ id, attempts }, dueAt) {
      await database.query(sql`
        update video_tasks
        set due_at = ${dueAt}
        where id = ${id}
        and attempts = ${attempts}
        and phase = 'submitting'`)
    },

    async knownUpstreamIds(ids) {
      const rows = await database.batch(
        ids.map(
          (id) => sql`
            select upstream_id as id
            from video_tasks
            where upstream_id = ${id}`,
        ),
      )
      return new Set(rows.flat().map(({ id }) => String(id)))
    },
  }
}

import { Buffer } from 'node:buffer'
import type { NewVideoTask, PoolLimits, VideoAddition, VideoTaskStore } from '../../plugins/video-generation/store.ts'
import { type Database, type Statement, type Steps, sql } from './database.ts'
import { UniqueViolationError } from './error.ts'
import { videoCounts } from './video-counts.ts'
import { videoEnds } from './video-ends.ts'
import { listVideoTasks } from './video-lists.ts'
import { moveTasks, signalPool, videoCopies } from './video-moves.ts'
import { tellStatuses } from './video-notices.ts'
import { placeInQueue } from './video-place.ts'
import { beginTurn, claimNext, enterPool, isPoolFull, returnTurn, setNonce } from './video-queue.ts'
import { readClaimed, readTasks } from './video-rows.ts'

/** The tasks of video generation, and their queue. */
export const createVideoTaskStore = (database: Database): VideoTaskStore => ({
  async addVideoTask(task, limits, leaseUntil, describe) {
    return database.transaction(function* () {
      if (!limits) return yield* addClaimed(task, leaseUntil)
      const added = yield* addToPool(task, limits, leaseUntil)
      if (added.outcome === 'waiting') yield* tellStatuses([task.id], task.createdAt, describe)
      return added
    })
  },

  async claimVideoTask(pool, limits, now, leaseUntil) {
    if (await isPoolFull(database, pool, limits, now)) return undefined
    return database.transaction(function* () {
      const state = yield* enterPool(pool, now)
      const id = yield* claimNext({ pool, state, limits, now, leaseUntil })
      return id === undefined ? undefined : yield* readClaimed(id)
    })
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

  videoQueuePlace: placeInQueue(database),

  async confirmVideoTask({ id, attempts }, upstreamId, at, dueAt, describe) {
    try {
      return await database.transaction(function* () {
        const [confirmed] = yield sql`
            update video_tasks
            set phase = 'submitted', upstream_id = ${upstreamId}, submitted_at = ${at}, request = null,
              due_at = case when due_at < ${dueAt} then due_at else ${dueAt} end
            where id = ${id}
            and attempts = ${attempts}
            and phase = 'submitting'
            returning pool`
        if (confirmed?.pool !== undefined) {
          yield sql`
              update video_pools
              set pauses = 0
              where pool = ${confirmed.pool}
              and pauses > 0`
        }
        if (confirmed) {
          yield* tellStatuses([id], at, describe)
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
    } catch (error) {
      if (error instanceof UniqueViolationError) return false
      throw error
    }
  },

  async releaseVideoTask({ id, attempts }, at, signal, describe) {
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
      yield* tellStatuses([id], at, describe)
      return true
    })
  },

  async failVideoTask({ id, attempts }, task, at, describe) {
    return database.transaction(function* () {
      const [failed] = yield sql`
          update video_tasks
          set phase = 'ended', status = 'failed', task = ${task}, ended_at = ${at}, due_at = null, request = null
          where id = ${id}
          and attempts = ${attempts}
          and phase = 'submitting'
          returning id`
      if (failed) yield* tellStatuses([id], at, describe)
      return failed !== undefined
    })
  },

  async dropVideoTask({ id, attempts }) {
    const dropped = await database.query(sql`
        delete from video_tasks
        where id = ${id}
        and attempts = ${attempts}
        and phase = 'submitting'
        returning id`)
    return dropped.length === 1
  },

  async unsettledVideoTasks(now, max) {
    const unsettled = await database.query<{ id: string }>(sql`
        select id
        from video_tasks
        where phase = 'submitting'
        and lease_until < ${now}
        and (due_at is null or due_at <= ${now})
        order by lease_until, id
        limit ${max}`)
    return readTasks(database, unsettled)
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

  async dueVideoTasks(now, max) {
    const due = await database.query<{ id: string }>(sql`
        select id
        from video_tasks
        where phase = 'submitted'
        and due_at <= ${now}
        order by due_at, id
        limit ${max}`)
    return readTasks(database, due)
  },

  async hintVideoTask(id, at) {
    // The value differs from the one that a poll has read: so the poll does not replace it.
    const hinted = await database.query(sql`
        update video_tasks
        set due_at = case when due_at = ${at} then due_at - 1 else ${at} end
        where id = ${id}
        and phase in ('submitting', 'submitted')
        returning id`)
    return hinted.length === 1
  },

  async moveVideoTasks(moves, at, describe) {
    return moves.length === 0 ? [] : database.transaction(() => moveTasks(moves, at, describe))
  },

  ...videoCopies(database),

  ...videoCounts(database),

  ...listVideoTasks(database),

  ...videoEnds(database),
})

const insertWaiting = (task: NewVideoTask, pool: string, place: number): Statement => sql`
  insert into video_tasks (
    id, user_id, token_id, model, service_tier, pool, place, phase, status, created_at, expires_at, lease_until, attempts, bytes,
    fields, request
  )
  values (
    ${task.id}, ${task.user}, ${task.token}, ${task.model}, ${task.serviceTier}, ${pool}, ${place}, 'waiting', 'queued',
    ${task.createdAt}, ${task.expiresAt}, 0, 0, ${Buffer.byteLength(task.request)}, ${task.fields}, ${task.request}
  )`

const insertClaimed = (task: NewVideoTask, leaseUntil: number): Statement => sql`
  insert into video_tasks (
    id, user_id, token_id, model, service_tier, pool, phase, status, created_at, expires_at, claimed_at, lease_until, attempts,
    bytes, fields, request
  )
  values (
    ${task.id}, ${task.user}, ${task.token}, ${task.model}, ${task.serviceTier}, ${poolOf(task)}, 'submitting', 'queued',
    ${task.createdAt}, ${task.expiresAt}, ${task.createdAt}, ${leaseUntil}, 1, ${Buffer.byteLength(task.request)},
    ${task.fields}, ${task.request}
  )`

const poolOf = ({ model, serviceTier }: NewVideoTask): string | undefined =>
  serviceTier === 'flex' ? undefined : model

function* addClaimed(task: NewVideoTask, leaseUntil: number): Steps<VideoAddition> {
  yield insertClaimed(task, leaseUntil)
  yield* setNonce(task.id, task.user)
  return { outcome: 'claimed', task: yield* readClaimed(task.id) }
}

function* addToPool(task: NewVideoTask, limits: PoolLimits, leaseUntil: number): Steps<VideoAddition> {
  const { id, user, model: pool, createdAt: now } = task
  const state = yield* enterPool(pool, now)
  yield beginTurn(pool, user, state.pass)
  yield insertWaiting(task, pool, state.turn)
  const claimed = yield* claimNext({ pool, state, limits, now, leaseUntil }, { user, place: state.turn })
  if (claimed !== undefined) return { outcome: 'claimed', task: yield* readClaimed(id) }
  const { waitingPerUser = Number.POSITIVE_INFINITY, waitingBytesPerUser = Number.POSITIVE_INFINITY } = limits
  const [waiting] = yield sql`
    select count(*) as tasks, sum(bytes) as bytes
    from video_tasks
    where pool = ${pool}
    and phase = 'waiting'
    and user_id = ${user}`
  if (Number(waiting?.tasks) <= waitingPerUser && Number(waiting?.bytes) <= waitingBytesPerUser) {
    return { outcome: 'waiting' }
  }
  yield sql`
    delete from video_tasks
    where id = ${id}`
  return { outcome: 'waiting-full' }
}

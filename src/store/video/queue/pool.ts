import { randomInt } from 'node:crypto'
import { minNonce, nonceCount } from '../../../../plugins/video-generation/store/nonces.ts'
import type { PoolLimits, PoolSignal } from '../../../../plugins/video-generation/store/pool.ts'
import { learntSlots, pauseMsAfter, quietMs, slotsOf } from '../../../../plugins/video-generation/store/slots.ts'
import { nextUser, strideOf, type WaitingUser } from '../../../../plugins/video-generation/store/turns.ts'
import type { Database, Steps } from '../../database/database.ts'
import { type Statement, sql } from '../../database/statement.ts'
import { lockUser } from '../../database/user-locks.ts'

interface Pool {
  readonly turn: number
  /** The pass at which the last task was started. */
  readonly pass: number
  /** Number of slots that the upstream has, as its 429s have told. */
  readonly learnt?: number
  readonly pausedUntil: number
  /** Number of pauses since the upstream has accepted a task. */
  readonly pauses: number
}

/**
 * Locks a pool until the end of the transaction, and reads it. It must be the first statement: transactions that start
 * tasks of one pool then run one after the other.
 */
// The casts make SQLite divide integers.
const lockPool = (pool: string, now: number): Statement => sql`
  insert into video_pools (pool, turn, pass, paused_until, pauses, used_at)
  values (${pool}, 1, 0, 0, 0, ${now})
  on conflict (pool) do update
  set turn = video_pools.turn + 1,
    used_at = excluded.used_at,
    learnt = video_pools.learnt + case
      when video_pools.learnt_at < ${now} then (cast(${now} as bigint) - video_pools.learnt_at) / cast(${quietMs} as bigint)
      else 0
    end,
    learnt_at = case
      when video_pools.learnt_at < ${now} then cast(${now} as bigint) - (cast(${now} as bigint) - video_pools.learnt_at) % cast(${quietMs} as bigint)
      else video_pools.learnt_at
    end
  returning turn, pass, learnt, paused_until as "pausedUntil", pauses`

/** The users with waiting tasks: one index search for each, however many tasks they have. */
const waitingUsers = (pool: string): Statement => sql`
  with recursive waiting (user_id) as (
    select min(user_id)
    from video_tasks
    where pool = ${pool}
    and phase = 'waiting'
    union all
    select (
      select min(user_id)
      from video_tasks
      where pool = ${pool}
      and phase = 'waiting'
      and user_id > waiting.user_id
    )
    from waiting
    where waiting.user_id is not null
  )
  select waiting.user_id as "user", coalesce(video_turns.pass, 0) as pass, (
      select min(place)
      from video_tasks
      where pool = ${pool}
      and phase = 'waiting'
      and user_id = waiting.user_id
    ) as place
  from waiting
  left join video_turns on video_turns.pool = ${pool} and video_turns.user_id = waiting.user_id
  where waiting.user_id is not null`

const runningTasks = (pool: string): Statement => sql`
  select user_id as "user", count(*) as running
  from video_tasks
  where pool = ${pool}
  and phase in ('submitting', 'submitted')
  and undecided_at is null
  group by user_id`

/** The users with waiting tasks. Undefined: all slots are taken. */
function* usersIfFree(pool: string, slots: number): Steps<readonly WaitingUser[] | undefined> {
  const rows = yield runningTasks(pool)
  if (rows.reduce((sum, { running }) => sum + Number(running), 0) >= slots) return undefined
  const running = new Map(rows.map((row) => [row.user, Number(row.running)]))
  const waiting = (yield waitingUsers(pool)) as unknown as readonly Omit<WaitingUser, 'running'>[]
  return waiting.map((each) => ({ ...each, running: running.get(each.user) ?? 0 }))
}

/**
 * Whether no task of a pool can start now, without a lock: most attempts find no free slot, and should write nothing. A
 * task that ends at the same time is noticed by the process that ends it.
 */
export const isPoolFull = async (
  database: Database,
  pool: string,
  limits: PoolLimits,
  now: number,
): Promise<boolean> => {
  const [row] = await database.query<{ running: number; learnt?: number; learntAt?: number; pausedUntil?: number }>(sql`
    select count(*) as running, max(video_pools.learnt) as learnt, max(video_pools.learnt_at) as "learntAt",
      max(video_pools.paused_until) as "pausedUntil"
    from video_tasks
    left join video_pools on video_pools.pool = video_tasks.pool
    where video_tasks.pool = ${pool}
    and video_tasks.phase in ('submitting', 'submitted')
    and video_tasks.undecided_at is null`)
  const { running = 0, learnt, learntAt = now, pausedUntil = 0 } = row ?? {}
  const raised = Math.max(0, Math.floor((now - learntAt) / quietMs))
  return pausedUntil > now || running >= slotsOf(learnt === undefined ? {} : { learnt: learnt + raised }, limits)
}

/** Locks a pool. The first step of a transaction that may start a task. */
export function* enterPool(pool: string, now: number): Steps<Pool> {
  const [row] = yield lockPool(pool, now)
  return row as unknown as Pool
}

/**
 * Claims the task whose turn it is, after `enterPool`. Returns its id, or undefined when no slot is free or none waits.
 *
 * @param only claims nothing if it is the turn of another task
 */
export function* claimNext(
  { pool, state, limits, now, leaseUntil }: ClaimRequest,
  only?: { readonly user: string; readonly place: number },
): Steps<string | undefined> {
  if (state.pausedUntil > now) return undefined
  const users = yield* usersIfFree(pool, slotsOf(state, limits))
  const next = users && nextUser(users, limits)
  if (!next || (only && (next.user !== only.user || next.place !== only.place))) return undefined
  const [claimed] = yield sql`
    update video_tasks
    set phase = 'submitting', lease_until = ${leaseUntil}, claimed_at = ${now}, due_at = null, attempts = attempts + 1
    where pool = ${pool}
    and user_id = ${next.user}
    and place = ${next.place}
    and phase = 'waiting'
    returning id`
  // Its user has cancelled it since it was read.
  if (!claimed) return undefined
  const id = String(claimed.id)
  yield* setNonce(id, next.user)
  yield sql`
    update video_pools
    set pass = ${Math.max(next.pass, state.pass)}
    where pool = ${pool}`
  const stride = strideOf(next.user, limits)
  yield sql`
    update video_turns
    set pass = ${next.pass + stride}, stride = ${stride}
    where pool = ${pool}
    and user_id = ${next.user}`
  return id
}

/** A user adds a task to a pool, and begins at the pool's pass at least. */
export const beginTurn = (pool: string, user: string, pass: number): Statement => sql`
  insert into video_turns (pool, user_id, pass, stride)
  values (${pool}, ${user}, ${pass}, 0)
  on conflict (pool, user_id) do update
  set pass = excluded.pass
  where video_turns.pass < excluded.pass`

/** The turn of a user led to nothing: it is given back. */
export const returnTurn = (pool: string, user: string): Statement => sql`
  update video_turns
  set pass = pass - stride
  where pool = ${pool}
  and user_id = ${user}`

interface ClaimRequest {
  readonly pool: string
  readonly state: Pool
  readonly limits: PoolLimits
  readonly now: number
  readonly leaseUntil: number
}

/**
 * Gives a claim its nonce: the seconds until the task expires, less a random number, and less than that if another open
 * claim of the user has it. The lock makes claims of one user choose one after the other.
 */
export function* setNonce(id: string, user: string): Steps {
  yield lockUser(user)
  const offset = randomInt(nonceCount)
  yield sql`
    update video_tasks
    set nonce = (
      with recursive numbers (nonce, step) as (
        select
          case
            when expires_at - claimed_at < ${(minNonce + 2 * nonceCount) * 1000} then ${minNonce + offset}
            else (expires_at - claimed_at) / 1000 - ${offset}
          end,
          case when expires_at - claimed_at < ${(minNonce + 2 * nonceCount) * 1000} then 1 else -1 end
        union all
        select numbers.nonce + numbers.step, numbers.step
        from numbers
        where exists (
          select 1
          from video_tasks other
          where other.user_id = video_tasks.user_id
          and other.nonce = numbers.nonce
          and other.phase = 'submitting'
        )
      )
      select case when min(step) > 0 then max(nonce) else min(nonce) end
      from numbers
    )
    where id = ${id}`
}

/** Records what a 429 says about a pool. The task of the rejected call no longer counts as running. */
export function* signalPool(pool: string, at: number, { kind, pauseMs }: PoolSignal): Steps {
  const state = yield* enterPool(pool, at)
  const [row] = yield sql`
    select count(*) as running
    from video_tasks
    where pool = ${pool}
    and phase in ('submitting', 'submitted')
    and undecided_at is null`
  const running = Number(row?.running)
  if (kind === 'running') {
    const learnt = learntSlots(running, state.learnt)
    yield sql`
      update video_pools
      set learnt = ${learnt}, learnt_at = ${at}
      where pool = ${pool}`
    // When a task of this pool ends, there is a slot. Without one, the slots are taken by tasks of others.
    if (running > 0) return
  }
  if (pauseMs === undefined && state.pausedUntil > at) return
  const until = at + (pauseMs ?? pauseMsAfter(state.pauses))
  yield sql`
    update video_pools
    set paused_until = case when paused_until > ${until} then paused_until else ${until} end, pause_kind = ${kind},
      pauses = pauses + 1
    where pool = ${pool}`
}

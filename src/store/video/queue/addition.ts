import type { PoolLimits } from '../../../../plugins/video-generation/store/pool.ts'
import type { VideoAddition } from '../../../../plugins/video-generation/store/queue.ts'
import { type NewVideoTask, poolOf } from '../../../../plugins/video-generation/tasks/task.ts'
import type { Steps } from '../../database/database.ts'
import { type Statement, sql } from '../../database/statement.ts'
import { addUses } from '../asset-uses.ts'
import { isWithin, waitingOf } from '../requests.ts'
import { type Claimed, readClaimed } from '../task-rows.ts'
import { beginTurn, claimNext, enterPool, setNonce } from './pool.ts'

/** A task as its row has it: the request is empty if it is in pieces. */
export type TaskRow = NewVideoTask & { readonly bytes: number }

const insertWaiting = (task: TaskRow, pool: string, place: number): Statement => sql`
  insert into video_tasks (
    id, user_id, token_id, model, service_tier, pool, place, phase, status, created_at, expires_at, lease_until, attempts, bytes,
    fields, request
  )
  values (
    ${task.id}, ${task.user}, ${task.token}, ${task.model}, ${task.serviceTier}, ${pool}, ${place}, 'waiting', 'queued',
    ${task.createdAt}, ${task.expiresAt}, 0, 0, ${task.bytes}, ${task.fields}, ${task.request}
  )`

const insertClaimed = (task: TaskRow, leaseUntil: number): Statement => sql`
  insert into video_tasks (
    id, user_id, token_id, model, service_tier, pool, phase, status, created_at, expires_at, claimed_at, lease_until, attempts,
    bytes, fields, request
  )
  values (
    ${task.id}, ${task.user}, ${task.token}, ${task.model}, ${task.serviceTier}, ${slotsOf(task)}, 'submitting', 'queued',
    ${task.createdAt}, ${task.expiresAt}, ${task.createdAt}, ${leaseUntil}, 1, ${task.bytes},
    ${task.fields}, ${task.request}
  )`

const slotsOf = (task: NewVideoTask): string | undefined => (task.serviceTier === 'flex' ? undefined : poolOf(task))

export type Added =
  | { readonly outcome: 'claimed'; readonly task: Claimed }
  | Exclude<VideoAddition, { readonly outcome: 'claimed' }>

/** Adds a task and claims it. */
export function* addClaimed(task: TaskRow, leaseUntil: number): Steps<Added> {
  yield insertClaimed(task, leaseUntil)
  yield* setNonce(task.id, task.user)
  if (task.assets) yield addUses(task, task.assets)
  return { outcome: 'claimed', task: yield* readClaimed(task.id) }
}

/** Adds a task to its pool, and claims it if it is its turn. */
export function* addToPool(task: TaskRow, limits: PoolLimits, leaseUntil: number): Steps<Added> {
  const { id, user, createdAt: now } = task
  const pool = poolOf(task)
  const state = yield* enterPool(pool, now)
  yield beginTurn(pool, user, state.pass)
  yield insertWaiting(task, pool, state.turn)
  if (task.assets) yield addUses(task, task.assets)
  const claimed = yield* claimNext({ pool, state, limits, now, leaseUntil }, { user, place: state.turn })
  if (claimed !== undefined) return { outcome: 'claimed', task: yield* readClaimed(id) }
  const [waiting] = yield waitingOf(pool, user)
  if (isWithin(waiting, limits)) return { outcome: 'waiting' }
  yield sql`
    delete from video_tasks
    where id = ${id}`
  return { outcome: 'waiting-full' }
}

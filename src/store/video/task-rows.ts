import type { ClaimedVideoTask } from '../../../plugins/video-generation/store/queue.ts'
import type { VideoTask } from '../../../plugins/video-generation/tasks/task.ts'
import type { Database, Row, Steps } from '../database/database.ts'
import { fragment, type Statement, sql } from '../database/statement.ts'

/** The start of a statement that reads tasks. */
export const selectTasks = fragment`
  select id, user_id as "user", token_id as token, model, nullif(pool, model) as pool, service_tier as "serviceTier", phase, status, fields, task,
    final_task as "finalTask", result, nonce, upstream_id as "upstreamId", created_at as "createdAt", expires_at as "expiresAt",
    claimed_at as "claimedAt", submitted_at as "submittedAt", running_at as "runningAt", undecided_at as "undecidedAt",
    ended_at as "endedAt", lease_until as "leaseUntil", due_at as "dueAt", attempts
  from video_tasks`

/** Reads a task. */
export const selectTask = (id: string): Statement => sql`
  ${selectTasks}
  where id = ${id}`

/** A row of `selectTask`. */
export const taskOf = (row: Row): VideoTask => row as unknown as VideoTask

/** Reads tasks, in that order, without those that have been deleted. */
export const readTasks = async (
  database: Database,
  ids: readonly { readonly id?: unknown }[],
): Promise<readonly VideoTask[]> =>
  ids.length === 0 ? [] : (await database.batch(ids.map(({ id }) => selectTask(String(id))))).flat().map(taskOf)

/** A claimed task without its request. */
export type Claimed = Omit<ClaimedVideoTask, 'request'>

/** Reads a claimed task. */
export function* readClaimed(id: string): Steps<Claimed> {
  const [task] = yield selectTask(id)
  return task as unknown as Claimed
}

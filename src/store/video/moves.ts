import { compareTexts } from '../../../plugins/shared/text.ts'
import { moveStepOf } from '../../../plugins/video-generation/store/moves.ts'
import type { MovedVideoTask, VideoMove, VideoMoves } from '../../../plugins/video-generation/store/queue.ts'
import { poolOf, type VideoTask, type VideoUsage } from '../../../plugins/video-generation/tasks/task.ts'
import type { Database, Steps } from '../database/database.ts'
import { sql } from '../database/statement.ts'
import { addUsage, modelName } from '../usage/usage.ts'
import { endTaskHold } from './holds.ts'
import type { Notices } from './notices.ts'
import { readTasks, selectTask, taskOf } from './task-rows.ts'

/** Tasks that the upstream has. */
export const videoPolls = (database: Database, notices: Notices): VideoMoves => ({
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

  async moveVideoTasks(moves, at) {
    return moves.length === 0 ? [] : database.transaction(() => moveTasks(moves, at, notices))
  },
})

/** The steps of `moveVideoTasks`. */
function* moveTasks(moves: readonly VideoMove[], at: number, notices: Notices): Steps<readonly MovedVideoTask[]> {
  const moved: Moved[] = []
  // Always in the order of the ids: two transactions with the same tasks cannot deadlock.
  for (const move of moves.toSorted((a, b) => compareTexts(a.id, b.id))) {
    const [row] = yield selectTask(move.id)
    const done = row && (yield* moveTask(taskOf(row), move, at))
    if (done) moved.push(done)
  }
  for (const { task, freed } of moved) {
    if (!freed) continue
    // The vendor bills only what it reports; of a success without a report, what was held counts.
    yield* endTaskHold(task.id, usageOf(task, moves) ?? (hasSucceeded(task, moves) ? {} : undefined))
    yield* bookUsage(task, moves, at)
  }
  yield* leavePools(moved, at)
  const ids = moved.map(({ task }) => task.id)
  yield* notices.tellStatuses(ids, at)
  return moved
}

/** `hadSlot`: whether it took a slot before the move. */
type Moved = MovedVideoTask & { readonly hadSlot: boolean }

function* moveTask(before: VideoTask, move: VideoMove, at: number): Steps<Moved | undefined> {
  const { id, status, readDueAt, dueAt } = move
  const step = moveStepOf(before, move, at)
  const { hasChanged, ends, copies, overruns, hadSlot } = step
  const [done] = yield sql`
    update video_tasks
    set phase = ${step.phase},
      status = ${step.status},
      task = coalesce(${step.task}, task),
      final_task = ${step.finalTask},
      freed_at = ${ends ? at : undefined},
      running_at = coalesce(running_at, ${status === 'running' ? at : undefined}),
      undecided_at = ${step.undecidedAt},
      ended_at = ${step.endedAt},
      lease_until = 0,
      due_at = case
        when ${Number(ends)} = 1 then cast(${copies ? at : undefined} as bigint)
        when due_at = ${readDueAt ?? before.dueAt} then cast(${dueAt} as bigint)
        else due_at
      end
    where id = ${id}
    and phase = 'submitted'
    and status = ${before.status}
    and coalesce(undecided_at, 0) = ${before.undecidedAt ?? 0}
    returning id`
  if (!done || !(hasChanged || overruns)) return undefined
  const [after] = yield selectTask(id)
  return after && { task: taskOf(after), freed: ends, overruns, hadSlot }
}

const usageOf = (task: VideoTask, moves: readonly VideoMove[]): VideoUsage | undefined =>
  moves.find(({ id }) => id === task.id)?.usage

const hasSucceeded = (task: VideoTask, moves: readonly VideoMove[]): boolean =>
  moves.some(({ id, status }) => id === task.id && status === 'succeeded')

function* bookUsage(task: VideoTask, moves: readonly VideoMove[], at: number): Steps {
  const usage = usageOf(task, moves)
  if (!usage) return
  yield addUsage({
    ...{ user: task.user, token: task.token ?? '', model: modelName(task.model) },
    day: new Date(at).toISOString().slice(0, 10),
    ...{ calls: 1, unreported: Number(usage.completionTokens === undefined) },
    ...{ input: 0, cachedInput: 0, output: usage.completionTokens ?? 0, reasoning: 0 },
    // Never undefined: it tells the usage of videos from that of text.
    ...{ videoSeconds: usage.seconds ?? 0, cost: usage.cost },
  })
}

/**
 * Tasks have left the upstream's queue or their slots: a pool that paused for that goes on, and learns how long tasks
 * take.
 */
function* leavePools(moved: readonly Moved[], at: number): Steps {
  const pooled = moved.filter(({ task }) => task.serviceTier !== 'flex')
  for (const { task, freed, hadSlot } of pooled.toSorted((a, b) => compareTexts(poolOf(a.task), poolOf(b.task)))) {
    const ranMs = freed && hadSlot ? Math.max(0, at - (task.submittedAt ?? at)) : undefined
    yield sql`
      update video_pools
      set paused_until = case when pause_kind = 'queue' then 0 else paused_until end,
        mean_ms = case
          when cast(${ranMs} as bigint) is null then mean_ms
          when mean_ms is null then ${ranMs}
          else (7 * mean_ms + cast(${ranMs} as bigint)) / 8
        end
      where pool = ${poolOf(task)}`
  }
}

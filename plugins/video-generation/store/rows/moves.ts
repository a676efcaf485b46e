import { moveStepOf } from '../moves.ts'
import type { MovedVideoTask, VideoMove, VideoMoves } from '../queue.ts'
import { Pool } from './pool.ts'
import {
  dueTasks,
  type QueueRows,
  readTask,
  type StoredTask,
  taskIn,
  taskLists,
  writeAndTell,
  writeTask,
} from './task.ts'
import { type Transaction, transact } from './transaction.ts'

/** Tasks that the upstream has. */
export const movesOn = (rows: QueueRows): VideoMoves => ({
  dueVideoTasks: (now, max) => dueTasks(rows, taskLists.submitted, now, max),

  hintVideoTask: (id, at) =>
    transact(rows.store, async (transaction) => {
      const task = await readTask(transaction, id)
      if (task?.phase !== 'submitting' && task?.phase !== 'submitted') return false
      // The value differs from the one that a poll has read: so the poll does not replace it.
      writeTask(transaction, { ...task, dueAt: task.dueAt === at ? at - 1 : at })
      return true
    }),

  async moveVideoTasks(moves, at) {
    if (moves.length === 0) return []
    return transact(rows.store, async (transaction) => {
      await Promise.all(moves.map(({ id }) => readTask(transaction, id)))
      const moved: MovedVideoTask[] = []
      for (const move of moves) {
        const task = await readTask(transaction, move.id)
        const done = task?.phase === 'submitted' && (await moveTask(transaction, rows, task, move, at))
        if (done) moved.push(done)
      }
      return moved
    })
  },
})

const moveTask = async (
  transaction: Transaction,
  rows: QueueRows,
  before: StoredTask,
  move: VideoMove,
  at: number,
): Promise<MovedVideoTask | undefined> => {
  const { hasChanged, ends, copies, overruns, hadSlot, ...step } = moveStepOf(before, move, at)
  const next = before.dueAt === (move.readDueAt ?? before.dueAt) ? move.dueAt : before.dueAt
  const runningAt = before.runningAt ?? (move.status === 'running' ? at : undefined)
  const dueAt = ends ? (copies ? at : undefined) : next
  const task = withoutUndefined({ ...before, ...step, task: step.task ?? before.task, runningAt, dueAt, leaseUntil: 0 })
  if (!hasChanged && !overruns) {
    writeTask(transaction, task)
    return undefined
  }
  writeAndTell(transaction, rows, task, at)
  if (ends && move.usage) transaction.tell({ task: taskIn(task), at, usage: move.usage })
  const pool = await Pool.read(transaction, task.pool, at)
  if (hadSlot && (ends || overruns)) pool.removeRunning(task.user)
  pool.addOverrunning(Number(overruns) - Number(ends && !hadSlot))
  pool.leave(ends && hadSlot ? Math.max(0, at - (task.submittedAt ?? at)) : undefined)
  pool.write(transaction)
  return { task: taskIn(task), freed: ends, overruns }
}

/** The row of a task without members that have no value. */
const withoutUndefined = (task: object): StoredTask => JSON.parse(JSON.stringify(task))

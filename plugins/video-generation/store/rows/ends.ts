import type { VideoTask } from '../../tasks/task.ts'
import type { VideoEnds } from '../queue.ts'
import { Pool, poolLists } from './pool.ts'
import {
  endClaim,
  isSuspended,
  type QueueRows,
  readTask,
  removeTaskRows,
  type StoredTask,
  storedTaskOf,
  taskIn,
  taskLists,
  writeAndTell,
} from './task.ts'
import { positionAt, type Transaction, transact } from './transaction.ts'

/** Ends of tasks that the upstream never saw, and the deletion of those that have ended. */
export const endsOn = (rows: QueueRows): VideoEnds => ({
  cancelWaitingVideoTask: (user, id, at) =>
    transact(rows.store, async (transaction) => {
      const task = await readTask(transaction, id)
      if (task?.user !== user || task.phase !== 'waiting') return false
      await endWaiting(transaction, rows, task, 'cancelled', at)
      return true
    }),

  deleteVideoTask: (user, id, at) =>
    transact(rows.store, async (transaction) => {
      const task = await readTask(transaction, id)
      if (task?.user !== user || task.phase !== 'ended') return undefined
      removeTaskRows(transaction, task)
      const deleted = taskIn(task)
      if (rows.describe) transaction.tell({ task: deleted, at, notice: rows.describe(deleted, true) })
      return deleted
    }),

  async expireWaitingVideoTasks(now, max) {
    const due = await rows.store.listVideoRows(taskLists.expiring, { below: positionAt(now + 1), limit: max })
    let expired = 0
    for (const { value } of due) {
      const { id } = storedTaskOf(value)
      const isExpired = await transact(rows.store, async (transaction) => {
        const task = await readTask(transaction, id)
        if (task?.phase !== 'waiting') return false
        await endWaiting(transaction, rows, task, 'expired', now)
        return true
      })
      expired += Number(isExpired)
    }
    return expired
  },

  async sweepVideoTasks(endedBefore, max) {
    const old = await rows.store.listVideoRows(taskLists.ended, { below: positionAt(endedBefore), limit: max })
    const swept: VideoTask[] = []
    for (const { value } of old) {
      const { id } = storedTaskOf(value)
      const task = await transact(rows.store, async (transaction) => {
        const ended = await readTask(transaction, id)
        if (ended) removeTaskRows(transaction, ended)
        return ended
      })
      if (task) swept.push(taskIn(task))
    }
    return swept
  },

  // A request is added and removed with its task.
  sweepVideoRequests: async () => 0,

  async sweepVideoPools(unusedSince, max) {
    const old = await rows.store.listVideoRows(poolLists.unused, { below: positionAt(unusedSince), limit: max })
    let swept = 0
    for (const { value } of old) {
      const isSwept = await transact(rows.store, async (transaction) => {
        const pool = await Pool.read(transaction, new Pool(value).name, unusedSince)
        const isOld = pool.isUnused && pool.usedAt < unusedSince
        if (isOld) pool.remove(transaction)
        return isOld
      })
      swept += Number(isSwept)
    }
    return swept
  },
})

const endWaiting = async (
  transaction: Transaction,
  rows: QueueRows,
  task: StoredTask,
  status: 'cancelled' | 'expired',
  at: number,
): Promise<void> => {
  const { dueAt: _, ...rest } = task
  if (!isSuspended(task)) await leaveLine(transaction, task, at)
  endClaim(transaction, task)
  writeAndTell(transaction, rows, { ...rest, phase: 'ended', status, endedAt: at }, at)
}

const leaveLine = async (transaction: Transaction, task: StoredTask, at: number): Promise<void> => {
  const pool = await Pool.read(transaction, task.pool, at)
  const oldest = await transaction.list(taskLists.turnsOf(task.pool, task.user), { limit: 2 })
  pool.removeWaiting(task, oldest.map(storedTaskOf).find(({ id }) => id !== task.id)?.place)
  pool.write(transaction)
}

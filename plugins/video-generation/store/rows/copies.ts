import type { VideoCopies } from '../queue.ts'
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

/** Copies of results: of tasks that end with it, and of tasks that have ended before it was made. */
export const copiesOn = (rows: QueueRows): VideoCopies => ({
  dueVideoCopies: (now, max) => dueTasks(rows, taskLists.copies, now, max),

  leaseVideoCopy: (id, now, until) =>
    transact(rows.store, async (transaction) => {
      const task = await readCopying(transaction, id)
      if (task?.dueAt === undefined || task.dueAt > now || task.leaseUntil > now) return undefined
      const leased = { ...task, leaseUntil: until }
      writeTask(transaction, leased)
      return taskIn(leased)
    }),

  extendVideoCopy: (id, until, newUntil) =>
    transact(rows.store, async (transaction) => {
      const task = await readCopying(transaction, id)
      if (task?.leaseUntil !== until) return false
      writeTask(transaction, { ...task, leaseUntil: newUntil })
      return true
    }),

  endVideoTask: (id, at, result, retryAt) =>
    transact(rows.store, async (transaction) => {
      const copying = await readTask(transaction, id)
      if (copying?.phase !== 'copying') return false
      const { finalTask, dueAt: _, ...task } = copying
      const ended: StoredTask = {
        ...{ ...task, phase: 'ended', status: 'succeeded', endedAt: at, leaseUntil: 0 },
        ...(finalTask !== undefined && { task: finalTask }),
        ...(result !== undefined && { result }),
        ...(retryAt !== undefined && { dueAt: retryAt }),
      }
      writeAndTell(transaction, rows, ended, at)
      return true
    }),

  releaseVideoCopy: (id, result, retryAt) =>
    transact(rows.store, async (transaction) => {
      const copying = await readCopying(transaction, id)
      if (!copying) return false
      const { dueAt: _, ...task } = copying
      writeTask(transaction, {
        ...{ ...task, leaseUntil: 0 },
        ...(result !== undefined && { result }),
        ...(retryAt !== undefined && { dueAt: retryAt }),
      })
      return true
    }),
})

const readCopying = async (transaction: Transaction, id: string): Promise<StoredTask | undefined> => {
  const task = await readTask(transaction, id)
  return task?.phase === 'copying' || task?.phase === 'ended' ? task : undefined
}

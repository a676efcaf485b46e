import type { VideoSuspensions } from '../queue.ts'
import { Pool } from './pool.ts'
import {
  dueTasks,
  freeNonce,
  isSuspended,
  type QueueRows,
  readTask,
  storedTaskOf,
  taskLists,
  withRequest,
  writeTask,
} from './task.ts'
import { Transaction, transact } from './transaction.ts'

/** Suspended tasks of a user that are counted, where the limits name no smaller number. */
const maxCounted = 10_000

/** Tasks that wait for assets. The state of their pool does not have them. */
export const suspendedOn = (rows: QueueRows): VideoSuspensions => ({
  suspendVideoTask: ({ id, attempts }, { fields, dueAt, limits }, at) =>
    transact(rows.store, async (transaction) => {
      const task = await readTask(transaction, id)
      if (task?.attempts !== attempts) return 'ended'
      if (isSuspended(task)) {
        writeTask(transaction, { ...task, fields, dueAt })
        return 'suspended'
      }
      if (task.phase !== 'submitting' || task.place === undefined) return 'ended'
      const { waitingPerUser = maxCounted, waitingBytesPerUser = Number.POSITIVE_INFINITY } = limits
      const limit = Math.min(waitingPerUser, maxCounted)
      const others = await rows.store.listVideoRows(taskLists.suspendedOf(task.user), { limit })
      const bytes = others.reduce((sum, { value }) => sum + storedTaskOf(value).bytes, task.bytes)
      if (others.length >= limit || bytes > waitingBytesPerUser) return 'full'
      freeNonce(transaction, task)
      const { nonce: _, claimedAt: __, ...rest } = task
      const pool = await Pool.read(transaction, task.pool, at)
      pool.removeRunning(task.user)
      pool.returnTurn(task.user)
      pool.write(transaction)
      writeTask(transaction, { ...rest, phase: 'waiting', fields, dueAt, leaseUntil: 0 })
      return 'suspended'
    }),

  suspendedVideoTasks: (now, max) => dueTasks(rows, taskLists.suspended, now, max),

  async videoTaskRequest(id) {
    const task = await readTask(new Transaction(rows.store), id)
    return task ? (await withRequest(rows, task)).request : ''
  },

  resumeVideoTask: ({ id, attempts }, fields, at) =>
    transact(rows.store, async (transaction) => {
      const task = await readTask(transaction, id)
      if (task?.attempts !== attempts || task.place === undefined || !isSuspended(task)) return false
      const { dueAt: _, ...rest } = task
      const pool = await Pool.read(transaction, task.pool, at)
      pool.enter(at)
      pool.beginTurn(task.user)
      pool.addWaiting(task, task.place)
      pool.write(transaction)
      writeTask(transaction, { ...rest, fields })
      return true
    }),
})

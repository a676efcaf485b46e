import { Buffer } from 'node:buffer'
import { type NewVideoTask, poolOf } from '../../tasks/task.ts'
import { noncesOf } from '../nonces.ts'
import type { VideoClaim, VideoClaims } from '../queue.ts'
import { Pool, poolLists } from './pool.ts'
import {
  addRequest,
  dueTasks,
  endClaim,
  freeNonce,
  isKnownUpstreamId,
  isSuspended,
  type QueueRows,
  readOpenClaim,
  readTask,
  removeTaskRows,
  type StoredTask,
  storedTaskOf,
  takeNonce,
  takeUpstreamId,
  taskIn,
  taskLists,
  withRequest,
  writeAndTell,
  writeTask,
} from './task.ts'
import { type Transaction, transact, valuesOf } from './transaction.ts'

/** Tasks from their creation to the upstream's answer. */
export const claimsOn = (rows: QueueRows): VideoClaims => ({
  async addVideoTask(task, limits, leaseUntil) {
    const { id, request, createdAt: now } = task
    const row = newRow(task)
    const added = await transact(rows.store, async (transaction) => {
      if (await readTask(transaction, id)) throw new Error('there is a task with this id')
      const pool = await Pool.read(transaction, row.pool, now)
      addRequest(transaction, id, request)
      if (!limits) {
        pool.addRunning(row.user)
        pool.write(transaction)
        return claim(transaction, row, now, leaseUntil)
      }
      pool.enter(now)
      pool.beginTurn(row.user)
      const waiting = { ...row, place: pool.turn }
      pool.addWaiting(waiting, waiting.place)
      const next = pool.next(limits, now)
      if (next?.user === row.user && next.place === waiting.place) {
        pool.removeWaiting(waiting, undefined)
        pool.takeTurn(next, limits)
        pool.addRunning(row.user)
        pool.write(transaction)
        return claim(transaction, waiting, now, leaseUntil)
      }
      if (!pool.isWithin(row.user, limits)) {
        transaction.cancel()
        return 'waiting-full'
      }
      pool.write(transaction)
      writeAndTell(transaction, rows, waiting, now)
      return 'waiting'
    })
    if (typeof added === 'string') return { outcome: added }
    return { outcome: 'claimed', task: { ...taskIn(added), request, nonce: added.nonce ?? 0 } }
  },

  async claimVideoTask(name, limits, now, leaseUntil) {
    const claimed = await transact(rows.store, async (transaction) => {
      const pool = await Pool.read(transaction, name, now)
      pool.enter(now)
      const next = pool.next(limits, now)
      if (!next) return undefined
      const list = taskLists.turnsOf(name, next.user)
      const [first, second] = (await transaction.list(list, { limit: 2 })).map(storedTaskOf)
      // It waits no more since the pool was read.
      if (!first) return transaction.retry()
      pool.removeWaiting(first, second?.place)
      pool.takeTurn(next, limits)
      pool.addRunning(next.user)
      pool.write(transaction)
      return claim(transaction, first, now, leaseUntil)
    })
    return claimed && withRequest(rows, claimed)
  },

  async poolsWithWaiting(now) {
    const pools: string[] = []
    for await (const value of valuesOf(rows.store, poolLists.waiting, Pool.positionIn)) {
      const pool = new Pool(value)
      if (!pool.pausesAt(now)) pools.push(pool.name)
    }
    return pools
  },

  confirmVideoTask: (claimed, upstreamId, at, dueAt) =>
    transact(rows.store, async (transaction) => {
      const task = await readTask(transaction, claimed.id)
      if (task?.attempts !== claimed.attempts) return false
      // This call, or the search for a lost answer, has confirmed it before.
      if (task.phase !== 'submitting') return task.upstreamId === upstreamId
      if (!(await takeUpstreamId(transaction, task.id, upstreamId))) return false
      endClaim(transaction, task)
      const pool = await Pool.read(transaction, task.pool, at)
      if (pool.endPauses()) pool.write(transaction)
      const due = Math.min(task.dueAt ?? dueAt, dueAt)
      writeAndTell(transaction, rows, { ...task, phase: 'submitted', upstreamId, submittedAt: at, dueAt: due }, at)
      return true
    }),

  releaseVideoTask: (claimed, at, signal) =>
    transact(rows.store, async (transaction) => {
      const task = await readOpenClaim(transaction, claimed)
      if (task?.place === undefined) return false
      freeNonce(transaction, task)
      const { nonce: _, claimedAt: __, dueAt: ___, ...rest } = task
      const pool = await Pool.read(transaction, task.pool, at)
      pool.removeRunning(task.user)
      pool.addWaiting(task, task.place)
      pool.returnTurn(task.user)
      if (signal) pool.signal(at, signal)
      pool.write(transaction)
      writeAndTell(transaction, rows, { ...rest, phase: 'waiting', leaseUntil: 0 }, at)
      return true
    }),

  async failVideoTask(claimed, object, at, undecided = false) {
    const fail = (transaction: Transaction, { dueAt: _, ...task }: StoredTask) => {
      endClaim(transaction, task)
      const decision = undecided && { undecidedAt: at }
      const failed = { phase: 'ended', status: 'failed', task: object, endedAt: at } as const
      writeAndTell(transaction, rows, { ...task, ...failed, ...decision }, at)
    }
    return (await end(rows, claimed, at, fail)) || endSuspended(rows, claimed, fail)
  },

  dropVideoTask: (claimed) => end(rows, claimed, 0, removeTaskRows),

  async unsettledVideoTasks(now, max) {
    const deferred = await dueTasks(rows, taskLists.deferred, now, max)
    const leased = await dueTasks(rows, taskLists.leased, now - 1, max)
    return [...deferred, ...leased].slice(0, max)
  },

  deferVideoClaim: (claimed, dueAt) =>
    transact(rows.store, async (transaction) => {
      const task = await readOpenClaim(transaction, claimed)
      if (task) writeTask(transaction, { ...task, dueAt })
    }),

  async knownUpstreamIds(ids) {
    const known = await Promise.all(ids.map((id) => isKnownUpstreamId(rows, id)))
    return new Set(ids.filter((_, index) => known[index]))
  },
})

const newRow = ({ request, holds, ...task }: NewVideoTask): StoredTask => ({
  ...task,
  pool: task.serviceTier === 'flex' ? '' : poolOf(task),
  ...{ phase: 'waiting', status: 'queued', leaseUntil: 0, attempts: 0, bytes: Buffer.byteLength(request) },
})

/** Claims a task that waits or is new. Returns it. */
const claim = async (
  transaction: Transaction,
  task: StoredTask,
  now: number,
  leaseUntil: number,
): Promise<StoredTask> => {
  const nonce = await takeNonce(transaction, task, noncesOf(task.expiresAt - now))
  const claimed: StoredTask = {
    ...task,
    ...{ phase: 'submitting', claimedAt: now, leaseUntil, nonce, attempts: task.attempts + 1 },
  }
  writeTask(transaction, claimed)
  return claimed
}

/** A claim ends without a task of the upstream. False: it has ended before. */
const end = (
  { store }: QueueRows,
  claimed: VideoClaim,
  at: number,
  write: (transaction: Transaction, task: StoredTask) => void,
): Promise<boolean> =>
  transact(store, async (transaction) => {
    const task = await readOpenClaim(transaction, claimed)
    if (!task) return false
    const pool = await Pool.read(transaction, task.pool, at)
    pool.removeRunning(task.user)
    pool.write(transaction)
    write(transaction, task)
    return true
  })

const endSuspended = (
  { store }: QueueRows,
  { id, attempts }: VideoClaim,
  write: (transaction: Transaction, task: StoredTask) => void,
): Promise<boolean> =>
  transact(store, async (transaction) => {
    const task = await readTask(transaction, id)
    if (task?.attempts !== attempts || !isSuspended(task)) return false
    write(transaction, task)
    return true
  })

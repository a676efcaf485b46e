import type { VideoStatus } from '../../tasks/statuses.ts'
import type { DescribeVideoTask, VideoTask } from '../../tasks/task.ts'
import type { ClaimedVideoTask, VideoClaim } from '../queue.ts'
import type { VideoListEntry, VideoTaskStore } from '../task-store.ts'
import { positionAt, rowKey, type Transaction } from './transaction.ts'

/** A task as its row has it. */
export interface StoredTask extends VideoTask {
  /** Its pool. Empty: it needs no slot. */
  readonly pool: string
  /** Its place in the pool: the smaller one starts first. Undefined: it has never waited. */
  readonly place?: number
  /** Bytes of its request. Its row stays until the upstream has accepted the task. */
  readonly bytes: number
  /** The last status that its user was told. */
  readonly told?: VideoStatus
}

/** What all parts of the queue share. */
export interface QueueRows {
  readonly store: VideoTaskStore
  /** Undefined: the users are told nothing. */
  describe: DescribeVideoTask | undefined
}

const keyOf = (id: string): string => rowKey('task', id)
const requestKey = (id: string): string => rowKey('request', id)
const nonceKey = (user: string, nonce: number): string => rowKey('nonce', user, nonce)
const upstreamKey = (upstreamId: string): string => rowKey('upstream', upstreamId)

/** The lists that have tasks. All but those of users and pools are ordered by the time at which a task is due. */
export const taskLists = {
  ofUser: (user: string): string => rowKey('user', user),
  /** By creation. */
  waitingIn: (pool: string): string => rowKey('waiting', pool),
  /** By place. */
  turnsOf: (pool: string, user: string): string => rowKey('turns', pool, user),
  /** Suspended tasks of a user. */
  suspendedOf: (user: string): string => rowKey('suspended', user),
  suspended: rowKey('suspended'),
  expiring: rowKey('expiring'),
  deferred: rowKey('deferred'),
  leased: rowKey('leased'),
  submitted: rowKey('submitted'),
  copies: rowKey('copies'),
  ended: rowKey('ended'),
}

const listsOf = (task: StoredTask): readonly VideoListEntry[] => {
  const { id, user, pool, phase, place = 0, createdAt, expiresAt, dueAt, leaseUntil, endedAt = 0 } = task
  const entry = (list: string, time: number): VideoListEntry => ({ list, position: positionAt(time, id) })
  const own = { list: taskLists.ofUser(user), position: id }
  const copy = dueAt === undefined ? [] : [entry(taskLists.copies, Math.max(dueAt, leaseUntil))]
  switch (phase) {
    case 'waiting': {
      if (dueAt !== undefined) {
        const suspended = [entry(taskLists.suspended, dueAt), { list: taskLists.suspendedOf(user), position: id }]
        return [own, ...suspended, entry(taskLists.expiring, expiresAt)]
      }
      const pooled = [entry(taskLists.waitingIn(pool), createdAt), entry(taskLists.turnsOf(pool, user), place)]
      return [own, ...pooled, entry(taskLists.expiring, expiresAt)]
    }
    case 'submitting':
      return [own, dueAt === undefined ? entry(taskLists.leased, leaseUntil) : entry(taskLists.deferred, dueAt)]
    case 'submitted':
      return [own, entry(taskLists.submitted, dueAt ?? 0)]
    case 'copying':
      return [own, ...copy]
    case 'ended':
      return [own, ...copy, entry(taskLists.ended, endedAt)]
  }
}

/** Whether a task waits for assets, outside of the line. */
export const isSuspended = ({ phase, dueAt }: StoredTask): boolean => phase === 'waiting' && dueAt !== undefined

/** The value of a row as a task. */
export const storedTaskOf = (value: string): StoredTask => JSON.parse(value)

/** A task without what only its row has. */
export const taskIn = ({ pool, place, bytes, told, ...task }: StoredTask): VideoTask => task

/** Tasks of a list that are due, those that have been due for longest first. */
export const dueTasks = async ({ store }: QueueRows, list: string, now: number, max: number): Promise<VideoTask[]> => {
  const due = await store.listVideoRows(list, { below: positionAt(now + 1), limit: max })
  return due.map(({ value }) => taskIn(storedTaskOf(value)))
}

export const readTask = async (transaction: Transaction, id: string): Promise<StoredTask | undefined> => {
  const value = await transaction.read(keyOf(id))
  return value === undefined ? undefined : storedTaskOf(value)
}

/** Writes a task that was read, or is new. */
export const writeTask = (transaction: Transaction, task: StoredTask): void =>
  transaction.write(keyOf(task.id), JSON.stringify(task), listsOf(task))

/** Writes a task in a new state, and tells its user a new status, each once. */
export const writeAndTell = (transaction: Transaction, { describe }: QueueRows, task: StoredTask, at: number): void => {
  const isNew = describe !== undefined && task.told !== task.status
  writeTask(transaction, isNew ? { ...task, told: task.status } : task)
  if (isNew) transaction.tell({ task: taskIn(task), at, notice: describe(taskIn(task)) })
}

/** Removes a task, and all rows that belong to it. */
export const removeTaskRows = (transaction: Transaction, task: StoredTask): void => {
  transaction.remove(keyOf(task.id))
  endClaim(transaction, task)
  if (task.upstreamId !== undefined) transaction.removeFixed(upstreamKey(task.upstreamId), task.id)
}

/** Removes the rows that a task needs only until the upstream has it: its request, and the nonce of its claim. */
export const endClaim = (transaction: Transaction, task: StoredTask): void => {
  const { id, bytes, phase } = task
  if (bytes > 0 && (phase === 'waiting' || phase === 'submitting')) transaction.removeFixed(requestKey(id), id)
  freeNonce(transaction, task)
}

/** Another claim of the user may have the nonce of a claim. */
export const freeNonce = (transaction: Transaction, { id, user, nonce, phase }: StoredTask): void => {
  if (nonce !== undefined && phase === 'submitting') transaction.removeFixed(nonceKey(user, nonce), id)
}

/** Gives a claim its nonce: no other claim of the user has it whose outcome is unknown. */
export const takeNonce = async (
  transaction: Transaction,
  { id, user }: StoredTask,
  nonces: Iterable<number>,
): Promise<number> => {
  for (const nonce of nonces) {
    if ((await transaction.read(nonceKey(user, nonce))) !== undefined) continue
    transaction.addFixed(nonceKey(user, nonce), '', id)
    return nonce
  }
  throw new Error('no nonce is left')
}

/** Gives a task its id at the upstream. False: another task has it. */
export const takeUpstreamId = async (transaction: Transaction, id: string, upstreamId: string): Promise<boolean> => {
  if ((await transaction.read(upstreamKey(upstreamId))) !== undefined) return false
  transaction.addFixed(upstreamKey(upstreamId), id, id)
  return true
}

/** Whether a task has that id of the upstream. */
export const isKnownUpstreamId = async ({ store }: QueueRows, upstreamId: string): Promise<boolean> =>
  (await store.readVideoRow(upstreamKey(upstreamId))) !== undefined

export const addRequest = (transaction: Transaction, id: string, request: string): void => {
  if (request !== '') transaction.addFixed(requestKey(id), request, id)
}

/** A claimed task with its request. */
export const withRequest = async ({ store }: QueueRows, task: StoredTask): Promise<ClaimedVideoTask> => {
  const request = task.bytes > 0 ? (await store.readVideoRow(requestKey(task.id)))?.value : ''
  return { ...taskIn(task), request: request ?? '', nonce: task.nonce ?? 0 }
}

/** The task of a claim, if the claim is still open. */
export const readOpenClaim = async (transaction: Transaction, claim: VideoClaim): Promise<StoredTask | undefined> => {
  const task = await readTask(transaction, claim.id)
  return task?.phase === 'submitting' && task.attempts === claim.attempts ? task : undefined
}

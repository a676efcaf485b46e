import type { Verification } from './store.ts'
import type { NextLook } from './task-lease.ts'

const minute = 60_000
/** Somebody whose browser has come back is waiting; of everybody else one can only suspect that the browser's word was lost. */
const firstMs = (status: Verification['status']): number => (status === 'waiting_user' ? 15_000 : 2_000)
const mostMs = (status: Verification['status']): number => (status === 'waiting_user' ? 10 : 1) * minute
const mostAfterEndMs = 60 * minute
/** A task whose result is not there yet is not asked about more often than that. */
const restMs = 1_000

/** When a task is due first: soon, and at its end at the latest. */
export const firstDue = (createdAt: number, expiresAt: number): number =>
  Math.min(createdAt + firstMs('waiting_user'), expiresAt)

/** After a look that brought nothing: twice as long as the last time, and at the task's end at the latest. */
export const lookAgain = ({ status, expiresAt, asks }: Verification, now: number): NextLook => {
  const ms = Math.min(firstMs(status) * 2 ** Math.min(asks + 1, 20), now < expiresAt ? mostMs(status) : mostAfterEndMs)
  const dueAt = now < expiresAt ? Math.min(now + ms, expiresAt) : now + ms
  return { restUntil: now + restMs, dueAt, asks: asks + 1 }
}

/** After a look that failed: the same, but whoever wants to look now may. */
export const afterFailure =
  (now: () => number) =>
  (task: Verification): NextLook => ({ ...lookAgain(task, now()), restUntil: 0 })

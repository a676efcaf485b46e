import type { Clock } from '../shared/clock.ts'
import type { Verification } from './store.ts'
import type { PollSchedule } from './task-lease.ts'

const minute = 60_000
/**
 * After the callback a person waits for the result. Before the callback, a poll only covers the case that the callback
 * was lost.
 */
const firstMs = (status: Verification['status']): number => (status === 'waiting_user' ? 15_000 : 2_000)
const maxMs = (status: Verification['status']): number => (status === 'waiting_user' ? 10 : 1) * minute
const maxAfterExpiryMs = 60 * minute
/** Shortest time between two polls of one task. */
const minIntervalMs = 1_000

/** Time of the first poll (milliseconds since 1970): soon after the creation, and at the expiry at the latest. */
export const firstPollAt = (createdAt: number, expiresAt: number): number =>
  Math.min(createdAt + firstMs('waiting_user'), expiresAt)

/** Schedule after a poll without a result: the delay doubles; the poll at the expiry is never skipped. */
export const nextPoll = ({ status, expiresAt, polls }: Verification, now: number): PollSchedule => {
  const maxDelayMs = now < expiresAt ? maxMs(status) : maxAfterExpiryMs
  const ms = Math.min(firstMs(status) * 2 ** Math.min(polls + 1, 20), maxDelayMs)
  const dueAt = now < expiresAt ? Math.min(now + ms, expiresAt) : now + ms
  return { notBefore: now + minIntervalMs, dueAt, polls: polls + 1 }
}

/** Schedule after a failed poll: the same, but the caller may request the status again at once. */
export const nextPollAfterError =
  (clock: Pick<Clock, 'now'>) =>
  (task: Verification): PollSchedule => ({ ...nextPoll(task, clock.now()), notBefore: 0 })

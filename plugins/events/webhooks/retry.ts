import type { FailedDelivery, LeasedDelivery } from './delivery-store.ts'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

/** Pauses between the attempts of one delivery: about a day altogether. */
const pausesMs = [5 * second, 30 * second, 2 * minute, 5 * minute, 15 * minute, 30 * minute, hour, 2 * hour, 3 * hour]
/** Longest time without an attempt for an address that fails: so new events reach it soon when it works again. */
const maxAddressPauseMs = 10 * minute
const dayMs = 24 * hour
/** An address that has failed this often, and then works again, receives all that waits for it at once. */
const outageFailures = 3

const pauseMs = (failures: number): number => pausesMs[Math.min(failures, pausesMs.length - 1)] ?? 0

/** Whether the address works again after an outage. */
export const hasRecovered = ({ failures }: LeasedDelivery): boolean => failures >= outageFailures

/**
 * What becomes of a delivery that has failed at a time.
 *
 * The pauses grow, for the delivery and for its address, with up to a quarter of them at random. After a day the
 * delivery is given up, and a webhook whose address has accepted nothing in a day is disabled; at once when it says
 * that it is gone (410).
 */
export const afterFailure = (
  { attempts, failures, createdAt, failingSince = Number.POSITIVE_INFINITY }: LeasedDelivery,
  { at, error, isGone }: { readonly at: number; readonly error: string; readonly isGone: boolean },
  random: () => number = Math.random,
): FailedDelivery => {
  const spread = 1 + random() / 4
  const dueAt = at + Math.round(pauseMs(attempts) * spread)
  return {
    at,
    error,
    dueAt: isGone || dueAt > createdAt + dayMs ? undefined : dueAt,
    pausedUntil: at + Math.round(Math.min(pauseMs(failures), maxAddressPauseMs) * spread),
    disables: isGone || at - failingSince >= dayMs,
  }
}

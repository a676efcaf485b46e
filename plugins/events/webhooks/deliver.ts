import type { Background } from '../../shared/background/background.ts'
import type { Clock } from '../../shared/clock.ts'
import type { Log } from '../../shared/problem.ts'
import type { TargetRules } from '../address/address.ts'
import type { EventStore } from '../store.ts'
import type { DeliveryStore, FailedDelivery, LeasedDelivery } from './delivery-store.ts'
import { type Post, post } from './post.ts'
import { signedHeaders } from './signature.ts'

/** How an attempt of a delivery has ended. */
export interface DeliveryOutcome {
  readonly kind: LeasedDelivery['kind']
  /** Status of the response. 0: there was none. */
  readonly status: number
  readonly seconds: number
}

/** Options of `deliver`. Times are milliseconds. */
export interface DeliverOptions {
  readonly store: DeliveryStore
  /** Calls the listener when this process has added a delivery. */
  readonly onEvents: EventStore['onEvents']
  readonly rules: TargetRules
  /** At its end, attempts that are running are aborted, and repeated by another process. */
  readonly background: Background
  readonly clock: Clock
  readonly log: Log
  /** Attempts of this process at once. Default 32. */
  readonly max?: number
  /** Attempts of one user at once, of all processes. Default 4. */
  readonly maxPerUser?: number
  /** For one attempt. Default 10,000. */
  readonly deadlineMs?: number
  /** Time between two searches for what other processes have added. Default 1,000. */
  readonly everyMs?: number
  readonly post?: Post
  readonly observe?: (outcome: DeliveryOutcome) => void
  /** A webhook was disabled after a day of failures. */
  readonly onDisabled?: (delivery: LeasedDelivery) => void
}

/** Time that an attempt may take beyond its deadline before another process may send the delivery. */
const leaseSlackMs = 20_000
const soonMs = 20
const keepMs = 2 * 86_400_000
const sweepEveryMs = 3_600_000
/** Rows that one search removes. */
const maxSwept = 1_000

/**
 * Sends due deliveries. Several processes may do so: a lease keeps a delivery from being sent twice at once.
 *
 * A delivery whose process ends before it has recorded the outcome is sent again: at least once, not exactly once.
 */
export const deliver = (options: DeliverOptions): void => {
  const { store, onEvents, background, clock, log } = options
  const { max = 32, maxPerUser = 4, deadlineMs = 10_000, everyMs = 1_000 } = options
  const { signal } = background
  let running = 0
  let sweptAt = Number.NEGATIVE_INFINITY

  const start = (delivery: LeasedDelivery): void => {
    running++
    void background
      .run(() => attemptDelivery(delivery, options, deadlineMs))
      .catch((err: unknown) => {
        if (!signal.aborted)
          log.warn({ err, [delivery.kind]: delivery.id }, 'the outcome of a delivery is not recorded')
      })
      .finally(() => {
        running--
        job.wake()
      })
  }

  /** Starts what is due. Returns the milliseconds until the next search. */
  const startDue = async (): Promise<number> => {
    const now = clock.now()
    // One step a search, so that what is due does not wait for the removal of all that is old.
    if (now >= sweptAt + sweepEveryMs && (await store.sweepDeliveries(now - keepMs, maxSwept)) < maxSwept) sweptAt = now
    if (running >= max) return everyMs
    if (!(await store.isDeliveryDue(now))) return everyMs
    const leased = await store.leaseDeliveries(now, now + deadlineMs + leaseSlackMs, {
      max: max - running,
      maxPerUser,
    })
    for (const delivery of leased) start(delivery)
    return leased.length > 0 ? soonMs : everyMs
  }

  const job = background.repeat({ run: startDue, everyMs, log, failure: 'deliveries could not be read' })
  onEvents(() => job.wake())
}

const attemptDelivery = async (
  delivery: LeasedDelivery,
  { store, rules, background: { signal }, clock, log, observe, onDisabled, post: send = post }: DeliverOptions,
  deadlineMs: number,
): Promise<void> => {
  const { kind, id, url, messageId, body, secrets } = delivery
  const startedAt = clock.now()
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'sluice-webhooks',
    ...signedHeaders(messageId, Math.floor(startedAt / 1000), body, secrets),
  }
  let error: string | undefined
  let cause: string | undefined
  const status = await send({ url, headers, body, rules, deadlineMs, signal }).catch((err: unknown) => {
    error = err instanceof Error ? err.message : 'the connection was interrupted'
    cause = causeOf(err)
    return 0
  })
  // Interrupted by the end of this process: the attempt says nothing about the address.
  if (signal.aborted && status === 0) return
  const at = clock.now()
  observe?.({ kind, status, seconds: (at - startedAt) / 1000 })
  if (status >= 200 && status < 300) return store.deliverySucceeded(delivery, at, hasRecovered(delivery))
  const failed = afterFailure(delivery, {
    at,
    error: error ?? `response with status ${status}`,
    isGone: status === 410,
  })
  log.info({ [kind]: id, user: delivery.user, error: failed.error, cause }, 'a delivery has failed')
  await store.deliveryFailed(delivery, failed)
  if (kind === 'webhook' && failed.disables) onDisabled?.(delivery)
}

/** What the user must not see. Without stacks: many deliveries may fail. */
const causeOf = (error: unknown): string | undefined =>
  error instanceof Error && error.cause !== undefined ? String(error.cause) : undefined

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

import { type Clock, systemClock } from '../shared/clock.ts'
import { delay } from '../shared/delay.ts'
import { type Log, noLog } from '../shared/problem.ts'
import type { Claim, ClaimStore, OwnershipStore } from './store.ts'

const defaultCallMs = 60_000

/** Options of the reconciliation. */
export interface ReconcileOptions {
  readonly store: ClaimStore & Pick<OwnershipStore, 'group'>
  /** Finds all groups upstream with exactly this type and name, of any user. `createdAt` in milliseconds since 1970; undefined if unreadable. */
  readonly find: (type: string, name: string) => Promise<readonly { id: string; createdAt: number | undefined }[]>
  /** How long one process leases a claim. Milliseconds, default 60,000. */
  readonly leaseMs?: number
  /** Maximum time that the upstream takes to create a group. Milliseconds, default 60,000. */
  readonly callMs?: number
  /** Maximum clock skew of the upstream. Milliseconds, default 300,000. */
  readonly skewMs?: number
  /** Default: the system clock. */
  readonly clock?: Pick<Clock, 'now'>
  readonly log?: Log
  /** Receives every claim whose group was assigned to its user. */
  readonly onAdopted?: (claim: Claim, group: string) => void
}

/** Minimum time from the end of a call with an unknown outcome to the first check, and between checks. Milliseconds. */
export const minCheckMs = 1_000

/**
 * Reconciles the claims that are due with the groups upstream.
 *
 * - Exactly one group matches: the user of the claim becomes its owner.
 * - No group matches: the claim is released.
 * - Several groups match: the claim becomes unresolved and loses its name. An administrator must decide.
 *
 * While the upstream may still process the call (`callMs`), a claim that cannot be confirmed is kept, and checked at growing intervals.
 *
 * Never throws. It logs an error and retries the claim later, at the latest when the lease ends.
 */
export const reconcile = async (options: ReconcileOptions): Promise<void> => {
  const { store, leaseMs = 60_000, clock = systemClock, log = noLog } = options
  const claims = await store.lease(clock.now(), clock.now() + leaseMs).catch((err: unknown) => {
    log.warn({ err }, 'claims could not be read')
    return []
  })
  for (const claim of claims) {
    const reconciled =
      claim.renames === undefined ? reconcileCreation(claim, options) : reconcileRenaming(claim, options)
    await reconciled.then(
      (outcome) => log.info({ claim: claim.id, user: claim.user, outcome }, 'claim reconciled'),
      async (err: unknown) => {
        log.warn({ claim: claim.id, user: claim.user, err }, 'claim could not be reconciled')
        await keepIfEarly(claim, options).catch(() => {})
      },
    )
  }
}

const reconcileCreation = async (claim: Claim, options: ReconcileOptions): Promise<string> => {
  const { store, find, callMs = defaultCallMs, skewMs = 300_000, clock = systemClock } = options
  const matches: { id: string; createdAt: number }[] = []
  for (const { id, createdAt = claim.createdAt } of await find(claim.type, claim.name)) {
    const inTime = createdAt >= claim.createdAt - skewMs && createdAt <= claim.createdAt + callMs + skewMs
    if (inTime && !(await store.group(id))) matches.push({ id, createdAt })
  }
  const [only, ...others] = matches
  const outcome = !only ? 'released' : others.length === 0 ? await store.adopt(claim, only) : 'ambiguous'
  if (only && outcome === 'adopted') {
    options.onAdopted?.(claim, only.id)
    return outcome
  }
  if (await keepIfEarly(claim, options)) return 'kept'
  if (outcome === 'released') {
    await store.release(claim)
    return outcome
  }
  // Checked again at growing intervals of up to an hour: the claim of another user may have been reconciled by then.
  const age = clock.now() - claim.createdAt
  await store.markUnresolved(claim, clock.now() + Math.min(Math.max(age, 60_000), 3_600_000))
  return outcome
}

const reconcileRenaming = async (claim: Claim, options: ReconcileOptions): Promise<string> => {
  const { store, find } = options
  const id = claim.renames ?? ''
  const group = await store.group(id)
  if (group && (await find(claim.type, claim.name)).some((found) => found.id === id)) {
    return (await store.confirm(claim, { id, createdAt: group.createdAt })) ? 'renamed' : 'overtaken'
  }
  if (await keepIfEarly(claim, options)) return 'kept'
  await store.release(claim)
  return 'released'
}

/**
 * Keeps a claim while the upstream may still process its call. Returns false when that time is over.
 *
 * The next check is after the time that has passed since the call ended, so the interval doubles.
 */
const keepIfEarly = async (claim: Claim, options: ReconcileOptions): Promise<boolean> => {
  const { store, callMs = defaultCallMs, clock = systemClock } = options
  const [time, deadline] = [clock.now(), claim.createdAt + callMs]
  if (time >= deadline) return false
  const endedAt = claim.endedAt ?? time
  await store.postpone(claim, endedAt, Math.min(deadline, time + Math.max(minCheckMs, time - endedAt)))
  return true
}

/**
 * Reconciles at once, then every `everyMs` (default 60,000) and whenever a claim is due, until `signal` aborts.
 *
 * Its timers do not keep the process alive.
 */
export const reconcileRegularly = async (
  options: ReconcileOptions & { readonly everyMs?: number; readonly signal: AbortSignal },
): Promise<void> => {
  const { store, signal, everyMs = 60_000, clock = systemClock } = options
  const isDue = async () => {
    const due = await store.nextDue().catch(() => undefined)
    return due !== undefined && due <= clock.now()
  }
  while (!signal.aborted) {
    await reconcile(options)
    let restMs = everyMs
    // Another process may add a claim that is due in a second. The query is cheap: it reads an index that is almost always empty.
    do {
      await delay(Math.min(restMs, minCheckMs), signal)
      restMs -= minCheckMs
    } while (restMs > 0 && !signal.aborted && !(await isDue()))
  }
}

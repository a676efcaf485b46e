import type { Background } from '../shared/background/background.ts'
import { inLanes } from '../shared/background/in-lanes.ts'
import { type Clock, systemClock } from '../shared/clock.ts'
import { type Log, noLog } from '../shared/problem.ts'
import type { Claim, ClaimStore, OwnershipStore } from './store.ts'

const defaultCallMs = 60_000
const defaultSkewMs = 300_000

/** `find` may leave out groups that were created, or last updated, before `time`. Milliseconds since 1970. */
export interface FoundFrom {
  readonly by: 'CreateTime' | 'UpdateTime'
  readonly time: number
}

/** Options of the reconciliation. */
export interface ReconcileOptions {
  readonly store: ClaimStore & Pick<OwnershipStore, 'group'>
  /**
   * Finds all groups upstream with exactly this type and name, of any user, and from this time on. `createdAt` in
   * milliseconds since 1970; undefined if unreadable. `account`: that of the claim.
   */
  readonly find: (
    type: string,
    name: string,
    from: FoundFrom,
    account?: string,
  ) => Promise<readonly { id: string; createdAt: number | undefined }[]>
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

/** Claims that are checked at once, so that one whose check takes long does not delay all others. */
const lanes = 4

/** Minimum time between checks of a claim. Milliseconds. */
const minCheckMs = 1_000

/**
 * How long a name stays reserved after a call with an unknown outcome, while no check finds its group. Milliseconds.
 */
const reservedMs = 4_000

/**
 * Reconciles the claims that are due with the groups upstream.
 *
 * - Exactly one group matches: the user of the claim becomes its owner.
 * - No group matches: the claim is released.
 * - Several groups match, or another group has got the new name of a renamed one: the claim becomes unresolved and
 *   loses its name. An administrator must decide.
 *
 * While the upstream may still process the call (`callMs`), a claim that cannot be confirmed is kept, and checked at
 * growing intervals. If no group has matched within four seconds from the end of the call, the name is free, and the
 * claim remains unresolved: a group that appears later belongs to its user, unless that user has created another one
 * with the name. Then an administrator must decide.
 *
 * Never throws. It logs an error and retries the claim later, at the latest when the lease ends.
 */
export const reconcile = async (options: ReconcileOptions): Promise<void> => {
  const { store, leaseMs = 60_000, clock = systemClock, log = noLog } = options
  const claims = await store.lease(clock.now(), clock.now() + leaseMs).catch((err: unknown) => {
    log.warn({ err }, 'claims could not be read')
    return []
  })
  await inLanes(claims, lanes, async (claim) => {
    const reconciled =
      claim.renames === undefined ? reconcileCreation(claim, options) : reconcileRenaming(claim, options)
    await reconciled.then(
      (outcome) => log.info({ claim: claim.id, user: claim.user, outcome }, 'claim reconciled'),
      async (err: unknown) => {
        log.warn({ claim: claim.id, user: claim.user, err }, 'claim could not be reconciled')
        await keepIfEarly(claim, options, true).catch(() => {})
      },
    )
  })
}

const reconcileCreation = async (claim: Claim, options: ReconcileOptions): Promise<string> => {
  const { store, find, callMs = defaultCallMs, skewMs = defaultSkewMs, clock = systemClock } = options
  const matches: { id: string; createdAt: number }[] = []
  const from = { by: 'CreateTime', time: claim.createdAt - skewMs } as const
  for (const { id, createdAt = claim.createdAt } of await find(claim.type, claim.name, from, claim.account)) {
    const inTime = createdAt >= claim.createdAt - skewMs && createdAt <= claim.createdAt + callMs + skewMs
    if (inTime && !(await store.group(id))) matches.push({ id, createdAt })
  }
  const [only, ...others] = matches
  const outcome = !only ? 'released' : others.length === 0 ? await store.adopt(claim, only) : 'ambiguous'
  if (only && outcome === 'adopted') {
    options.onAdopted?.(claim, only.id)
    return outcome
  }
  const kept = await keepIfEarly(claim, options, outcome !== 'released')
  if (kept) return kept
  if (outcome === 'released') {
    await store.release(claim)
    return outcome
  }
  await keepUnresolved(claim, store, clock)
  return outcome
}

/**
 * Keeps a claim that an operator must decide. It is checked again at growing intervals of up to an hour: what stands
 * against it, such as the claim of another user, may be gone by then.
 */
const keepUnresolved = (claim: Claim, store: ClaimStore, clock: Pick<Clock, 'now'>): Promise<void> => {
  const age = clock.now() - claim.createdAt
  return store.markUnresolved(claim, clock.now() + Math.min(Math.max(age, 60_000), 3_600_000))
}

const reconcileRenaming = async (claim: Claim, options: ReconcileOptions): Promise<string> => {
  const { store, find, skewMs = defaultSkewMs, clock = systemClock } = options
  const id = claim.renames ?? ''
  const group = await store.group(id)
  const from = { by: 'UpdateTime', time: claim.createdAt - skewMs } as const
  // If the group had the name before, that the upstream has it does not tell that the call has ended.
  const isNew = group && group.name !== claim.name
  if (isNew && (await find(claim.type, claim.name, from, group.account)).some((found) => found.id === id)) {
    if (await store.confirm(claim, { id, createdAt: group.createdAt })) return 'renamed'
    await keepUnresolved(claim, store, clock)
    return 'overtaken'
  }
  const kept = await keepIfEarly(claim, options, false)
  if (kept) return kept
  await store.release(claim)
  return 'released'
}

/**
 * Keeps a claim while the upstream may still process its call. Returns undefined when that time is over.
 *
 * The next check is after the time that has passed since the call ended, so the interval doubles.
 *
 * @param reserve whether the claim keeps its name however long ago its call ended: a group matches, or the check has
 * failed
 */
const keepIfEarly = async (
  claim: Claim,
  options: ReconcileOptions,
  reserve: boolean,
): Promise<'kept' | 'name freed' | undefined> => {
  const { store, callMs = defaultCallMs, clock = systemClock } = options
  const [time, deadline] = [clock.now(), claim.createdAt + callMs]
  if (time >= deadline) return undefined
  const endedAt = claim.endedAt ?? time
  const dueAt = Math.min(deadline, time + Math.max(minCheckMs, time - endedAt))
  if (reserve || claim.state === 'unresolved' || time < endedAt + reservedMs) {
    await store.postpone(claim, endedAt, dueAt)
    return 'kept'
  }
  await store.markUnresolved(claim, dueAt)
  return 'name freed'
}

/** Reconciles at once, then every `everyMs` (default 60,000) and whenever a claim is due. */
export const reconcileRegularly = (
  { everyMs = 60_000, ...options }: ReconcileOptions & { readonly everyMs?: number },
  background: Background,
): void => {
  const { store, clock = systemClock, log = noLog } = options
  const isDue = async () => {
    const due = await store.nextDue().catch(() => undefined)
    return due !== undefined && due <= clock.now()
  }
  let restMs = 0
  background.repeat({
    ...{ everyMs: Math.min(everyMs, minCheckMs), log, failure: 'claims could not be reconciled' },
    async run() {
      // Another process may add a claim that is due in a second. The query is cheap: it reads an index that is almost
      // always empty.
      if (restMs <= 0 || (await isDue())) {
        await reconcile(options)
        restMs = everyMs
      }
      const waitMs = Math.min(restMs, minCheckMs)
      restMs -= minCheckMs
      return waitMs
    },
  })
}

import { delay } from '../shared/delay.ts'
import { type Log, noLog } from '../shared/problem.ts'
import type { Claim, ClaimStore, OwnershipStore } from './store.ts'

const defaultCallMs = 60_000

export interface ReconcileOptions {
  readonly store: ClaimStore & Pick<OwnershipStore, 'group'>
  /** Groups of the upstream, whoever's, with exactly that type and name. `createdAt` in milliseconds since 1970; undefined when unreadable. */
  readonly find: (type: string, name: string) => Promise<readonly { id: string; createdAt: number | undefined }[]>
  /** How long one process keeps a claim to itself. Milliseconds, default 60,000. */
  readonly leaseMs?: number
  /** Longest that the upstream may take to make a group. Milliseconds, default 60,000. */
  readonly callMs?: number
  /** How far the upstream's clock may be off. Milliseconds, default 300,000. */
  readonly skewMs?: number
  /** Milliseconds since 1970. Default the system's clock. */
  readonly now?: () => number
  readonly log?: Log
  /** Told of a group that goes to the user who asked for it. */
  readonly onAdopted?: (claim: Claim, group: string) => void
}

/** From the end of a call without an answer until somebody looks what became of it. */
export const firstLookMs = 1_000

/**
 * Settles the claims that are due: a group that the upstream made goes to the user who asked for it when exactly one fits; a claim for which there is none is
 * dropped; one that could be several stays, without its name, for a person to decide. As long as the upstream may still be at it (`callMs`), a claim that cannot
 * be fulfilled is kept as it is, and looked at ever more rarely.
 *
 * Never throws: what fails is logged and comes up again, at the latest when its lease ends.
 */
export const reconcile = async (options: ReconcileOptions): Promise<void> => {
  const { store, leaseMs = 60_000, now = Date.now, log = noLog } = options
  const claims = await store.lease(now(), now() + leaseMs).catch((err: unknown) => {
    log.warn({ err }, 'claims could not be read')
    return []
  })
  for (const claim of claims) {
    const settled = claim.renames === undefined ? reconcileCreation(claim, options) : reconcileRenaming(claim, options)
    await settled.then(
      (outcome) => log.info({ claim: claim.id, user: claim.user, outcome }, 'claim settled'),
      async (err: unknown) => {
        log.warn({ claim: claim.id, user: claim.user, err }, 'claim could not be settled')
        await isKept(claim, options).catch(() => {})
      },
    )
  }
}

const reconcileCreation = async (claim: Claim, options: ReconcileOptions): Promise<string> => {
  const { store, find, callMs = defaultCallMs, skewMs = 300_000, now = Date.now } = options
  const fitting: { id: string; createdAt: number }[] = []
  for (const { id, createdAt = claim.createdAt } of await find(claim.type, claim.name)) {
    const timely = createdAt >= claim.createdAt - skewMs && createdAt <= claim.createdAt + callMs + skewMs
    if (timely && !(await store.group(id))) fitting.push({ id, createdAt })
  }
  const [only, ...others] = fitting
  const outcome = !only ? 'released' : others.length === 0 ? await store.adopt(claim, only) : 'ambiguous'
  if (only && outcome === 'adopted') {
    options.onAdopted?.(claim, only.id)
    return outcome
  }
  if (await isKept(claim, options)) return 'kept'
  if (outcome === 'released') {
    await store.release(claim)
    return outcome
  }
  // Looked at again ever more rarely, up to once an hour: somebody else's claim may be settled by then.
  const age = now() - claim.createdAt
  await store.markUnresolved(claim, now() + Math.min(Math.max(age, 60_000), 3_600_000))
  return outcome
}

const reconcileRenaming = async (claim: Claim, options: ReconcileOptions): Promise<string> => {
  const { store, find } = options
  const id = claim.renames ?? ''
  const group = await store.group(id)
  if (group && (await find(claim.type, claim.name)).some((found) => found.id === id)) {
    return (await store.confirm(claim, { id, createdAt: group.createdAt })) ? 'renamed' : 'overtaken'
  }
  if (await isKept(claim, options)) return 'kept'
  await store.release(claim)
  return 'released'
}

/** Keeps a claim whose time is not over, to be looked at again after as long as its call has been over. False when its time is over. */
const isKept = async (claim: Claim, options: ReconcileOptions): Promise<boolean> => {
  const { store, callMs = defaultCallMs, now = Date.now } = options
  const [time, over] = [now(), claim.createdAt + callMs]
  if (time >= over) return false
  const endedAt = claim.endedAt ?? time
  await store.keep(claim, endedAt, Math.min(over, time + Math.max(firstLookMs, time - endedAt)))
  return true
}

/** Settles at once, then every `everyMs` (default a minute) and whenever a claim falls due, until the signal. Keeps no process alive. */
export const reconcileRegularly = async (
  options: ReconcileOptions & { readonly everyMs?: number; readonly signal: AbortSignal },
): Promise<void> => {
  const { store, signal, everyMs = 60_000, now = Date.now } = options
  const isDue = async () => {
    const due = await store.nextDue().catch(() => undefined)
    return due !== undefined && due <= now()
  }
  while (!signal.aborted) {
    await reconcile(options)
    let restMs = everyMs
    // Any process may leave a claim that is due in a second: asking costs one look into an index that is as good as empty.
    do {
      await delay(Math.min(restMs, firstLookMs), signal)
      restMs -= firstLookMs
    } while (restMs > 0 && !signal.aborted && !(await isDue()))
  }
}

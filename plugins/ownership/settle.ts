import { pause } from '../shared/pause.ts'
import { type Log, silent } from '../shared/problem.ts'
import type { Claim, ClaimStore, OwnershipStore } from './store.ts'

export interface SettleOptions {
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
}

/**
 * Settles the claims that are due (reading 16): a group that the upstream made goes to the user who asked for it when exactly one fits; a claim for which
 * there is none is dropped; one that could be several stays, without its name, for a person to decide.
 *
 * Never throws: what fails is logged and comes up again when its lease ends.
 */
export const settle = async (options: SettleOptions): Promise<void> => {
  const { store, leaseMs = 60_000, now = Date.now, log = silent } = options
  const claims = await store.lease(now(), now() + leaseMs).catch((err: unknown) => {
    log.warn({ err }, 'claims could not be read')
    return []
  })
  for (const claim of claims) {
    const settled = claim.renames === undefined ? settleCreation(claim, options) : settleRenaming(claim, options)
    await settled.then(
      (outcome) => log.info({ claim: claim.id, user: claim.user, outcome }, 'claim settled'),
      (err: unknown) => log.warn({ claim: claim.id, user: claim.user, err }, 'claim could not be settled'),
    )
  }
}

const settleCreation = async (claim: Claim, options: SettleOptions): Promise<string> => {
  const { store, find, callMs = 60_000, skewMs = 300_000, now = Date.now } = options
  const fitting: { id: string; createdAt: number }[] = []
  for (const { id, createdAt = claim.createdAt } of await find(claim.type, claim.name)) {
    const timely = createdAt >= claim.createdAt - skewMs && createdAt <= claim.createdAt + callMs + skewMs
    if (timely && !(await store.group(id))) fitting.push({ id, createdAt })
  }
  const [only, ...others] = fitting
  if (!only) {
    await store.release(claim)
    return 'released'
  }
  const outcome = others.length === 0 ? await store.adopt(claim, only) : 'ambiguous'
  if (outcome === 'adopted') return outcome
  // Looked at again ever more rarely, up to once an hour: somebody else's claim may be settled by then.
  const age = now() - claim.createdAt
  await store.doubt(claim, now() + Math.min(Math.max(age, 60_000), 3_600_000))
  return outcome
}

const settleRenaming = async (claim: Claim, { store, find }: SettleOptions): Promise<string> => {
  const id = claim.renames ?? ''
  const group = await store.group(id)
  if (group && (await find(claim.type, claim.name)).some((found) => found.id === id)) {
    return (await store.confirm(claim, { id, createdAt: group.createdAt })) ? 'renamed' : 'overtaken'
  }
  await store.release(claim)
  return 'released'
}

/** Settles at once, then every `everyMs` (default a minute) and whenever a claim falls due, until the signal. Keeps no process alive. */
export const settleRegularly = async (
  options: SettleOptions & { readonly everyMs?: number; readonly signal: AbortSignal },
): Promise<void> => {
  const { store, signal, everyMs = 60_000, now = Date.now } = options
  while (!signal.aborted) {
    await settle(options)
    const due = await store.nextDue().catch(() => undefined)
    await pause(Math.min(everyMs, Math.max(250, (due ?? Number.POSITIVE_INFINITY) - now())), signal)
  }
}

import type { Ownership } from '../../ownership/index.ts'
import type { Clock } from '../../shared/clock.ts'
import { asJsonObject } from '../../shared/json/parsed.ts'
import type { Log } from '../../shared/problem.ts'
import {
  type MediaAccount,
  type Upstream,
  UpstreamBusyError,
  UpstreamRejectedError,
  UpstreamUnreachableError,
} from '../../upstream-proxy/index.ts'
import { rejectedPicture } from '../pictures/states.ts'
import type { AccountUseStore } from './store.ts'

/** Decides which account gets a new group. */
export interface Placement {
  /**
   * Makes a group of a user on the best account. If that has no room, or does not respond and has certainly made
   * nothing, on the next one. Rejects as the last attempt does.
   */
  place<Made>(user: string, make: (account: string | undefined) => Promise<Made>): Promise<Made>
  /** The best account for the group of a person that a user verifies. */
  accountFor(user: string): Promise<string | undefined>
}

/** There is one account, without a name. */
export const oneAccount: Placement = {
  place: (_, make) => make(undefined),
  accountFor: async () => undefined,
}

interface PlacementOptions {
  readonly accounts: readonly MediaAccount[]
  readonly upstream: Pick<Upstream, 'accounts' | 'send'>
  readonly owners: Pick<Ownership, 'groupsOf'>
  readonly store: Partial<AccountUseStore>
  readonly clock: Pick<Clock, 'now'>
  readonly log: Log
  /**
   * How many assets an account may have at once, of a library that may have more: then there is always room, and less
   * room where more assets share a slot. Default: what `slots` of the account says is all that fits.
   */
  readonly limitOf?: ((account: string) => number | undefined) | undefined
}

/** How long an account that has refused a group comes after the others. Milliseconds. */
const avoidMs = 60_000
/** How long the answer of an account to whether it takes more groups is used. Milliseconds. */
const quotaMs = 60_000
/** How long a count of groups and assets is used. Milliseconds. */
const useMs = 5_000

/**
 * A new group goes to an account with room, whose rate limit lets its call through soonest. Among equals: to one where
 * its user has a group, because a task uses assets of one account; then to the one with the most room; then by a hash
 * of the user, so that users spread.
 *
 * Whether there is room is known from `slots`, from refusals of the last minute, and from the answers of the accounts
 * that tell it. Nobody waits for those: an account that is slow delays no group of another one.
 */
export const createPlacement = (options: PlacementOptions): Placement => {
  const { accounts, upstream, owners, store, clock, log, limitOf } = options
  const avoided = new Map<string, number>()
  const verifies = accounts[0]?.kind.faceVerification
  const faces = new Set(accounts.flatMap(({ name, kind }) => (kind.faceVerification === verifies ? [name] : [])))
  const hasSlots = accounts.some(({ slots }) => slots !== undefined)
  let counted: { readonly at: number; readonly use: Promise<ReadonlyMap<string, number>> } | undefined

  const countUse = (): Promise<ReadonlyMap<string, number>> => {
    const now = clock.now()
    if (counted && Math.abs(now - counted.at) < useMs) return counted.use
    const use = (store.accountUse?.() ?? Promise.resolve(new Map<string, number>())).catch((err: unknown) => {
      log.warn({ err }, 'how full the accounts are could not be counted')
      return new Map<string, number>()
    })
    counted = { at: now, use }
    return use
  }

  const roomOf = async (): Promise<(account: MediaAccount, index: number) => number> => {
    if (!hasSlots && !limitOf) return () => Number.POSITIVE_INFINITY
    const use = await countUse()
    return ({ name, slots = Number.POSITIVE_INFINITY }, index) => {
      const used = (use.get(name) ?? 0) + (index === 0 ? (use.get('') ?? 0) : 0)
      return limitOf ? -used / (limitOf(name) ?? Number.POSITIVE_INFINITY) : slots - used
    }
  }

  /** Accounts that have said that they take no more groups. */
  const full = new Set<string>()
  const askedAt = new Map<string, number>()

  const askQuota = async (account: string): Promise<void> => {
    const now = clock.now()
    if (now < (askedAt.get(account) ?? Number.NEGATIVE_INFINITY) + quotaMs) return
    askedAt.set(account, now)
    try {
      const { fields } = await upstream.send({ action: 'GetAssetQuota', account })
      if (asJsonObject(fields?.Result)?.aigc_writable === false) full.add(account)
      else full.delete(account)
    } catch (err) {
      log.debug({ account, err }, 'the quota of an account could not be read')
    }
  }

  /** The names of the accounts, the best first. */
  const rank = async (user: string): Promise<readonly string[]> => {
    const [own, room] = await Promise.all([owners.groupsOf(user), roomOf()])
    const known = new Set(own.map(({ account }) => account))
    const start = hashOf(user) % accounts.length
    const now = clock.now()
    for (const { name, kind } of accounts) if (kind.hasQuota && !limitOf) void askQuota(name)
    const ranked = accounts.map((account, index) => {
      const { name } = account
      const left = room(account, index)
      const isFull = !limitOf && (left <= 0 || full.has(name))
      const isAvoided = isFull || now < (avoided.get(name) ?? 0)
      const waitMs = upstream.accounts?.waitMs(name, 'CreateAssetGroup') ?? 0
      const turn = (index - start + accounts.length) % accounts.length
      return { name, rank: [isAvoided ? 1 : 0, waitMs, known.has(name) ? 0 : 1, -left, turn] }
    })
    return ranked.sort((a, b) => compareRanks(a.rank, b.rank)).map(({ name }) => name)
  }

  return {
    async place(user, make) {
      const names = await rank(user)
      for (const name of names.slice(0, -1)) {
        try {
          return await make(name)
        } catch (error) {
          if (!isAboutAccount(error)) throw error
          avoided.set(name, clock.now() + avoidMs)
          log.warn({ account: name, err: error }, 'an account did not take a group')
        }
      }
      return make(names.at(-1))
    },

    async accountFor(user) {
      const names = await rank(user)
      // The face verification of the first account is that of the library.
      return names.find((name) => faces.has(name)) ?? upstream.accounts?.names[0]
    },
  }
}

const compareRanks = (a: readonly number[], b: readonly number[]): number => {
  const at = a.findIndex((value, index) => value !== b[index])
  return at < 0 ? 0 : (a[at] ?? 0) < (b[at] ?? 0) ? -1 : 1
}

/** FNV-1a (https://datatracker.ietf.org/doc/draft-eastlake-fnv): any hash that is the same in all processes. */
const hashOf = (text: string): number => {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash >>> 0
}

/** Whether a call has certainly made nothing, for a reason that another account may not have. */
const isAboutAccount = (error: unknown): boolean => {
  if (error instanceof UpstreamBusyError) return error.status === 429
  if (error instanceof UpstreamUnreachableError) return !error.sent
  if (!(error instanceof UpstreamRejectedError)) return false
  const refusal = rejectedPicture(error)
  return error.status === 429 || (refusal?.state === 'failed' && refusal.code.startsWith('Quota'))
}

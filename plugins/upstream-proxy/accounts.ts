import { type Fetch, UpstreamUnreachableError } from '../shared/upstream/upstream-error.ts'
import { otherAccount, unreachableAccount } from './account-error.ts'
import { createClient, type UpstreamOptions } from './client.ts'
import { accountOf, type MediaKind } from './library/operation.ts'
import type { RateLimitsOptions } from './rate-limit/by-action.ts'
import type { AccountClient, Upstream } from './upstream.ts'

/** One of several accounts behind a library. */
export interface MediaAccount {
  /**
   * The records of groups have it, so it must not change: letters, digits, `.`, `_` and `-`, at most 64 characters. It
   * is in errors that callers see.
   */
  readonly name: string
  readonly kind: MediaKind
  /** Its own rate limits, in calls per second by action. Default: those of `limits`. */
  readonly perSecond?: RateLimitsOptions['perSecond']
  /** Default: that of the options. Circuit breakers must not take two accounts at one address for one. */
  readonly fetch?: Fetch
  /**
   * How many groups and assets fit into it. Default: as many as the upstream takes. With the option `slots` of
   * `asset-library`: how many assets it may have at once. Default then: that of the option.
   */
  readonly slots?: number
}

/** Options that all accounts share. */
export type AccountsOptions = Omit<UpstreamOptions, 'kind' | 'account'>

/**
 * Creates the client of an asset library that has several accounts: one client for each, with its own rate limits,
 * shared reads and budget of retries.
 *
 * Each operation goes to the account of its ids (`accountOf`): groups and assets carry it from the check of their
 * owner. Without one of the accounts, its operations are rejected as those of an upstream that does not respond, with
 * its name, and nothing is sent.
 *
 * Throws TypeError without an account, for a wrong name and for a name that two accounts have.
 *
 * @example
 * const upstream = createUpstreamOfAccounts([{ name: 'cn-1', kind, perSecond: arkLimits }])
 */
export const createUpstreamOfAccounts = (
  accounts: readonly MediaAccount[],
  options: AccountsOptions = {},
): Upstream => {
  const [first, ...others] = accounts
  if (!first) throw new TypeError('there must be an account')
  const clients = new Map<string, AccountClient>()
  for (const { name, kind, perSecond = options.limits?.perSecond ?? {}, fetch = options.fetch } of accounts) {
    if (typeof name !== 'string' || !accountName.test(name))
      throw new TypeError('the name of an account must be letters, digits, ., _ and -, at most 64 characters')
    if (clients.has(name)) throw new TypeError(`two accounts have the name ${name}`)
    clients.set(
      name,
      createClient({
        ...options,
        ...{ kind, account: name, limits: { ...options.limits, perSecond } },
        ...(fetch && { fetch }),
      }),
    )
  }
  return {
    faceVerification: first.kind.faceVerification,
    accounts: {
      names: [first.name, ...others.map(({ name }) => name)],
      waitMs: (account, action) => clients.get(account)?.waitMs(action) ?? 0,
    },
    async send(operation, caller) {
      const account = accountOf(operation)
      const client = clients.get(account ?? '')
      if (!client) throw otherAccount(account)
      try {
        return await client.send(operation, caller)
      } catch (error) {
        throw error instanceof UpstreamUnreachableError ? unreachableAccount(error, account) : error
      }
    },
  }
}

/** The form of the name of an account. */
export const accountName = /^[\w.-]{1,64}$/

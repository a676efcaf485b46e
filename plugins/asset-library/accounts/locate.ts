import type { AssetCaller, AssetLocation, Ownership, OwnershipStore } from '../../ownership/index.ts'
import { Problem } from '../../shared/problem.ts'
import { type Caller, callerOf, type Upstream } from '../../upstream-proxy/index.ts'
import { type Evidence, locateAsset } from '../routes/library.ts'

interface LocateOptions {
  readonly upstream: Upstream
  /** The groups of the gateway's users. */
  readonly owners: () => Pick<Ownership, 'selectReadable'>
  readonly store: Pick<OwnershipStore, 'groupOfAsset'>
}

/**
 * Looks up an asset for its user. With several accounts, it asks the one of the group in which the asset was recorded,
 * or else those on which the user sees a group. A foreign asset and one that does not exist take the same calls.
 *
 * If no account knows the asset and one did not respond, the asset may be there: throws the error of that account.
 */
export const createLocate =
  ({ upstream, owners, store }: LocateOptions) =>
  async (asset: string, { user, request }: AssetCaller): Promise<AssetLocation<Evidence>> => {
    const caller: Caller = request ? callerOf(request, user) : { user }
    if (!upstream.accounts) return locateAsset(upstream, asset, caller)
    const [groups, recorded] = await Promise.all([
      owners().selectReadable(user, undefined, undefined, 'all'),
      store.groupOfAsset(asset, user),
    ])
    const first = groups.find(({ id }) => id === recorded)
    const accounts = new Set((first ? [first] : groups).map(({ account }) => account))
    if (accounts.size === 0) accounts.add(upstream.accounts.names[0])
    let absent: AssetLocation<Evidence> | undefined
    let failure: unknown
    for (const account of accounts) {
      try {
        const located = await locateAsset(upstream, asset, caller, account)
        if (located.group !== undefined) return located
        absent ??= located
      } catch (error) {
        if (!(error instanceof Problem)) throw error
        failure ??= error
      }
    }
    if (failure !== undefined || !absent) throw failure
    return absent
  }

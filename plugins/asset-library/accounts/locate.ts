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
export const createLocate = ({ upstream, owners, store }: LocateOptions) => {
  const { accounts } = upstream
  if (!accounts) return (asset: string, by: AssetCaller) => locateAsset(upstream, asset, callerOfAsset(by))
  return async (asset: string, by: AssetCaller): Promise<AssetLocation<Evidence>> => {
    const { user } = by
    const caller = callerOfAsset(by)
    const [groups, recorded] = await Promise.all([
      owners().selectReadable(user, undefined, undefined, 'all'),
      store.groupOfAsset(asset, user),
    ])
    const first = groups.find(({ id }) => id === recorded)
    const asked = new Set((first ? [first] : groups).map(({ account }) => account))
    if (asked.size === 0) asked.add(accounts.names[0])
    let absent: AssetLocation<Evidence> | undefined
    let failure: unknown
    for (const account of asked) {
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
}

const callerOfAsset = ({ user, request }: AssetCaller): Caller => (request ? callerOf(request, user) : { user })

import { type Awaitable, andThen } from '../awaitable.ts'
import { FieldProblem } from '../field-problem.ts'
import type { Json } from '../json/json.ts'
import { Problem } from '../problem.ts'
import { UpstreamRejectedError, UpstreamUnreachableError } from '../upstream/upstream-error.ts'
import type { UsedAsset } from './asset-uses.ts'
import { type AssetReference, assetsInTurns } from './media-fields.ts'

/** Checks the owners of assets: the part of `Ownership` that plugins of the assets' users need. */
export interface AssetOwners {
  /** Rejects with Problem 403 when the user does not own the asset. Resolves with its group, where that is known. */
  asset(user: string, id: unknown, request?: Request): Promise<{ readonly group?: { readonly id: string } } | undefined>
}

export interface AssetOwnershipOptions {
  /**
   * Checks the owner of an asset. Undefined: there is no asset library, and only `asset://` addresses of presets are
   * allowed.
   */
  readonly assets?: AssetOwners | undefined
  /** Ids of assets that every user may use. */
  readonly presetAssets: ReadonlySet<string>
}

/**
 * Requires that every asset in the request is the caller's own or a preset. Resolves with those that are the caller's
 * own.
 *
 * The upstream has one account for all users, so it would accept the asset of any user. Throws FieldProblem 403 for the
 * first foreign asset.
 */
export const requireOwnAssets = (
  json: Json,
  user: string,
  request: Request,
  options: AssetOwnershipOptions,
): Awaitable<readonly UsedAsset[]> =>
  andThen(assetsInTurns(json), (references) =>
    references.length === 0 ? noAssets : requireOwn(references, user, request, options),
  )

const noAssets: readonly UsedAsset[] = []

const requireOwn = async (
  references: readonly AssetReference[],
  user: string,
  request: Request,
  { assets, presetAssets }: AssetOwnershipOptions,
): Promise<readonly UsedAsset[]> => {
  const used: UsedAsset[] = []
  for (const { id, param } of references) {
    if (presetAssets.has(id)) continue
    if (!assets) throw new FieldProblem(403, 'this gateway has no asset library', { param })
    const owned = await assets.asset(user, id, request).catch((error: unknown) => {
      // Its errors do not have the shape of this protocol's, and their messages are about another upstream.
      if (error instanceof UpstreamRejectedError || error instanceof UpstreamUnreachableError)
        throw new Problem(502, 'asset library unavailable', { cause: error })
      if (!(error instanceof Problem) || error.status !== 403) throw error
      throw new FieldProblem(403, error.message, { param, code: 'asset_not_found', event: error.event })
    })
    used.push({ id, ...(owned?.group && { group: owned.group.id }) })
  }
  return used
}

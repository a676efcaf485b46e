import { type Awaitable, andThen } from '../awaitable.ts'
import type { NewConsentUse } from '../consent/store.ts'
import { FieldProblem } from '../field-problem.ts'
import type { Json } from '../json/json.ts'
import { Problem } from '../problem.ts'
import { UpstreamRejectedError, UpstreamUnreachableError } from '../upstream/upstream-error.ts'
import type { UsedAsset } from './asset-uses.ts'
import { type AssetReference, assetsInTurns } from './media-fields.ts'

/** Checks the owners of assets: the part of `Ownership` that plugins of the assets' users need. */
export interface AssetOwners {
  /** Rejects with Problem 403 when the user may not use the asset. */
  asset(user: string, id: unknown, request?: Request): Promise<FoundAsset | undefined>
  /** Whether all these groups are still lent to the user for use. Default: no group is lent. */
  areLent?(user: string, groups: readonly string[]): Promise<boolean>
  /**
   * Records that the user uses these lent groups now: what refers to their assets is about to be sent. False: one of
   * them is not lent any more, and nothing may be sent. Default: no group is lent.
   */
  recordUse?(user: string, groups: readonly string[]): Promise<boolean>
  /**
   * Whether none of the persons of these groups has withdrawn the consent: asked about assets that a request uses by
   * what it continues. Default: nobody can.
   */
  areConsented?(groups: readonly string[]): Promise<boolean>
  /**
   * Records that assets of persons are used now: the task that refers to them is about to be sent. False: a person has
   * withdrawn the consent, and nothing may be sent. Default: nobody can.
   */
  recordPersonUse?(use: Omit<NewConsentUse, 'at'>): Promise<boolean>
  /**
   * Throws Problem for assets that `place` could not get to the upstream now, so that the creation and the estimate of
   * a task say so. Default: the upstream has all assets.
   */
  requirePlaceable?(ids: readonly string[]): Promise<void>
  /**
   * Gets the assets of a task to the upstream, which the task needs before it is sent. Undefined: not all of them are
   * there yet, and the caller asks again later. Throws Problem for those that cannot get there. Default: the upstream
   * has all assets, under the ids that their users know.
   */
  place?(ids: readonly string[], task: string): Promise<PlacedAssets | undefined>
  /**
   * Gets the assets of a request to the upstream, and keeps them there until the request ends. It waits for those that
   * are not there yet, and rejects with the reason of `signal` when that aborts. Throws Problem for those that cannot
   * get there. Undefined: all of them stay at the upstream anyway. Default: the upstream has all assets.
   */
  hold?(request: AssetHoldRequest): Promise<HeldAssets | undefined>
}

/** A request that names assets. */
export interface AssetHoldRequest {
  /** Id of the user who sends it. */
  readonly user: string
  /** Its assets, with the paths of their fields, for errors. */
  readonly assets: readonly AssetReference[]
  readonly signal: AbortSignal
}

/** The assets of a request, which stay at the upstream until `end`. */
export interface HeldAssets {
  readonly placed: PlacedAssets
  /** They may leave the upstream. Without effect when called again, and after `endAt`. Never throws. */
  end(): void
  /** They stay until a time, whatever becomes of this process. Milliseconds since 1970. Never throws. */
  endAt(time: number): void
}

/** The upstream's ids of assets, by the ids that their users know. An asset that is not in it has one id. */
export type PlacedAssets = ReadonlyMap<string, string>

/** An asset that a user may use. */
export interface FoundAsset {
  /** Its group, where that is known. */
  readonly group?: { readonly id: string; readonly account?: string | undefined }
  /** Whether another user lends the group. Then a use begins with `recordUse`. Default false. */
  readonly isLent?: boolean
  /** Whether the group shows a person. Then a use begins with `recordPersonUse`. Default false. */
  readonly showsPerson?: boolean
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
 * Requires that the caller may use every asset in the request, or that it is a preset. Resolves with those that are
 * none.
 *
 * The upstream has one account for all users, so it would accept the asset of any user. Throws FieldProblem 403 for the
 * first foreign asset.
 */
export const requireOwnAssets = (
  json: Json,
  user: string,
  request: Request,
  options: AssetOwnershipOptions,
): Awaitable<readonly ReferencedAsset[]> =>
  andThen(assetsInTurns(json), (references) =>
    references.length === 0 ? noAssets : requireOwn(references, user, request, options),
  )

/** An asset of a request, and the path of the field that names it first. */
export interface ReferencedAsset extends UsedAsset, AssetReference {}

const noAssets: readonly ReferencedAsset[] = []

const requireOwn = async (
  references: readonly AssetReference[],
  user: string,
  request: Request,
  { assets, presetAssets }: AssetOwnershipOptions,
): Promise<readonly ReferencedAsset[]> => {
  const used: ReferencedAsset[] = []
  for (const { id, param } of references) {
    if (presetAssets.has(id)) continue
    if (!assets) throw new FieldProblem(403, 'this gateway has no asset library', { param })
    const found = await assets.asset(user, id, request).catch((error: unknown) => {
      // Its errors do not have the shape of this protocol's, and their messages are about another upstream.
      if (error instanceof UpstreamRejectedError || error instanceof UpstreamUnreachableError)
        throw new Problem(502, 'asset library unavailable', { cause: error })
      if (!(error instanceof Problem) || error.status !== 403) throw error
      throw new FieldProblem(403, error.message, { param, code: 'asset_not_found', event: error.event })
    })
    const { group, isLent, showsPerson } = found ?? {}
    used.push({
      ...{ id, param },
      ...(group && { group: group.id }),
      ...(group?.account !== undefined && { account: group.account }),
      ...(isLent && { isLent }),
      ...(showsPerson && { showsPerson }),
    })
  }
  return used
}

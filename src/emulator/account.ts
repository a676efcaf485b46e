import type { ActionRequest, ActionResult } from './action.ts'
import { ArkError } from './api/ark-error.ts'
import { createLimits, type Limits } from './call-limits.ts'
import { createFaces, type FaceService } from './face/verifications.ts'
import { createFaults, type FaultRegistry } from './faults/registry.ts'
import { type AssetFiles, createAssetFiles } from './files/asset-files.ts'
import { createLinkSigner } from './files/link-signer.ts'
import type { Library } from './library/library.ts'
import { createSortCache, type SortCache } from './library/list-pages.ts'
import type { Asset, Group } from './library/records.ts'
import { createLibrary } from './library/store.ts'
import type { Settings } from './options.ts'
import { createScenarios, type Scenarios } from './text/generation/scenario.ts'
import { createObjects, type TextObjects } from './text/objects/objects.ts'
import { createVideoService, type VideoService } from './video/service.ts'

/** The state of the one emulated account. All APIs of the emulator share it. */
export interface Account {
  readonly settings: Settings
  readonly library: Library
  readonly faces: FaceService
  readonly objects: TextObjects
  readonly scenarios: Scenarios
  readonly video: VideoService
  readonly files: AssetFiles
  readonly faultRegistry: FaultRegistry
  readonly callLimits: Limits
  readonly sortedGroups: SortCache<Group>
  readonly sortedAssets: SortCache<Asset>
}

/**
 * Creates an empty account. `origin` returns the emulator's base URL, which is known only after it has started to
 * listen.
 */
export const createAccount = (settings: Settings, origin: () => string): Account => {
  const library = createLibrary(settings)
  const faultRegistry = createFaults()
  const signer = createLinkSigner(settings, library.now)
  return {
    settings,
    library,
    faces: createFaces(settings, library, origin),
    objects: createObjects(settings),
    scenarios: createScenarios(),
    video: createVideoService({ settings, library, signer, origin, faultsFor: faultRegistry.faultsFor }),
    files: createAssetFiles({ signer, region: settings.region, now: library.now, origin }),
    faultRegistry,
    callLimits: createLimits(settings.limits, settings.clock),
    sortedGroups: createSortCache(),
    sortedAssets: createSortCache(),
  }
}

/** Implements one action with Ark's rules. Throws a `ArkError` where Ark returns an error. */
export type Action = (account: Account, request: ActionRequest) => ActionResult

/** Throws 403 `QuotaExceeded` when the account is full. Groups and assets share one quota. */
export const checkQuota = ({ settings, library }: Account): void => {
  const { groups, assets } = library.count()
  if (groups + assets < settings.quota) return
  throw new ArkError(403, 'QuotaExceeded', `The account's quota of ${settings.quota} groups and assets is used up.`)
}

/** GetAssetQuota, an undocumented action: whether the account can still create objects, and its projects. */
export const getAssetQuota: Action = (account) => {
  const { settings, library } = account
  const { groups, assets } = library.count()
  const writable = groups + assets < settings.quota
  const projects = [...new Set([settings.project, ...library.groups().map((group) => group.project)])]
  const max = Number.isFinite(settings.quota) ? settings.quota : 1_000_000
  const result = { aigc_writable: writable, liveness_writable: writable, max_assets: max, projects }
  return { result: JSON.stringify(result) }
}

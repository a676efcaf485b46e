import { createFaces, type Faces } from './face/faces.ts'
import type { Library } from './library.ts'
import { createLibrary } from './library-store.ts'
import { createLimits, type Limits } from './limits.ts'
import { createSorted, type List, type Sorted } from './listing.ts'
import type { Member } from './members.ts'
import type { Asset, Group } from './records.ts'
import { Refusal } from './refusal.ts'
import type { Settings } from './settings.ts'
import { createObjects, type TextObjects } from './text/objects.ts'

/** The one account behind both shapes. */
export interface Account {
  readonly settings: Settings
  readonly library: Library
  readonly faces: Faces
  readonly objects: TextObjects
  readonly limits: Limits
  readonly sortedGroups: Sorted<Group>
  readonly sortedAssets: Sorted<Asset>
}

/** An account that holds nothing yet. `origin`: where the emulator listens, known only when it does. */
export function createAccount(settings: Settings, origin: () => string): Account {
  const library = createLibrary(settings)
  return {
    settings,
    library,
    faces: createFaces(settings, library, origin),
    objects: createObjects(settings),
    limits: createLimits(settings.limits, settings.clock),
    sortedGroups: createSorted(),
    sortedAssets: createSorted(),
  }
}

/** A call of an action, whichever shape it came in. */
export interface Ask {
  readonly action: string
  /** the rest shape knows no projects and has defaults where ark insists */
  readonly plain: boolean
  readonly project: string
  readonly members: readonly Member[]
}

/** What an action answers: the text of `Result`, or a list. */
export type Answer = { readonly result: string } | { readonly list: List }

/** One action with Ark's rules; it throws a `Refusal` for everything that Ark refuses. */
export type Action = (account: Account, ask: Ask) => Answer

/** Refuses what would exceed the account's quota: groups and assets share one pool. */
export function checkQuota({ settings, library }: Account): void {
  const { groups, assets } = library.count()
  if (groups + assets < settings.quota) return
  throw new Refusal(403, 'QuotaExceeded', `The account's quota of ${settings.quota} groups and assets is used up.`)
}

/** GetAssetQuota, undocumented: what is left, and in which projects. */
export const getAssetQuota: Action = (account) => {
  const { settings, library } = account
  const { groups, assets } = library.count()
  const writable = groups + assets < settings.quota
  const projects = [...new Set([settings.project, ...library.groups().map((group) => group.project)])]
  const max = Number.isFinite(settings.quota) ? settings.quota : 1_000_000
  const result = { aigc_writable: writable, liveness_writable: writable, max_assets: max, projects }
  return { result: JSON.stringify(result) }
}

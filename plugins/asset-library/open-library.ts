import { createIdempotency } from '../idempotency/index.ts'
import { createOwnership } from '../ownership/index.ts'
import { noAudit } from '../shared/audit.ts'
import { backgroundOf } from '../shared/background/background.ts'
import { systemClock } from '../shared/clock.ts'
import { identifySameOrigin } from '../shared/http/origin.ts'
import type { Identify } from '../shared/identity/identify.ts'
import type { AssetOwners } from '../shared/media/asset-ownership.ts'
import type { PictureAssets } from '../shared/media/picture-assets.ts'
import { noLog } from '../shared/problem.ts'
import type { Upstream } from '../upstream-proxy/index.ts'
import { createLocate } from './accounts/locate.ts'
import { createPlacement, oneAccount } from './accounts/placement.ts'
import { runBatches } from './batches/run-batches.ts'
import { deleteConsents } from './consent/delete-consents.ts'
import { FilterCheck } from './lists/filter-check.ts'
import type { GatewayOptions } from './options.ts'
import { createPictureAssets } from './pictures/picture-assets.ts'
import type { Evidence, Library, Owners } from './routes/library.ts'
import {
  assetsOfFirst,
  assetsOfSlots,
  authorizedAssets,
  consentedAssets,
  type TextAssets,
} from './routes/person-assets.ts'
import { reconcileGroups } from './routes/reconcile.ts'
import { openSlots } from './slots/open-slots.ts'
import { maxQueueMsOf, openUpstream, rejectAfter } from './upstream.ts'
import { keepWhileFull } from './watch/asset-event-queue.ts'
import { watchAssets } from './watch/asset-watch.ts'

/** What other plugins need of the asset library. */
export interface LibraryParts {
  /** The client of the upstream, for `faceVerification`. */
  readonly upstream: Upstream
  /** The account for a face verification of a user, for `faceVerification`. Undefined: there is one account. */
  readonly accountFor: ((user: string) => Promise<string | undefined>) | undefined
  /**
   * Checks the owner of an asset, for `textGeneration`: with several accounts, its upstream is one of the first.
   * Undefined without an upstream.
   */
  readonly assets: TextAssets | undefined
  /** The same, for uses that show a person: `videoGeneration`. Undefined without an upstream. */
  readonly authorizedAssets: AssetOwners | undefined
  /**
   * Makes assets of pictures, for `videoGeneration`. Undefined without an upstream, and without the option `pictures`.
   */
  readonly pictures: PictureAssets | undefined
}

/** What the routes of the asset library are made of. */
export interface OpenLibrary {
  readonly library: Library
  readonly owners: Owners
  readonly identify: Identify
  readonly parts: LibraryParts
  /** A batch has been added or cancelled. */
  wakeBatches(): void
  /** A person has asked for a deletion. */
  wakeDeletions(): void
}

/** Opens the asset library, and starts its work in the background. */
export const openLibrary = (options: GatewayOptions): OpenLibrary => {
  const { accounts, batches, consents, store, maxBodyBytes = 2 ** 20 } = options
  const { log = noLog, audit = noAudit, clock = systemClock } = options
  const opened = openUpstream(options)
  const claimMs = 2 * (options.timeoutMs ?? 30_000) + maxQueueMsOf(options)
  const slots =
    options.slots && openSlots({ upstream: opened, claimMs, clock, log }, options.slots, options, () => owners)
  const upstream = slots?.upstream ?? opened
  const owners: Owners = createOwnership<Evidence>({
    store,
    revisionClock: options.revisionClock,
    ...{ shares: options.shares?.store, clock, defaultAccount: upstream.accounts?.names[0] },
    locate: createLocate({ upstream, owners: () => owners, store }),
  })
  const library: Library = {
    ...{
      upstream,
      placement: accounts
        ? createPlacement({ accounts, upstream, owners, store, clock, log, limitOf: slots?.limitOf })
        : oneAccount,
      filterCheck: new FilterCheck(upstream, clock),
      claims: store,
      assets: store,
      idempotency: options.idempotency && createIdempotency({ store: options.idempotency, clock, log }),
      events: options.events && keepWhileFull(options.events, { clock, log }),
      consents: consents?.store,
      personSlots: slots?.persons,
    },
    ...{ usageLimits: options.usageLimits, maxBodyBytes, claimMs, clock, log, audit },
  }
  const identify = identifySameOrigin(options.identify, options.requireSameOrigin)
  const background = backgroundOf(options.background)
  if (background) reconcileGroups(library, store, background)
  if (!(options.kind ?? accounts)) {
    const none = { accountFor: undefined, assets: undefined, authorizedAssets: undefined, pictures: undefined }
    return {
      ...{ library, owners, identify: rejectAfter(identify), parts: { upstream, ...none } },
      wakeBatches() {},
      wakeDeletions() {},
    }
  }
  if (background) slots?.workOn(background)
  const running =
    background && batches && runBatches(library, owners, { store: batches, files: options.batchFiles }, background)
  if (background && options.events) watchAssets(library, options.events, owners, background)
  const deletions =
    background && consents && deleteConsents(library, owners, { store: consents.store, uses: options.uses }, background)
  const consented = consents ? consentedAssets(owners, consents.store) : owners
  return {
    ...{ library, owners, identify },
    parts: {
      upstream,
      accountFor: accounts && library.placement.accountFor,
      assets: assetsOfFirst(slots ? assetsOfSlots(consented, slots.usable) : consented, upstream),
      authorizedAssets: authorizedAssets(owners, consents?.store, clock, slots?.usable),
      pictures: options.pictures && createPictureAssets(library, owners, options.pictures),
    },
    wakeBatches: () => running?.wake(),
    wakeDeletions: () => deletions?.wake(),
  }
}

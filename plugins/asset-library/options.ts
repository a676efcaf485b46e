import type { IdempotencyStore } from '../idempotency/index.ts'
import type { ClaimStore, Identify, OwnershipStore, RevisionClock } from '../ownership/index.ts'
import type { Audit } from '../shared/audit.ts'
import type { BackgroundOption } from '../shared/background/background.ts'
import type { LeaseStore } from '../shared/background/lease-store.ts'
import type { ErrorsOption } from '../shared/http/error-handler.ts'
import type { RequireSameOrigin } from '../shared/http/origin.ts'
import type { AssetUses } from '../shared/media/asset-uses.ts'
import type { FormFiles } from '../shared/media/form-files.ts'
import type { MediaAccount, MediaKind, UpstreamOptions } from '../upstream-proxy/index.ts'
import type { UsageLimits } from '../usage-limits/index.ts'
import type { AccountUseStore } from './accounts/store.ts'
import type { AssetBatchStore } from './batches/store.ts'
import type { ConsentOptions } from './consent/consent-routes.ts'
import type { PictureOptions } from './pictures/picture-assets.ts'
import type { ShareOptions } from './routes/shares.ts'
import type { SlotOptions } from './slots/options.ts'
import type { AssetEvents } from './watch/asset-events.ts'

/** Options of `gateway` and `assetLibrary`. */
export interface GatewayOptions extends Omit<UpstreamOptions, 'kind' | 'account'> {
  /** The asset library's upstream. Undefined, and no `accounts`: all its routes respond with 502. */
  readonly kind: MediaKind | undefined
  /**
   * Several accounts behind one library, instead of `kind`. A group lives on one of them, and its assets with it; a new
   * one goes where there is room and rate. The first has the groups of the time before there were several, so it must
   * stay the first. Default: one account.
   */
  readonly accounts?: readonly MediaAccount[] | undefined
  readonly store: OwnershipStore & ClaimStore & Partial<AccountUseStore>
  /** Identifies the caller: `identifyByToken`, or a function of the host app. */
  readonly identify: Identify
  /**
   * Throws when a page of another origin sends the request, see `requireSameOrigin` of `sluice/shared`. It is called
   * for identified callers of routes that change something. Default: no check, for callers with a token. Needed where
   * `identify` reads a cookie.
   */
  readonly requireSameOrigin?: RequireSameOrigin
  /**
   * Keys that sign page tokens, of at least 16 characters: the first signs, all verify. All processes need the same
   * ones.
   */
  readonly secrets: readonly string[]
  /** The product word in `prefix` and in the type of errors. One path segment, default `media`. */
  readonly segment?: string
  /** Base path of the routes. Default `/api/{segment}/proxy`. */
  readonly prefix?: string
  /**
   * The JSON body of errors; `throw`: errors go to the `onError` of the host app. Default:
   * `problemBody('{segment}_proxy_error')`.
   */
  readonly errors?: ErrorsOption
  /** Maximum length of a request body, in bytes; a longer one is rejected with 413. Default 1 MiB. */
  readonly maxBodyBytes?: number
  /**
   * With it, the creation of a group or an asset honors the header `Idempotency-Key`. Default: the header is ignored.
   */
  readonly idempotency?: IdempotencyStore
  /**
   * Where events of assets are recorded, for `sluice/events`. With `background`, assets in progress are polled for
   * them. Default: nowhere.
   */
  readonly events?: AssetEvents
  /**
   * With it, other plugins can make assets of the pictures that their callers have: `AssetLibrary.pictures`. Default:
   * they cannot.
   */
  readonly pictures?: PictureOptions | undefined
  /**
   * Which video tasks use the assets: `createVideoService(…).uses`. It is called when a request needs it, because that
   * service is made of parts of this library. Default: there are no routes for the uses.
   */
  readonly uses?: (() => AssetUses) | undefined
  /**
   * With it, users lend groups to users and teams, and lists take `scope`. Default: each user has own groups alone.
   */
  readonly shares?: ShareOptions | undefined
  /**
   * Where batches of assets are kept: `sluice/store` has it. With it, many assets can be created with one request, by
   * the processes with `background`. Default: there are no routes for batches.
   */
  readonly batches?: (AssetBatchStore & LeaseStore) | undefined
  /**
   * Stores the files that a batch sends as a form: `createFormUploads` of `sluice/file-storage`. Default: a batch has
   * addresses only.
   */
  readonly batchFiles?: FormFiles | undefined
  /**
   * With it, persons can withdraw their consents to the use of their groups, of type `LivenessFace`: each use of one is
   * recorded and checked, and there are routes for their owners. Pass the same store to `faceVerification`. Default:
   * there is no ledger.
   */
  readonly consents?: ConsentOptions | undefined
  /**
   * With it, the library may be larger than the account: assets of groups of the type `AIGC` are at the upstream only
   * while tasks use them, and they have ids of the gateway's own. Needs `background`. Each of several accounts has its
   * own slots. Do not switch it off again: nobody else knows these ids. Default: each asset is at the upstream for as
   * long as it exists.
   */
  readonly slots?: SlotOptions | undefined
  /** Limits on the groups and assets that users have: a creation above one is rejected with 429. Default: none. */
  readonly usageLimits?: UsageLimits | undefined
  /** Records every change and every rejected request. Default: no audit. */
  readonly audit?: Audit
  /** Pass the clock of `identifyByToken`, so that one query to the store serves both. Default: a clock of its own. */
  readonly revisionClock?: RevisionClock
  /**
   * Reconciles open claims at once and every minute, and polls assets in progress. Undefined: this process does
   * neither.
   */
  readonly background?: BackgroundOption
}

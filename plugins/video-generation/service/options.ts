import type { IdempotencyStore } from '../../idempotency/index.ts'
import type { Audit } from '../../shared/audit.ts'
import type { BackgroundOption } from '../../shared/background/background.ts'
import type { LeaseStore } from '../../shared/background/lease-store.ts'
import type { Clock } from '../../shared/clock.ts'
import type { ErrorsOption } from '../../shared/http/error-handler.ts'
import type { RequireSameOrigin } from '../../shared/http/origin.ts'
import type { Identify } from '../../shared/identity/identify.ts'
import type { AssetOwners } from '../../shared/media/asset-ownership.ts'
import type { PictureAssets } from '../../shared/media/picture-assets.ts'
import type { Log } from '../../shared/problem.ts'
import type { TraceCall } from '../../shared/upstream/trace-call.ts'
import type { Fetch } from '../../shared/upstream/upstream-error.ts'
import type { UsageLimits } from '../../usage-limits/index.ts'
import type { VideoResultStorage } from '../results/results.ts'
import type { PoolLimits, VideoTaskCount } from '../store/pool.ts'
import type { VideoQueue } from '../store/queue.ts'
import type { VideoTaskStore } from '../store/task-store.ts'
import type { VideoStatus } from '../tasks/statuses.ts'
import type { VideoTask, VideoUsage } from '../tasks/task.ts'
import type { VideoAccount } from '../upstream/accounts.ts'
import type { VideoCall, VideoUpstream } from '../upstream/client.ts'

/** Options of `createVideoService`. */
export interface VideoServiceOptions {
  /** Undefined: every route responds 502, after authentication. */
  readonly upstream?: VideoUpstream | undefined
  /**
   * Where the videos of several accounts of the asset library are made, instead of `upstream`: a task is sent to the
   * account of its assets, and one without assets to that with the shortest queue. The first has the tasks of the time
   * before there were several. Each account has `slots` of its own. Default: one account.
   */
  readonly accounts?: readonly VideoAccount[] | undefined
  /**
   * A `VideoTaskStore` of the host app: the plugin keeps the queue in its rows. Or a store that has a queue of its own,
   * as `sluice/store` has.
   */
  readonly store: VideoTaskStore | (VideoQueue & LeaseStore)
  /**
   * Checks the owner of an asset, see `createOwnership`. Default: no `asset://` address is allowed, except those of
   * `presetAssets`.
   */
  readonly assets?: AssetOwners | undefined
  /**
   * Makes assets of pictures: `assetLibrary(…).pictures`. With it, requests may have `references: "auto"`, and need the
   * scope `media`. Default: they may not.
   */
  readonly pictures?: PictureAssets | undefined
  /** Ids of the vendor's public assets, which every caller may use. Default: none. */
  readonly presetAssets?: readonly string[]
  /**
   * Slots by name of a model or endpoint, as callers name it; those of `*` are for each name that is not listed. Tasks
   * then wait in a fair queue of the gateway for a free slot. Default: no queue, every create call goes to the
   * upstream.
   */
  readonly slots?: Readonly<Record<string, PoolLimits>> | undefined
  /**
   * Highest `priority` that reaches the upstream, 0 to 9: a higher one would overtake the tasks of other users. Default
   * 0.
   */
  readonly maxPriority?: number
  /**
   * Keys the identifiers of users for the upstream (`safety_identifier`), and the addresses for its callbacks. All
   * processes need the same one, and it must never change: else lost answers of open calls are not found, and the
   * vendor takes each user for a new one. Default: random, for tests.
   */
  readonly identifierSecret?: string
  /** Base path of the routes, in the addresses for callbacks. Default `/api/v3`. */
  readonly prefix?: string
  /**
   * Address of this gateway for the upstream's callbacks. Undefined, or a result undefined: no callbacks, only polling.
   */
  readonly publicUrl?: (() => string | undefined) | undefined
  /**
   * Checks the `callback_url` of a request, to which the store then delivers each new state of the task. Throws Problem
   * 400 for an address to which nothing may be sent. Default: no request may have a `callback_url`.
   */
  readonly checkCallbackUrl?: ((url: string) => void | Promise<void>) | undefined
  /**
   * In it, one process at a time polls the tasks, settles lost answers and submits waiting tasks, and every process
   * copies results. Undefined: this process does none of that.
   */
  readonly background?: BackgroundOption
  /**
   * Copies results before their tasks end, so that their links work longer than those of the upstream. Default: the
   * upstream's links.
   */
  readonly results?: VideoResultStorage | undefined
  /** The first pause after a copy has failed, in milliseconds; further ones are longer. Default 5,000. */
  readonly copyPauseMs?: number
  /** With it, requests that create a task honor the header `Idempotency-Key`. Default: the header is ignored. */
  readonly idempotency?: IdempotencyStore | undefined
  /**
   * Limits of users: what a task will use is reserved before it is created, and settled by what the upstream reports. A
   * creation above a limit is rejected with 429. Its store must be on the same database as `store`. Default: none.
   */
  readonly usageLimits?: UsageLimits | undefined
  /** Cost of a task that has ended, in billionths of the currency unit. Default: no task has a cost. */
  readonly costOf?: ((task: VideoTask, usage: VideoUsage) => number | undefined) | undefined
  /** Milliseconds between two polls of a task. Default 3,000. */
  readonly pollMs?: number
  /**
   * Milliseconds after which a task that the upstream still shows as running frees its slot, so that others start, and
   * needs the decision of an operator: `adoptVideoTask` or `releaseVideoTask`. If it ends after all, it ends as usual.
   * Default 10,800,000: three hours.
   */
  readonly maxRunningMs?: number
  /** Time limit of a create call, in milliseconds. Default 60,000. */
  readonly createTimeoutMs?: number
  /**
   * Milliseconds after which a task whose create call got no answer counts as not created, if no list has it. They
   * count from the end of the call's lease, 1.5 times its time limit. Default 60,000.
   */
  readonly settleMs?: number
  /**
   * How long tasks are kept after their end, in milliseconds, default 90 days. The upstream forgets them after 7 days.
   */
  readonly keepMs?: number
  /** Milliseconds for which a caller waits until a lost answer is settled, where there is no queue. Default 5,000. */
  readonly settleWaitMs?: number
  /** Default: the global `fetch`, in the way in which each runtime sends a request only once. */
  readonly fetch?: Fetch
  readonly clock?: Clock
  readonly log?: Log
  /** Receives denied accesses, cancellations and deletions. Default: no audit. */
  readonly audit?: Audit
  /** Receives every call to the upstream, for metrics. */
  readonly observe?: (call: VideoCall) => void
  /** Receives the status of every task that the upstream has ended, for metrics. */
  readonly observeEnd?: ((status: VideoStatus) => void) | undefined
  /**
   * Receives the counts of waiting and running tasks every few seconds, in the process that does the work in the
   * background.
   */
  readonly observeCounts?: ((counts: readonly VideoTaskCount[]) => void) | undefined
  /** Traces every call to the upstream: `createTracing(…).traceCall` of `sluice/tracing`. Default: no traces. */
  readonly traceCall?: TraceCall | undefined
}

/** Options of the routes. */
export interface VideoRouteOptions {
  /** Identifies the caller: `identifyByToken`, or a function of the host app. */
  readonly identify: Identify
  /**
   * Throws when a page of another origin sends the request, see `requireSameOrigin` of `sluice/shared`. It is called
   * for identified callers of POST and DELETE routes. Default: no check, for callers with a token. Needed where
   * `identify` reads a cookie.
   */
  readonly requireSameOrigin?: RequireSameOrigin
  /**
   * The JSON body of errors; `throw`: errors go to the `onError` of the host app. Default: `videoProblemBody`, in the
   * vendor's form.
   */
  readonly errors?: ErrorsOption
  /**
   * Maximum size of a request body, in bytes; the gateway responds 413 to a larger one. Default 64 MiB, the vendor's.
   */
  readonly maxBodyBytes?: number
}

/** Bytes. The vendor takes images of 30 MB: in base64 that is 40 MB. */
export const defaultMaxBodyBytes = 48 * 2 ** 20

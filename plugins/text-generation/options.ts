import { type Audit, noAudit } from '../shared/audit.ts'
import type { BackgroundOption } from '../shared/background/background.ts'
import { type Clock, systemClock } from '../shared/clock.ts'
import type { ErrorsOption } from '../shared/http/error-handler.ts'
import type { RequireSameOrigin } from '../shared/http/origin.ts'
import type { Identify } from '../shared/identity/identify.ts'
import type { AssetOwners } from '../shared/media/asset-ownership.ts'
import { checkAbove0, checkIdentify, checkSecrets } from '../shared/plugin/options.ts'
import { type Log, noLog } from '../shared/problem.ts'
import type { Fetch } from '../shared/upstream/upstream-error.ts'
import type { UsageLimits } from '../usage-limits/index.ts'
import type { TextUpstream } from './models/routing.ts'
import type { TextObjectStore } from './objects/store.ts'
import type { StoredResponseStore } from './objects/stored/store.ts'
import type { UpstreamClientOptions } from './upstream/client.ts'
import { upstreamProblems } from './upstream/upstream-options.ts'
import type { Prices } from './usage/prices.ts'
import type { ObserveUsage, UsageStore } from './usage/usage.ts'

/** Options of `textGeneration`. */
export interface TextGenerationOptions {
  /**
   * The upstreams, in order of precedence; see `TextUpstream`. Empty: every route responds 502, after authentication.
   */
  readonly upstreams: readonly TextUpstream[]
  /** Identifies the caller: `identifyByToken`, or a function of the host app. */
  readonly identify: Identify
  /**
   * Throws when a page of another origin sends the request, see `requireSameOrigin` of `sluice/shared`. It is called
   * for identified callers of POST and DELETE routes. Default: no check, for callers with a token. Needed where
   * `identify` reads a cookie.
   */
  readonly requireSameOrigin?: RequireSameOrigin
  /** Base path of the routes. Default `/v1`, which OpenAI clients have in their base address. */
  readonly prefix?: string
  /**
   * The JSON body of errors; `throw`: errors go to the `onError` of the host app. Default: `textProblemBody`, which
   * OpenAI clients read.
   */
  readonly errors?: ErrorsOption
  /** Stores the usage of every call, in the background. Default: usage is not stored. */
  readonly usage?: UsageStore
  /**
   * Receives the usage of every call, for metrics. `accepted`: the upstream has accepted the request. If false, the
   * model name may be invalid.
   */
  readonly observeUsage?: ObserveUsage
  /** Prices by model. Usage then has the cost of each call. Default: no model has a price. */
  readonly prices?: Prices | undefined
  /**
   * Limits of users: what a call may use is reserved before the upstream is called, and settled by what the upstream
   * reports. A stream that uses up a limit ends with an error event. Default: no limits.
   */
  readonly limits?: UsageLimits | undefined
  /**
   * Output that is reserved for a call of a user and a model without earlier calls, in tokens. Above 0, default 1,000.
   */
  readonly usualOutputTokens?: number
  /**
   * Stores the owners of responses, conversations and items. Default: they have no owners, so none can be continued,
   * retrieved or referenced.
   */
  readonly objects?: TextObjectStore
  /**
   * Secrets for the reasoning that bridged responses carry in `encrypted_content`. The first encrypts, all decrypt.
   * Default: a random one, so that after a restart, and on other instances, conversations go on without earlier
   * reasoning.
   */
  readonly secrets?: readonly string[]
  /**
   * Keeps the responses of upstreams that have chat completions only, so that they can be continued and retrieved.
   * Default: they are not stored, and say `store: false`. Needs `objects` for the removal of expired ones.
   */
  readonly storedResponses?: StoredResponseStore
  /**
   * Maximum size of all responses that the gateway stores for one user, in bytes: the oldest are removed. Default 64
   * MiB.
   */
  readonly maxStoredResponseBytes?: number
  /** Milliseconds for which upstreams keep such objects, and the gateway responses. Default 30 days. */
  readonly objectTtlMs?: number
  /**
   * Id fields that every caller may use, for example `file_id`, `prompt`, `container`, `item_reference`.
   *
   * Default none: the gateway does not know the owners of files, prompts and containers. A field in this list lets
   * every caller use all such objects of the account.
   */
  readonly allowedFields?: readonly string[]
  /**
   * Polls background responses, records their usage, and removes expired objects. Undefined: this process does none of
   * that; usage is recorded when the owner retrieves the finished response.
   */
  readonly background?: BackgroundOption
  /**
   * Checks the owner of an asset, see `createOwnership`. With `areConsented`, which `assetLibrary(…).assets` has, the
   * consents of persons also count for what a request continues. Default: no `asset://` address is allowed, except
   * those of `presetAssets`.
   */
  readonly assets?: Pick<AssetOwners, 'asset' | 'areConsented' | 'hold'> | undefined
  /** Ids of the vendor's public assets, which every caller may use. Default: none. */
  readonly presetAssets?: readonly string[]
  /**
   * Time limit of a non-streaming request, in milliseconds from its arrival. Then the caller receives a partial
   * response. Default 200,000.
   */
  readonly timeoutMs?: number
  /** `max_tokens` of chat requests that have no maximum. Default 4,096; null: the gateway adds none. */
  readonly defaultMaxTokens?: number | null
  /**
   * Milliseconds of silence in a stream after which the gateway sends a comment, or in Messages a `ping`, so that load
   * balancers keep the connection open. Default: never.
   */
  readonly heartbeatMs?: number
  /** Maximum size of a request body, in bytes; the gateway responds 413 to a larger one. Default 64 MiB. */
  readonly maxBodyBytes?: number
  /** Maximum size of a response that the gateway buffers or builds from a stream, in bytes. Default 64 MiB. */
  readonly maxResponseBytes?: number
  /** Request headers to forward, in addition to language and request id. */
  readonly forwardHeaders?: readonly string[]
  /**
   * Default: the global `fetch`, in the way in which each runtime sends a generation only once. A `fetch` of your own
   * gets `keepalive: false` for every method but GET.
   */
  readonly fetch?: Fetch
  readonly clock?: Clock
  readonly log?: Log
  /** Receives denied accesses, and cancellations and deletions of stored responses. Default: no audit. */
  readonly audit?: Audit
  readonly observe?: UpstreamClientOptions['observe']
  /** Traces every call to an upstream: `createTracing(…).traceCall` of `sluice/tracing`. Default: no traces. */
  readonly traceCall?: UpstreamClientOptions['traceCall']
}

type Defaulted =
  | ('clock' | 'log' | 'audit' | 'timeoutMs')
  | 'usualOutputTokens'
  | ('maxBodyBytes' | 'maxResponseBytes' | 'maxStoredResponseBytes' | 'objectTtlMs')

/** The options with their defaults. */
export interface TextSettings
  extends Omit<TextGenerationOptions, Defaulted | 'defaultMaxTokens'>,
    Required<Pick<TextGenerationOptions, Defaulted>> {
  /** Undefined: the gateway adds none. */
  readonly defaultMaxTokens: number | undefined
}

/**
 * Adds the defaults. Throws TypeError for a wrong secret or field of an upstream, for a time or size that is not above
 * 0, and without `identify` or `upstreams`.
 */
export const readTextOptions = (options: TextGenerationOptions): TextSettings => {
  checkIdentify(options.identify)
  if (options.secrets) checkSecrets(options.secrets)
  const [problem] = upstreamProblems(options.upstreams)
  if (problem !== undefined) throw new TypeError(`upstreams${problem}`)
  const { clock = systemClock, log = noLog, audit = noAudit, heartbeatMs, timeoutMs = 200_000 } = options
  const { maxBodyBytes = 2 ** 26, maxResponseBytes = 2 ** 26, maxStoredResponseBytes = 2 ** 26 } = options
  const { objectTtlMs = 30 * 86_400_000, defaultMaxTokens = 4_096, usualOutputTokens = 1_000 } = options
  const numbers = {
    ...{ timeoutMs, heartbeatMs, maxBodyBytes, maxResponseBytes, maxStoredResponseBytes, objectTtlMs },
    defaultMaxTokens: defaultMaxTokens ?? undefined,
    usualOutputTokens,
  }
  checkAbove0(numbers)
  return { ...options, ...numbers, clock, log, audit }
}

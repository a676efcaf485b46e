import type { AccountOptions } from '../../plugins/account/index.ts'
import type { GatewayOptions } from '../../plugins/asset-library/index.ts'
import type { ConcurrencyLimitsOptions } from '../../plugins/concurrency-limits/index.ts'
import type { EventsOptions } from '../../plugins/events/index.ts'
import type { FaceVerificationOptions } from '../../plugins/face-verification/index.ts'
import type { FileStorageOptions } from '../../plugins/file-storage/index.ts'
import type { McpOptions } from '../../plugins/mcp/index.ts'
import type { MetricsOptions, MetricsSnapshot } from '../../plugins/metrics/index.ts'
import type { Audit } from '../../plugins/shared/audit.ts'
import type { CircuitBreakers } from '../../plugins/shared/upstream/circuit-breaker.ts'
import type { TextGenerationOptions } from '../../plugins/text-generation/index.ts'
import type { UsageLimits } from '../../plugins/usage-limits/index.ts'
import type {
  OpenaiVideosOptions,
  VideoRouteOptions,
  VideoServiceOptions,
} from '../../plugins/video-generation/index.ts'
import type { LeveledLog } from '../log.ts'
import type { ServerAdminOptions } from '../operators/admin-options.ts'
import type { ServerTracing } from '../tracing.ts'
import type { Health } from './health.ts'
import type { ServerOidcLogin } from './oidc-login.ts'

/** Options of `createApp`: those of the parts, without what `createApp` passes to all of them. */
export interface AppOptions {
  readonly gateway: Omit<GatewayOptions, 'usageLimits' | 'log' | 'audit' | 'observe' | 'observeRetry' | 'traceCall'>
  readonly text: Omit<
    TextGenerationOptions,
    'limits' | 'assets' | 'log' | 'audit' | 'observe' | 'observeUsage' | 'traceCall'
  >
  readonly video: Omit<
    VideoServiceOptions,
    | 'usageLimits'
    | 'assets'
    | 'pictures'
    | 'log'
    | 'audit'
    | 'observe'
    | 'observeEnd'
    | 'observeCounts'
    | 'traceCall'
    | 'prefix'
  > &
    Omit<VideoRouteOptions, 'errors'> &
    Pick<OpenaiVideosOptions, 'modelAliases'>
  readonly people: Omit<AccountOptions, 'store' | 'errors' | 'log' | 'audit' | 'face' | 'console'> & {
    readonly store: AccountOptions['store'] & FaceVerificationOptions['store']
    readonly face: Omit<NonNullable<AccountOptions['face']>, 'upstream' | 'accountFor' | 'store'>
  }
  /** Undefined: users log in at no identity provider. */
  readonly oidc?: ServerOidcLogin | undefined
  /** Undefined: no admin API. */
  readonly admin?: ServerAdminOptions
  readonly events: Omit<EventsOptions, 'errors' | 'log' | 'audit'>
  /** Undefined: no uploads and no stored files. */
  readonly files?: Omit<FileStorageOptions, 'usageLimits' | 'errors' | 'log' | 'audit'>
  /** Undefined: no MCP server. */
  readonly mcp?: Omit<McpOptions, 'fetch' | 'library' | 'videos' | 'uploads' | 'errors' | 'log' | 'audit'>
  readonly health: Omit<Health, 'upstreams'>
  /** Maximum numbers of concurrent requests. */
  readonly limits: Omit<ConcurrencyLimitsOptions, 'renderRejection' | 'exempt'>
  /** Limits on what users use and have. Default: none. */
  readonly usageLimits?: UsageLimits
  /** Bearer token for `GET /metrics`. Undefined: the route responds with 404. */
  readonly metricsToken: string | undefined
  /**
   * Shares the metrics of this process, which `own` reads, with others. Returns a function that reads those of all.
   * Default: no sharing.
   */
  readonly shareMetrics?: (own: () => Promise<MetricsSnapshot>) => NonNullable<MetricsOptions['readAll']>
  /** Called once with a function that reads the metrics of this process. Default: only `/metrics` reads them. */
  readonly watchMetrics?: (own: () => Promise<MetricsSnapshot>) => void
  /** Counts the rows of each kind that are older than they are kept, for the metrics. Default: none. */
  readonly overdue?: () => Readonly<Record<string, number | undefined>>
  /** Default: no traces. */
  readonly tracing?: ServerTracing
  /** Of the `fetch` of the upstreams, for the metrics. Default: none. */
  readonly circuits?: Pick<CircuitBreakers, 'counts'>
  readonly log: LeveledLog
  /** Default: no audit. */
  readonly audit?: Audit
}

import { type DatabaseConfig, readDatabase } from './config/database.ts'
import {
  dayMs,
  days,
  daysFrom1,
  hours,
  hoursForm,
  integer,
  networks,
  oneOf,
  seconds,
  secondsAbove0,
  secondsFrom0,
  secretList,
  secretListForm,
  segment,
  segmentForm,
  token,
  tokenForm,
} from './config/environment/parsers.ts'
import { createReader, type Environment, type Problems } from './config/environment/reader.ts'
import { type HttpConfig, readHttpConfig, readWorkers } from './config/http.ts'
import { type McpConfig, readMcp } from './config/mcp.ts'
import { type MediaAccountConfig, readMediaAccounts } from './config/media-accounts.ts'
import { type MediaSlotsConfig, readMediaSlots } from './config/media-slots.ts'
import { type MediaUpstream, mediaSecrets, type RateLimitSettings, readMediaUpstream } from './config/media-upstream.ts'
import { type LoginConfig, readLoginConfig } from './config/oidc.ts'
import { type Settings, settingsOf } from './config/settings.ts'
import { readStorage, type StorageConfig, storageSecrets } from './config/storage.ts'
import { readTextConfig, type TextConfig } from './config/text/text.ts'
import { textSecrets } from './config/text/upstreams.ts'
import { readTraces, type TracesConfig } from './config/traces.ts'
import { readUsageLimits, type UsageLimitsConfig } from './config/usage-limits.ts'
import { readVideoConfig, type VideoConfig } from './config/video/video.ts'
import { databaseKindOf } from './store/database/kinds.ts'

/** The configuration of a server. It does not change while the server runs. Times are milliseconds. */
export interface Config extends DatabaseConfig {
  readonly http: HttpConfig
  /** Concurrency limits of one process: for all callers together, and for one user. */
  readonly limits: {
    readonly maxRequests: number
    readonly maxStreams: number
    /** Bytes of request bodies in memory, and of responses that clients have not read yet. */
    readonly maxUnreadBodyBytes: number
    readonly user: {
      readonly maxRequests: number
      readonly maxStreams: number
      readonly maxUnreadBodyBytes: number
    }
  }
  /** Limits of what is used up or exists, for all processes together. */
  readonly usageLimits: UsageLimitsConfig
  readonly login: LoginConfig
  /** What one user may have in the database at most. */
  readonly people: {
    readonly maxTokens: number
    readonly maxSessions: number
    readonly maxFaceChecks: number
    /**
     * Bytes of the responses that the gateway stores, because their upstreams have chat completions only. 0: it stores
     * none.
     */
    readonly maxStoredResponseBytes: number
    readonly maxUploads: number
    readonly maxUploadBytes: number
  }
  readonly media: {
    /** The path segment of the asset library: `media` in `/api/media/…`. */
    readonly segment: string
    /** Undefined, and no accounts: no upstream; the asset library responds with 502. */
    readonly upstream?: MediaUpstream
    /** Several accounts, instead of `upstream`. */
    readonly accounts?: readonly MediaAccountConfig[]
    /** Undefined: each asset is at the upstream for as long as it exists. */
    readonly slots?: MediaSlotsConfig
    readonly timeoutMs: number
    readonly limits: RateLimitSettings
    readonly queueMs: number
  }
  readonly face: { readonly taskMs: number }
  /**
   * How long events are kept for clients that come back, and networks that webhooks may reach although they are not
   * public.
   */
  readonly events: { readonly keepMs: number; readonly webhookNetworks: readonly string[] }
  /** How long the usage of a month is kept after its end. Undefined: for ever. */
  readonly usage: { readonly keepMs?: number }
  readonly text: TextConfig
  /** Undefined: no uploads, and the links of results are those of the upstream. */
  readonly storage?: StorageConfig
  /** How long uploads are kept. */
  readonly uploads: { readonly keepMs: number }
  /** How long copies of results are kept after the end of their tasks. */
  readonly results: { readonly keepMs: number }
  readonly video: VideoConfig
  /** Undefined: no MCP server. */
  readonly mcp?: McpConfig
  /** The first one signs, all verify. Empty: the store creates a secret and keeps it in the database. */
  readonly sessionSecrets: readonly string[]
  /** Undefined: no metrics over HTTP. */
  readonly metricsToken?: string
  /** Undefined: no traces. */
  readonly traces?: TracesConfig
  readonly logLevel: LogLevel
  /** Files that hold a part of the configuration. Every process of the server reads them. */
  readonly files: readonly string[]
  /** All values above that must never be logged. */
  readonly secrets: readonly string[]
}

const logLevels = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const
/** Lowest level of the lines that the log writes. */
export type LogLevel = (typeof logLevels)[number]

/**
 * Reads the configuration from an environment. Returns all problems if there are any. An empty variable counts as
 * unset.
 */
export const readConfig = (env: Environment): Config | Problems => {
  const problems: string[] = []
  const addProblem = (problem: string) => {
    problems.push(problem)
  }
  const read = createReader(env, addProblem)

  const { store, audit } = readDatabase(read)
  const storeUrl = store.url
  const workers = readWorkers(read, addProblem, databaseKindOf(storeUrl)?.isShareable(storeUrl) ?? false)
  const { upstream, limits, limitsOf } = readMediaUpstream(env, read, addProblem)
  const accounts = readMediaAccounts(env, read, addProblem, limitsOf)
  const text = readTextConfig(env, read, addProblem)
  const http = readHttpConfig(read, addProblem, workers)
  const storage = readStorage(env, read, addProblem)
  const slots = readMediaSlots(read, addProblem, {
    ...{ upstream, accounts, hasStorage: storage !== undefined },
  })
  const sessionSecrets = read('SESSION_SECRET', secretListForm, secretList) ?? []
  const metricsToken = read('METRICS_TOKEN', tokenForm, token)
  const { traces, secrets: traceSecrets } = readTraces(read)
  const count = (name: string, fallback: number) => read(name, 'must be an integer from 1', integer(1)) ?? fallback

  const config: Omit<Config, 'secrets'> = {
    http,
    limits: {
      maxRequests: count('MAX_REQUESTS', 4_096),
      maxStreams: count('MAX_STREAMS', 16_384),
      maxUnreadBodyBytes: count('MAX_UNREAD_BODY_BYTES', 8 * http.maxBodyBytes),
      user: {
        maxRequests: count('USER_MAX_REQUESTS', 128),
        maxStreams: count('USER_MAX_STREAMS', 64),
        maxUnreadBodyBytes: count('USER_MAX_UNREAD_BODY_BYTES', 2 * http.maxBodyBytes),
      },
    },
    usageLimits: readUsageLimits(read, addProblem),
    login: readLoginConfig(env, read, addProblem),
    people: {
      maxTokens: count('USER_MAX_TOKENS', 100),
      maxSessions: count('USER_MAX_SESSIONS', 20),
      maxFaceChecks: count('USER_MAX_FACE_CHECKS', 5),
      maxStoredResponseBytes:
        read('USER_MAX_STORED_RESPONSE_BYTES', 'must be an integer from 0', integer(0)) ?? 67_108_864,
      maxUploads: count('USER_MAX_UPLOADS', 100),
      maxUploadBytes: count('USER_MAX_UPLOAD_BYTES', 2 ** 31),
    },
    audit,
    store,
    media: {
      segment: read('MEDIA_SEGMENT', segmentForm, segment) ?? 'media',
      upstream,
      ...(accounts && { accounts }),
      ...(slots && { slots }),
      timeoutMs: read('MEDIA_UPSTREAM_TIMEOUT_SECONDS', secondsAbove0, seconds(1)) ?? 30_000,
      limits: accounts?.[0]?.limits ?? limits,
      queueMs: read('UPSTREAM_QUEUE_SECONDS', secondsFrom0, seconds(0)) ?? 5_000,
    },
    face: { taskMs: read('FACE_TASK_SECONDS', secondsAbove0, seconds(1)) ?? 1_800_000 },
    events: {
      keepMs: read('EVENT_DAYS', daysFrom1, days(1)) ?? 7 * dayMs,
      webhookNetworks: read('WEBHOOK_NETWORKS', 'must be addresses or networks, separated by commas', networks) ?? [],
    },
    usage: { keepMs: read('USAGE_DAYS', daysFrom1, days(1)) },
    text,
    storage,
    uploads: { keepMs: read('UPLOAD_HOURS', hoursForm, hours(1)) ?? dayMs },
    results: { keepMs: read('RESULT_DAYS', daysFrom1, days(1)) ?? 30 * dayMs },
    video: readVideoConfig(env, read, addProblem, text.presetAssets),
    mcp: readMcp(read),
    sessionSecrets,
    metricsToken,
    traces,
    files: [env.MEDIA_UPSTREAMS, env.TEXT_UPSTREAMS, env.TEXT_PRICES, env.OIDC_ALLOWED, env.OIDC_ADMIN].flatMap(
      (value) => (value?.startsWith('@') ? [value.slice(1)] : []),
    ),
    logLevel: read('LOG_LEVEL', `must be one of ${logLevels.join(', ')}`, oneOf(logLevels)) ?? 'info',
  }
  if (problems.length > 0) return { problems }
  const secrets = [
    ...[upstream, ...(accounts ?? []).map((account) => account.upstream)].flatMap(mediaSecrets),
    ...(accounts ?? []).map(({ video }) => video?.key),
    ...textSecrets(text.upstreams),
    ...storageSecrets(storage),
    config.video.upstream?.key,
    metricsToken,
    config.login.oidc?.clientSecret,
    ...sessionSecrets,
    ...audit.keys,
    databaseKindOf(storeUrl)?.passwordOf(storeUrl),
    ...traceSecrets,
  ]
  const valid: Config = { ...config, secrets: secrets.filter((secret) => secret !== undefined) }
  environments.set(valid, env)
  return valid
}

/** What each configuration was read from, for `settingsInForce`. */
const environments = new WeakMap<Config, Environment>()

/** Reads one variable from the environment of this process. On Deno, each variable needs a permission. */
export const environmentVariable = (name: string): string | undefined => process.env[name]

/**
 * The settings from which a configuration was read, for operators. A variable that a permission of Deno hides counts as
 * unset.
 */
export const settingsInForce = (config: Config): Settings => {
  const environment = environments.get(config) ?? process.env
  return settingsOf(new Proxy(environment, { get: (env, name) => readable(() => env[String(name)]) }), config)
}

const readable = (read: () => string | undefined): string | undefined => {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** Reads the configuration from the environment of this process. */
export const configFromEnvironment = (): Config | Problems => readConfig(process.env)

import type { TextUpstream } from '../plugins/text-generation/index.ts'
import { isPrices, type Prices } from '../plugins/text-generation/usage/prices.ts'
import { type DatabaseConfig, readDatabase } from './config/database.ts'
import { jsonOrFile } from './config/json-or-file.ts'
import { type MediaUpstream, mediaSecrets, type RateLimitSettings, readMediaUpstream } from './config/media-upstream.ts'
import { type LoginConfig, readLoginConfig } from './config/oidc.ts'
import {
  address,
  dayMs,
  days,
  daysFrom1,
  headerValues,
  hostName,
  hours,
  hoursForm,
  integer,
  key,
  networks,
  oneOf,
  origins,
  printableForm,
  ratio,
  seconds,
  secondsAbove0,
  secondsFrom0,
  secretList,
  secretListForm,
  segment,
  segmentForm,
  token,
  tokenForm,
  webAddress,
  words,
} from './config/parsers.ts'
import { createReader, type Environment, type Problems } from './config/reader.ts'
import { type Settings, settingsOf } from './config/settings.ts'
import { readStorage, type StorageConfig, storageSecrets } from './config/storage.ts'
import { readTextUpstreams, textSecrets } from './config/text-upstreams.ts'
import { readUsageLimits, type UsageLimitsConfig } from './config/usage-limits.ts'
import { readVideoConfig, type VideoConfig } from './config/video-upstream.ts'
import { databaseKindOf } from './store/database/kinds.ts'

/** The configuration of a server. It does not change while the server runs. Times are milliseconds. */
export interface Config extends DatabaseConfig {
  readonly http: {
    readonly host: string
    /** 0: any free port. */
    readonly port: number
    /** Address that browsers use, without a trailing slash. Undefined: `http://HOST:PORT`. */
    readonly publicUrl?: string
    /** Whether the server reads bodies of GET requests. */
    readonly getBodies: boolean
    /** Maximum body size of text generation. */
    readonly maxBodyBytes: number
    /** Maximum body size of video generation; at most `maxBodyBytes`. */
    readonly maxVideoBodyBytes: number
    /** Maximum body size of every other route; at most `maxBodyBytes`. */
    readonly maxSmallBodyBytes: number
    /** How long the server still accepts connections after it was told to stop. */
    readonly drainGraceMs: number
    readonly drainMs: number
    readonly workers: number
    /** Addresses and networks whose `X-Forwarded-For` header is trusted. */
    readonly trustedProxies: readonly string[]
    /** Origins whose pages may call text generation and the asset library with a token. */
    readonly corsOrigins: readonly string[]
  }
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
    /** Undefined: no upstream; the asset library responds with 502. */
    readonly upstream?: MediaUpstream
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
  readonly text: {
    /** Empty: text generation responds with 502. */
    readonly upstreams: readonly TextUpstream[]
    readonly timeoutMs: number
    /** Maximum output tokens for a request that sets no maximum. Undefined: the gateway adds none. */
    readonly defaultMaxTokens?: number
    /** Silence in a stream after which the gateway sends a heartbeat comment. Undefined: no heartbeats. */
    readonly heartbeatMs?: number
    /**
     * How long the upstream keeps responses and conversations, and the gateway their owners and the responses that it
     * keeps itself.
     */
    readonly objectTtlMs: number
    /** Request fields that may contain ids without an owner: objects that all users of the upstream account share. */
    readonly allowedFields: readonly string[]
    /** Ids of the vendor's preset assets, which every caller may use. */
    readonly presetAssets: readonly string[]
    /** Prices by model. Undefined: no model has a price. */
    readonly prices?: Prices
  }
  /** Undefined: no uploads, and the links of results are those of the upstream. */
  readonly storage?: StorageConfig
  /** How long uploads are kept. */
  readonly uploads: { readonly keepMs: number }
  /** How long copies of results are kept after the end of their tasks. */
  readonly results: { readonly keepMs: number }
  readonly video: VideoConfig
  /** The first one signs, all verify. Empty: the store creates a secret and keeps it in the database. */
  readonly sessionSecrets: readonly string[]
  /** Undefined: no metrics over HTTP. */
  readonly metricsToken?: string
  /** Undefined: no traces. */
  readonly traces?: {
    /** Where the OpenTelemetry collector receives traces. */
    readonly url: string
    readonly serviceName: string
    /** The part of traces that is recorded, from 0 to 1. */
    readonly sampledRatio: number
  }
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
  const workers = read('WORKERS', 'must be an integer from 1 to 256', integer(1, 256)) ?? 1
  if (workers > 1 && !databaseKindOf(storeUrl)?.isShareable(storeUrl)) {
    addProblem('WORKERS above 1 needs a DATABASE_URL that processes can share: a file or a database server')
  }
  const { upstream, limits } = readMediaUpstream(env, read, addProblem)
  const textUpstreams = readTextUpstreams(env, read, addProblem)
  const storage = readStorage(env, read, addProblem)
  const maxTokens = read('TEXT_DEFAULT_MAX_TOKENS', 'must be an integer from 0', integer(0)) ?? 4_096
  const heartbeatMs = read('TEXT_HEARTBEAT_SECONDS', secondsFrom0, seconds(0)) ?? 0
  const sessionSecrets = read('SESSION_SECRET', secretListForm, secretList) ?? []
  const metricsToken = read('METRICS_TOKEN', tokenForm, token)
  // Names and meaning of the OpenTelemetry specification. The exporter reads its other OTEL_EXPORTER_OTLP_ variables
  // itself.
  const collector = read('OTEL_EXPORTER_OTLP_ENDPOINT', webAddress, address)
  const collectorHeaders =
    read('OTEL_EXPORTER_OTLP_HEADERS', 'must be name=value, separated by commas', headerValues) ?? []
  const sampledRatio = read('OTEL_TRACES_SAMPLER_ARG', 'must be a number from 0 to 1', ratio) ?? 1
  const serviceName = read('OTEL_SERVICE_NAME', printableForm, key) ?? 'sluice'

  const maxBodyBytes = read('MAX_BODY_BYTES', bytesForm, bytes) ?? 67_108_864
  const maxVideoBodyBytes = read('MAX_VIDEO_BODY_BYTES', bytesForm, bytes) ?? Math.min(50_331_648, maxBodyBytes)
  if (maxVideoBodyBytes > maxBodyBytes) addProblem('MAX_VIDEO_BODY_BYTES must not be above MAX_BODY_BYTES')
  const maxSmallBodyBytes = read('MAX_SMALL_BODY_BYTES', bytesForm, bytes) ?? Math.min(1_048_576, maxBodyBytes)
  if (maxSmallBodyBytes > maxBodyBytes) addProblem('MAX_SMALL_BODY_BYTES must not be above MAX_BODY_BYTES')
  const count = (name: string, fallback: number) => read(name, 'must be an integer from 1', integer(1)) ?? fallback

  const presetAssets = read('TEXT_PRESET_ASSETS', 'must be asset ids, separated by commas', words(/^[\w.-]+$/)) ?? []
  const config: Omit<Config, 'secrets'> = {
    http: {
      host: read('HOST', 'must be a host name or an address', hostName) ?? '127.0.0.1',
      port: read('PORT', 'must be an integer from 0 to 65535', integer(0, 65_535)) ?? 3_000,
      publicUrl: read('PUBLIC_URL', webAddress, address),
      getBodies: (read('GET_BODIES', 'must be on or off', oneOf(['on', 'off'])) ?? 'on') === 'on',
      maxBodyBytes,
      maxVideoBodyBytes,
      maxSmallBodyBytes,
      drainGraceMs: read('DRAIN_GRACE_SECONDS', secondsFrom0, seconds(0)) ?? 5_000,
      drainMs: read('DRAIN_SECONDS', secondsFrom0, seconds(0)) ?? 210_000,
      workers,
      corsOrigins:
        read('CORS_ORIGINS', 'must be origins such as https://app.example, separated by commas', origins) ?? [],
      trustedProxies: read('TRUSTED_PROXIES', 'must be addresses or networks, separated by commas', networks) ?? [],
    },
    limits: {
      maxRequests: count('MAX_REQUESTS', 4_096),
      maxStreams: count('MAX_STREAMS', 16_384),
      maxUnreadBodyBytes: count('MAX_UNREAD_BODY_BYTES', 8 * maxBodyBytes),
      user: {
        maxRequests: count('USER_MAX_REQUESTS', 128),
        maxStreams: count('USER_MAX_STREAMS', 64),
        maxUnreadBodyBytes: count('USER_MAX_UNREAD_BODY_BYTES', 2 * maxBodyBytes),
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
      timeoutMs: read('MEDIA_UPSTREAM_TIMEOUT_SECONDS', secondsAbove0, seconds(1)) ?? 30_000,
      limits,
      queueMs: read('UPSTREAM_QUEUE_SECONDS', secondsFrom0, seconds(0)) ?? 5_000,
    },
    face: { taskMs: read('FACE_TASK_SECONDS', secondsAbove0, seconds(1)) ?? 1_800_000 },
    events: {
      keepMs: read('EVENT_DAYS', daysFrom1, days(1)) ?? 7 * dayMs,
      webhookNetworks: read('WEBHOOK_NETWORKS', 'must be addresses or networks, separated by commas', networks) ?? [],
    },
    text: {
      upstreams: textUpstreams,
      timeoutMs: read('TEXT_TIMEOUT_SECONDS', secondsAbove0, seconds(1)) ?? 200_000,
      defaultMaxTokens: maxTokens === 0 ? undefined : maxTokens,
      heartbeatMs: heartbeatMs === 0 ? undefined : heartbeatMs,
      objectTtlMs: read('TEXT_OBJECT_DAYS', daysFrom1, days(1)) ?? 30 * dayMs,
      allowedFields: read('TEXT_ALLOWED_FIELDS', 'must be field names, separated by commas', words(/^[\w.]+$/)) ?? [],
      presetAssets,
      prices: read('TEXT_PRICES', pricesForm, priceTable),
    },
    storage,
    uploads: { keepMs: read('UPLOAD_HOURS', hoursForm, hours(1)) ?? dayMs },
    results: { keepMs: read('RESULT_DAYS', daysFrom1, days(1)) ?? 30 * dayMs },
    video: readVideoConfig(env, read, addProblem, presetAssets),
    sessionSecrets,
    metricsToken,
    traces: collector === undefined ? undefined : { url: `${collector}/v1/traces`, serviceName, sampledRatio },
    files: [env.TEXT_UPSTREAMS, env.TEXT_PRICES, env.OIDC_ALLOWED, env.OIDC_ADMIN].flatMap((text) =>
      text?.startsWith('@') ? [text.slice(1)] : [],
    ),
    logLevel: read('LOG_LEVEL', `must be one of ${logLevels.join(', ')}`, oneOf(logLevels)) ?? 'info',
  }
  if (problems.length > 0) return { problems }
  const secrets = [
    ...mediaSecrets(upstream),
    ...textSecrets(textUpstreams),
    ...storageSecrets(storage),
    config.video.upstream?.key,
    metricsToken,
    config.login.oidc?.clientSecret,
    ...sessionSecrets,
    ...audit.keys,
    databaseKindOf(storeUrl)?.passwordOf(storeUrl),
    ...collectorHeaders,
  ]
  return { ...config, secrets: secrets.filter((secret) => secret !== undefined) }
}

/** Reads one variable from the environment of this process. On Deno, each variable needs a permission. */
export const environmentVariable = (name: string): string | undefined => process.env[name]

/** The settings of this process, for operators. A variable that a permission of Deno hides counts as unset. */
export const settingsFromEnvironment = (config: Config): Settings =>
  settingsOf(new Proxy(process.env, { get: (env, name) => readable(() => env[String(name)]) }), config)

const readable = (read: () => string | undefined): string | undefined => {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** Reads the configuration from the environment of this process. */
export const configFromEnvironment = (): Config | Problems => readConfig(process.env)

/** A price table as JSON, or `@PATH`. */
const priceTable = (text: string): Prices | undefined => {
  const prices = jsonOrFile(text)
  return isPrices(prices) ? prices : undefined
}
const pricesForm =
  'must be JSON or @FILE: an object of models, each with input, cachedInput, output, request, numbers from 0 to 1000'
const bytesForm = 'must be an integer from 1 to 2147483647'
const bytes = integer(1, 2_147_483_647)

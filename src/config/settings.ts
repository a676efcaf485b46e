import { parsedJson } from '../../plugins/shared/json/parsed.ts'
import { databaseKindOf } from '../store/database/kinds.ts'
import type { Environment } from './environment/reader.ts'

/** The settings in force, by variable. A secret is `set` or `unset`. */
export type Settings = Readonly<Record<string, unknown>>

/** Variables whose values are secrets. */
const secretNames: ReadonlySet<string> = new Set([
  ...['SESSION_SECRET', 'METRICS_TOKEN', 'AUDIT_KEY', 'OIDC_CLIENT_SECRET', 'OTEL_EXPORTER_OTLP_HEADERS'],
  ...['MEDIA_UPSTREAM_KEY', 'MEDIA_UPSTREAM_ACCESS_KEY', 'MEDIA_UPSTREAM_SECRET_KEY'],
  ...['TEXT_UPSTREAM_KEY', 'VIDEO_UPSTREAM_KEY', 'STORAGE_ACCESS_KEY', 'STORAGE_SECRET_KEY'],
])

/** The default of each variable, as its page has it. Undefined: it has none, or one that depends on other settings. */
const defaults = {
  HOST: '127.0.0.1',
  PORT: '3000',
  PUBLIC_URL: undefined,
  DATABASE_URL: 'sqlite:data/sluice.db',
  DATABASE_TIMEOUT_SECONDS: '3',
  SESSION_SECRET: undefined,
  WORKERS: '1',
  GET_BODIES: 'on',
  DRAIN_GRACE_SECONDS: '5',
  DRAIN_SECONDS: '210',
  TRUSTED_PROXIES: undefined,
  CORS_ORIGINS: undefined,
  PASSWORD_LOGIN: 'on',
  OIDC_ISSUER: undefined,
  OIDC_CLIENT_ID: undefined,
  OIDC_CLIENT_SECRET: undefined,
  OIDC_SCOPES: 'openid profile email',
  OIDC_NAME_CLAIM: undefined,
  OIDC_ALLOWED: undefined,
  OIDC_ADMIN: undefined,
  OIDC_LABEL: undefined,
  MEDIA_SEGMENT: 'media',
  MEDIA_UPSTREAM_KIND: 'rest',
  MEDIA_UPSTREAM_URL: undefined,
  MEDIA_UPSTREAM_KEY: undefined,
  MEDIA_UPSTREAM_ACCESS_KEY: undefined,
  MEDIA_UPSTREAM_SECRET_KEY: undefined,
  MEDIA_UPSTREAM_REGION: 'cn-beijing',
  MEDIA_UPSTREAM_PROJECT: 'default',
  MEDIA_UPSTREAM_TIMEOUT_SECONDS: '30',
  MEDIA_UPSTREAM_LIMITS: undefined,
  MEDIA_UPSTREAMS: undefined,
  MEDIA_ASSET_SLOTS: undefined,
  MEDIA_ASSET_SLOTS_FLOOR: '0',
  MEDIA_ASSET_SLOTS_CAP: undefined,
  UPSTREAM_QUEUE_SECONDS: '5',
  FACE_TASK_SECONDS: '1800',
  TEXT_UPSTREAM_URL: undefined,
  TEXT_UPSTREAM_KEY: undefined,
  TEXT_UPSTREAMS: undefined,
  TEXT_TIMEOUT_SECONDS: '200',
  TEXT_DEFAULT_MAX_TOKENS: '4096',
  TEXT_HEARTBEAT_SECONDS: '0',
  TEXT_OBJECT_DAYS: '30',
  TEXT_ALLOWED_FIELDS: undefined,
  TEXT_PRESET_ASSETS: undefined,
  TEXT_PRICES: undefined,
  VIDEO_UPSTREAM_URL: undefined,
  VIDEO_UPSTREAM_KEY: undefined,
  VIDEO_SLOTS: undefined,
  VIDEO_USER_MAX_RUNNING: undefined,
  VIDEO_USER_MAX_WAITING: '1000',
  VIDEO_USER_MAX_WAITING_BYTES: '268435456',
  VIDEO_USER_WEIGHTS: undefined,
  VIDEO_MAX_PRIORITY: '0',
  VIDEO_MODEL_ALIASES: undefined,
  VIDEO_PRICES: undefined,
  VIDEO_PRESET_ASSETS: undefined,
  VIDEO_POLL_SECONDS: '3',
  VIDEO_CREATE_TIMEOUT_SECONDS: '60',
  VIDEO_RUNNING_HOURS: '3',
  VIDEO_SETTLE_SECONDS: '60',
  VIDEO_TASK_DAYS: '90',
  MCP: 'on',
  MCP_CONFIRM_ABOVE: '5',
  STORAGE_URL: 'file:data/storage',
  STORAGE_ACCESS_KEY: undefined,
  STORAGE_SECRET_KEY: undefined,
  STORAGE_TIMEOUT_SECONDS: '80',
  UPLOAD_HOURS: '24',
  RESULT_DAYS: '30',
  USAGE_DAYS: undefined,
  EVENT_DAYS: '7',
  WEBHOOK_NETWORKS: undefined,
  USER_MAX_REQUESTS: '128',
  USER_MAX_STREAMS: '64',
  USER_MAX_UNREAD_BODY_BYTES: undefined,
  USER_MAX_TOKENS: '100',
  USER_MAX_SESSIONS: '20',
  USER_MAX_FACE_CHECKS: '5',
  USER_MAX_UPLOADS: '100',
  USER_MAX_UPLOAD_BYTES: '2147483648',
  USER_MAX_STORED_RESPONSE_BYTES: '67108864',
  USER_LIMITS: undefined,
  ACCOUNT_LIMITS: undefined,
  LIMITS_TIME_ZONE: 'UTC',
  MAX_BODY_BYTES: '67108864',
  MAX_VIDEO_BODY_BYTES: '50331648',
  MAX_SMALL_BODY_BYTES: '1048576',
  MAX_REQUESTS: '4096',
  MAX_STREAMS: '16384',
  MAX_UNREAD_BODY_BYTES: undefined,
  LOG_LEVEL: 'info',
  METRICS_TOKEN: undefined,
  AUDIT_DAYS: '90',
  AUDIT_KEY: undefined,
  OTEL_EXPORTER_OTLP_ENDPOINT: undefined,
  OTEL_EXPORTER_OTLP_HEADERS: undefined,
  OTEL_SERVICE_NAME: 'sluice',
  OTEL_TRACES_SAMPLER_ARG: '1',
} as const satisfies Readonly<Record<string, string | undefined>>

/** The part of the configuration on which defaults depend. */
interface ReadSettings {
  readonly http: {
    readonly host: string
    readonly port: number
    readonly maxVideoBodyBytes: number
    readonly maxSmallBodyBytes: number
  }
  readonly limits: { readonly maxUnreadBodyBytes: number; readonly user: { readonly maxUnreadBodyBytes: number } }
  readonly media: { readonly limits: object }
  readonly video: { readonly presetAssets: readonly string[] }
}

/** The settings of an environment, for operators. @param config what was read from it */
export const settingsOf = (env: Environment, config: ReadSettings): Settings => {
  const given = (name: string) => (env[name] === '' ? undefined : env[name])
  const secrets = [...secretNames].flatMap((name) => given(name)?.split(',') ?? [])
  const derived: Readonly<Record<string, unknown>> = derivedFrom(config)
  return Object.fromEntries(
    Object.entries(defaults).map(([name, fallback]) => {
      const text = given(name)
      if (secretNames.has(name)) return [name, text === undefined ? 'unset' : 'set']
      if (text === undefined) return [name, derived[name] ?? parsedValue(fallback) ?? null]
      return [name, withoutSecrets(name === 'DATABASE_URL' ? withoutPassword(text) : parsedValue(text), secrets)]
    }),
  )
}

/** The defaults that depend on other settings. */
const derivedFrom = ({ http, limits, media, video }: ReadSettings) => ({
  PUBLIC_URL: `http://${http.host}:${http.port}`,
  MAX_VIDEO_BODY_BYTES: http.maxVideoBodyBytes,
  MAX_SMALL_BODY_BYTES: http.maxSmallBodyBytes,
  MAX_UNREAD_BODY_BYTES: limits.maxUnreadBodyBytes,
  USER_MAX_UNREAD_BODY_BYTES: limits.user.maxUnreadBodyBytes,
  MEDIA_UPSTREAM_LIMITS: media.limits,
  VIDEO_PRESET_ASSETS: video.presetAssets.join(),
})

/** A number, JSON, or the text. */
const parsedValue = (text: string | undefined): unknown => {
  if (text === undefined || !/^(?:[[{]|-?\d+(?:\.\d+)?$)/.test(text)) return text
  return parsedJson(text) ?? text
}

const withoutPassword = (text: string): string => {
  const password = databaseKindOf(text)?.passwordOf(text)
  if (password === undefined) return text
  const url = new URL(text)
  url.password = '***'
  return url.href
}

/** Shorter texts are in common words. */
const minSecretLength = 8

/** Header values of upstreams may be credentials. */
const withoutSecrets = (value: unknown, secrets: readonly string[]): unknown => {
  if (typeof value === 'string')
    return secrets.some((secret) => secret.length >= minSecretLength && value.includes(secret)) ? 'set' : value
  if (Array.isArray(value)) return value.map((each) => withoutSecrets(each, secrets))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      key === 'headers' ? namesOf(member) : withoutSecrets(member, secrets),
    ]),
  )
}

const namesOf = (headers: unknown): unknown =>
  typeof headers === 'object' && headers !== null
    ? Object.fromEntries(Object.keys(headers).map((name) => [name, 'set']))
    : 'set'

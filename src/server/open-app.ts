import { identifyByToken } from '../../plugins/api-token/index.ts'
import type { FetchHandler } from '../../plugins/concurrency-limits/index.ts'
import type { Storage } from '../../plugins/file-storage/index.ts'
import type { RevisionClock } from '../../plugins/ownership/index.ts'
import type { Audit } from '../../plugins/shared/audit.ts'
import type { Background } from '../../plugins/shared/background/background.ts'
import { systemClock } from '../../plugins/shared/clock.ts'
import type { ClientAddressOf } from '../../plugins/shared/http/client-address.ts'
import { publicBase } from '../../plugins/shared/http/origin.ts'
import { createCircuitBreakers } from '../../plugins/shared/upstream/circuit-breaker.ts'
import { fetchOnce, fetchPooledPost } from '../../plugins/shared/upstream/fetch.ts'
import type { Fetch } from '../../plugins/shared/upstream/upstream-error.ts'
import type { UsageLimits } from '../../plugins/usage-limits/index.ts'
import { identifyBySession } from '../../plugins/web-session/index.ts'
import { createCallbackCheck, eventOptions } from '../app/event-options.ts'
import { openFiles } from '../app/files.ts'
import { mcpOptions } from '../app/mcp-options.ts'
import { openOidcLogin } from '../app/oidc-login.ts'
import type { AppOptions } from '../app/options.ts'
import { createOriginals } from '../app/originals.ts'
import { pictureOptions } from '../app/pictures.ts'
import { identifyByEither, sessionsOfSameOrigin } from '../app/request/identify.ts'
import { createApp } from '../app.ts'
import { createMediaKind } from '../config/media-upstream.ts'
import type { Config } from '../config.ts'
import type { LeveledLog } from '../log.ts'
import { adminOptions } from '../operators/admin-options.ts'
import { keepMetricHistory } from '../operators/metric-history.ts'
import { type Retention, removeOldUsage, watchOverdue } from '../operators/retention.ts'
import type { Store } from '../store/index.ts'

/** What the app shares with the rest of the process. */
export interface AppDependencies {
  readonly health: AppOptions['health']
  readonly storage: Storage | undefined
  readonly shareMetrics: AppOptions['shareMetrics']
  readonly tracing: AppOptions['tracing']
  readonly publicUrl: () => string
  readonly addressOf: ClientAddressOf
  readonly background: Background
  readonly revisionClock: RevisionClock
  readonly usageLimits: UsageLimits
  readonly log: LeveledLog
  readonly audit: Audit
}

/** Opens the app of a configuration. Its store must be migrated. */
export const openApp = async (
  config: Config,
  store: Store,
  {
    health,
    storage,
    publicUrl,
    addressOf,
    background,
    revisionClock,
    usageLimits,
    shareMetrics,
    tracing,
    log,
    audit,
  }: AppDependencies,
): Promise<FetchHandler> => {
  const [first = await store.secret('session'), ...others] = config.sessionSecrets
  const identify = identifyByToken({ store, revisionClock, audit })
  const secrets = [first, ...others] as const
  const session = {
    ...{ store, secrets, publicUrl },
    // Other hosts of the domain cannot set a `__Host-` cookie (draft-ietf-httpbis-rfc6265bis, section 4.1.3.2). With
    // another name they could end a user's session, or replace it with the session of another user.
    cookieName: config.http.publicUrl?.startsWith('https:') ? '__Host-session' : undefined,
  }
  const identifySession = identifyBySession(session)
  const identifyEither = identifyByEither(identify, identifySession)
  const stored =
    storage &&
    openFiles(config, {
      ...{ storage, store, publicUrl, secrets, background },
      identify: identifyEither,
      requireSameOrigin: sessionsOfSameOrigin(publicUrl),
    })
  const circuits = createCircuitBreakers({ log })
  const { keepMs } = config.usage
  if (keepMs !== undefined) removeOldUsage({ ...{ store, keepMs, background, log }, clock: systemClock })
  return createApp({
    circuits,
    gateway: {
      fetch: circuits.wrap(fetchOnce),
      kind: config.media.upstream && createMediaKind(config.media.upstream),
      accounts: config.media.accounts?.map(({ name, upstream, limits, slots }) => ({
        ...{ name, kind: createMediaKind(upstream), perSecond: limits },
        ...{ fetch: circuits.wrap(fetchOnce, name), ...(slots !== undefined && { slots }) },
      })),
      ...{ store, identify, revisionClock, secrets, background },
      idempotency: store.idempotency,
      events: store,
      shares: { store },
      batches: store,
      consents: {
        store,
        linkTo: (secret) => `${publicBase(publicUrl)}/api/${config.media.segment}/face-verifications/consent/${secret}`,
      },
      pictures: pictureOptions(config, store, stored?.results),
      ...(config.media.slots &&
        storage &&
        stored && {
          slots: {
            ...{ store, ...config.media.slots },
            originals: createOriginals({
              ...{ storage, store, publicUrl, secrets, results: stored.results },
              networks: config.events.webhookNetworks,
            }),
          },
        }),
      segment: config.media.segment,
      timeoutMs: config.media.timeoutMs,
      limits: { perSecond: config.media.limits, queueMs: config.media.queueMs, store: store.rateLimits },
      maxBodyBytes: config.http.maxSmallBodyBytes,
    },
    text: {
      ...config.text,
      fetch: circuits.wrap(fetchPooledPost),
      defaultMaxTokens: config.text.defaultMaxTokens ?? null,
      ...(config.people.maxStoredResponseBytes > 0 && {
        storedResponses: store,
        maxStoredResponseBytes: config.people.maxStoredResponseBytes,
      }),
      ...{ identify, secrets, background, usage: store, objects: store, maxBodyBytes: config.http.maxBodyBytes },
    },
    video: {
      ...videoUpstreams(config, (account) => circuits.wrap(fetchOnce, account)),
      fetch: circuits.wrap(fetchOnce),
      store,
      identify,
      idempotency: store.idempotency,
      identifierSecret: await store.secret('video'),
      publicUrl: () => config.http.publicUrl,
      checkCallbackUrl: createCallbackCheck(config),
      maxBodyBytes: config.http.maxVideoBodyBytes,
      results: stored?.results,
      background,
    },
    people: {
      ...session,
      addressOf,
      face: {
        taskMs: config.face.taskMs,
        maxBodyBytes: config.http.maxSmallBodyBytes,
        maxOpen: config.people.maxFaceChecks,
        consents: { store, secrets },
        background,
      },
      maxTokens: config.people.maxTokens,
      maxSessions: config.people.maxSessions,
      passwordLogin: config.login.password,
    },
    oidc:
      config.login.oidc &&
      (await openOidcLogin(config.login.oidc, { ...session, addressOf, maxSessions: config.people.maxSessions })),
    admin: adminOptions(config, { store, identify: identifyEither, publicUrl, secrets, usageLimits }),
    events: eventOptions(
      config,
      { store, identify: identifyEither, background },
      { store, publicUrl, identify: identifySession },
    ),
    files: stored?.files,
    mcp: config.mcp && mcpOptions(config.mcp, config, { identify, secrets, publicUrl }),
    health,
    limits: config.limits,
    usageLimits,
    metricsToken: config.metricsToken,
    overdue: watchOverdue({ ...{ store, background, log }, retention: retentionOf(config), clock: systemClock }),
    watchMetrics: (read) => keepMetricHistory({ store, read, clock: systemClock, background, log }),
    ...{ shareMetrics, tracing, log, audit },
  })
}

const dayMs = 86_400_000

/** How long each kind is kept. What has a time of its own ends at it. */
const retentionOf = ({ events, usage, audit, video }: Config): Retention => ({
  ...{ events: events.keepMs, audit: audit.keepMs, videos: video.keepMs, deliveries: 2 * dayMs },
  ...(usage.keepMs !== undefined && { usage: usage.keepMs }),
  ...{ verifications: 30 * dayMs, asset_batches: 30 * dayMs },
  ...{ idempotency_keys: 0, text_objects: 0, files: 0 },
})

/** With several accounts, `VIDEO_UPSTREAM_URL` makes the videos of the first, unless that has an address of its own. */
const videoUpstreams = (
  { media, video: { upstream, ...video } }: Pick<Config, 'media' | 'video'>,
  fetchOf: (account: string) => Fetch,
): Pick<AppOptions['video'], 'upstream' | 'accounts'> & Omit<Config['video'], 'upstream'> => {
  if (!media.accounts) return { ...video, upstream }
  const accounts = media.accounts.map((account, index) => ({
    ...{ name: account.name, fetch: fetchOf(account.name) },
    upstream: account.video ?? (index === 0 ? upstream : undefined),
  }))
  return { ...video, accounts }
}

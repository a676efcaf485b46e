import { type AnyElysia, Elysia } from 'elysia'
import { type Audit, noAudit } from '../shared/audit.ts'
import { type Background, type BackgroundOption, backgroundOf } from '../shared/background/background.ts'
import { type Clock, systemClock } from '../shared/clock.ts'
import { responseFrom } from '../shared/http/body/byte-source.ts'
import { createErrorHandler, type ErrorHandler, type ErrorsOption, routesOf } from '../shared/http/error-handler.ts'
import { fallbackRoutes } from '../shared/http/fallback-routes.ts'
import { inFlightOf } from '../shared/http/in-flight.ts'
import type { PublicUrl } from '../shared/http/origin.ts'
import { type Identify, requireIdentity } from '../shared/identity/identify.ts'
import {
  checkAbove0,
  checkCollaborator,
  checkElysia,
  checkIdentify,
  checkPath,
  checkPublicUrl,
} from '../shared/plugin/options.ts'
import type { RoutesAt, RoutesPlugin } from '../shared/plugin/plugin.ts'
import { seedOf } from '../shared/plugin/seed.ts'
import { type Log, noLog, Problem } from '../shared/problem.ts'
import { storeCall } from '../shared/store-call.ts'
import { streamHeaders } from '../sse-relay/index.ts'
import { createTargetRules } from './address/address.ts'
import { readTypeFilter } from './filter.ts'
import { EventHub } from './hub.ts'
import { type EventRoutes, eventDocs, type WebhookRoutes, webhookDocs } from './openapi.ts'
import type { EventStore } from './store.ts'
import { EventStream } from './stream.ts'
import { sweepEvents } from './sweep.ts'
import { type DeliveryOutcome, deliver } from './webhooks/deliver.ts'
import type { DeliveryStore, LeasedDelivery } from './webhooks/delivery-store.ts'
import type { WebhookStore } from './webhooks/webhook-store.ts'
import { createWebhooks } from './webhooks/webhooks.ts'

export type { ErrorsOption } from '../shared/http/error-handler.ts'
export type { Identify, Identity } from '../shared/identity/identify.ts'
export { createTargetRules, type TargetRules, targetProblem } from './address/address.ts'
export { type ReadFileOptions, readFileAt } from './address/read-file.ts'
export type { EventMessage } from './frames.ts'
export type {
  CreatedWebhook,
  EventRoutes,
  StreamedEvent,
  WebhookInfo,
  WebhookList,
  WebhookRequest,
  WebhookRoutes,
} from './openapi.ts'
export type { EventStore, StoredEvent } from './store.ts'
export type { DeliveryOutcome } from './webhooks/deliver.ts'
export type { DeliveryStore, FailedDelivery, LeasedDelivery } from './webhooks/delivery-store.ts'
export type { NewWebhook, StoredWebhook, WebhookStore } from './webhooks/webhook-store.ts'

/** Options of `events`. Times are milliseconds. */
export interface EventsOptions {
  readonly store: EventStore
  /** Identifies the caller of the stream: by a session, a token, or both. */
  readonly identify: Identify
  /** Base path of the route `/events`. Default `/api`. */
  readonly prefix?: string
  /** How long events are kept, for clients that come back. Default 7 days. */
  readonly keepMs?: number
  /** Time between two queries for the events of other processes. Default 500. */
  readonly everyMs?: number
  /** Silence after which a stream gets a comment. Default 15,000. */
  readonly heartbeatMs?: number
  /** Streams that one user may have open in this process. Default 16. */
  readonly maxStreams?: number
  /**
   * Removes old events, and delivers events to webhooks. Its end also ends all streams. Default: this process does
   * neither.
   */
  readonly background?: BackgroundOption
  /** Webhooks: their routes, and the delivery of events. Default: none. */
  readonly webhooks?: WebhookOptions | undefined
  /** The JSON body of errors; `throw`: errors go to the `onError` of the host app. Default: `problemBody()`. */
  readonly errors?: ErrorsOption
  /** Default: the system clock. */
  readonly clock?: Clock
  readonly log?: Log
  /** Receives an event for each webhook that was created, deleted or disabled. Default: none. */
  readonly audit?: Audit
}

/** Options of webhooks. */
export interface WebhookOptions {
  readonly store: WebhookStore & DeliveryStore
  /** Identifies the caller by a session, not by a token: who has a stolen token must not be told what its user does. */
  readonly identify: Identify
  /** The URL that browsers use. Requests that change something must come from a page of its origin. */
  readonly publicUrl: PublicUrl
  /** Webhooks that one user may have. Default 10. */
  readonly maxWebhooks?: number
  /**
   * Networks in CIDR notation with addresses that are not public, to which deliveries may go all the same. Default:
   * none.
   */
  readonly networks?: readonly string[]
  /** Receives how each attempt of a delivery has ended. */
  readonly observe?: (outcome: DeliveryOutcome) => void
}

/** The routes of `events`, for Eden. `Webhooks` is the type of its option `webhooks`. */
export type EventsRoutes<Prefix extends string, Webhooks> = RoutesAt<Prefix, EventRoutes> &
  (Webhooks extends object ? RoutesAt<Prefix, WebhookRoutes> : Record<never, never>)

/**
 * `GET /events` below the prefix: a stream of the caller's own events (server-sent events), which a client resumes with
 * `Last-Event-ID`.
 *
 * `?types=video.*,asset.active` leaves out all others. The stream ends when the caller's credential is revoked. With
 * `webhooks` there are also `GET`, `POST /webhooks` and `DELETE /webhooks/:id`, and a process with `background`
 * delivers events. Throws TypeError for a wrong `prefix`, `store`, `identify`, `publicUrl`, time or maximum.
 *
 * @example
 * const background = new Background()
 * new Elysia().use(events({ store, identify, background }))
 */
export const events = <
  const Prefix extends string = '/api',
  const Webhooks extends WebhookOptions | undefined = undefined,
>(
  options: EventsOptions & { readonly prefix?: Prefix; readonly webhooks?: Webhooks },
): RoutesPlugin<EventsRoutes<Prefix, Webhooks>> => {
  checkElysia(Elysia)
  const { store, identify, clock = systemClock, log = noLog } = options
  const { keepMs = 7 * 86_400_000, everyMs = 500, heartbeatMs = 15_000, maxStreams = 16 } = options
  const prefix = checkPath('prefix', options.prefix ?? '/api')
  checkCollaborator('store', store)
  checkIdentify(identify)
  checkAbove0({ keepMs, everyMs, heartbeatMs, maxStreams })
  const hub = new EventHub({ store, clock, log, everyMs })
  const open = new Map<string, Set<EventStream>>()
  const background = backgroundOf(options.background)
  background?.signal.addEventListener('abort', () => {
    for (const streams of open.values()) for (const stream of streams) stream.end('the server stops')
  })
  if (background) sweepEvents({ store, keepMs, clock, log }, background)

  const stream = async (request: Request): Promise<Response> => {
    const identity = await requireIdentity(identify, request)
    const { user } = identity
    const query = new URLSearchParams(request.url.split('?').slice(1).join('?'))
    const wants = readTypeFilter(query)
    const lastEventId = readLastEventId(request.headers.get('last-event-id') ?? query.get('last_event_id'))
    const streams = open.get(user) ?? new Set()
    if (streams.size >= maxStreams) throw tooMany(maxStreams)
    const inFlight = inFlightOf(request)
    inFlight?.streaming()
    const onEnd = () => {
      inFlight?.streamed()
      unwatch?.()
      request.signal.removeEventListener('abort', disconnect)
      streams.delete(opened)
      if (streams.size === 0 && open.get(user) === streams) open.delete(user)
    }
    const opened = new EventStream({ hub, store, clock, log, user, wants, lastEventId, heartbeatMs, onEnd })
    const disconnect = () => void opened.cancel()
    const unwatch = identity.whenRevoked?.(() => opened.end('not authenticated'))
    streams.add(opened)
    open.set(user, streams)
    request.signal.addEventListener('abort', disconnect)
    if (background?.signal.aborted) opened.end('the server stops')
    await storeCall(opened.open(), 'events could not be read')
    return responseFrom(opened, { headers: streamHeaders(new Headers()) })
  }

  const errors = createErrorHandler(options)
  const routes = new Elysia({ prefix: `${prefix}/events` })
    .get('', routesOf(errors)(stream), eventDocs.stream)
    .use(fallbackRoutes(errors))
  const plugin: AnyElysia = new Elysia({ name: 'sluice/events', seed: seedOf(options) }).use(routes)
  return options.webhooks
    ? plugin.use(webhookRoutes(options, options.webhooks, { prefix, errors, background }))
    : plugin
}

const webhookRoutes = (
  { store, clock = systemClock, log = noLog, audit = noAudit }: EventsOptions,
  webhooks: WebhookOptions,
  {
    prefix,
    errors,
    background,
  }: { readonly prefix: string; readonly errors: ErrorHandler; readonly background: Background | undefined },
): AnyElysia => {
  const { identify, publicUrl, maxWebhooks = 10, networks, observe } = webhooks
  checkCollaborator('webhooks.store', webhooks.store)
  checkIdentify(identify)
  checkPublicUrl(publicUrl)
  checkAbove0({ maxWebhooks })
  const rules = createTargetRules(networks)
  if (background) {
    const onDisabled = ({ id, user }: LeasedDelivery) =>
      audit.note({ action: 'webhook.disable', user, target: { kind: 'webhook', id } })
    const onEvents: EventStore['onEvents'] = (listener) => store.onEvents(listener)
    deliver({ store: webhooks.store, onEvents, rules, background, clock, log, observe, onDisabled })
  }
  const { list, create, remove } = createWebhooks({
    ...{ store: webhooks.store, identify, publicUrl, maxWebhooks, rules, clock, audit },
  })
  const route = routesOf(errors)
  return new Elysia({ prefix: `${prefix}/webhooks` })
    .get('', route(list), webhookDocs.list)
    .post('', route(create), webhookDocs.create)
    .delete('/:id', route(remove, 'id'), webhookDocs.remove)
    .use(fallbackRoutes(errors))
}

/** An id longer than any of ours is unknown, and so the client is told that events may be missing. */
const readLastEventId = (text: string | null): string | undefined => {
  if (text === null || text === '') return undefined
  return text.length <= 64 && /^[\x21-\x7e]+$/.test(text) ? text : 'unknown'
}

const tooMany = (maxStreams: number) =>
  new Problem(429, `there are ${maxStreams} event streams of this user already`, {
    headers: { 'retry-after': '5' },
    event: { action: 'limit.reach', target: { kind: 'stream' } },
  })

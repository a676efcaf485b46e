import type { FetchHandler } from '../../plugins/concurrency-limits/index.ts'
import { type Awaitable, andThen } from '../../plugins/shared/awaitable.ts'
import { createCoarseTimers } from '../../plugins/shared/background/coarse-timers.ts'
import { inNextTurn } from '../../plugins/shared/background/next-turn.ts'
import { afterReading } from '../../plugins/shared/background/turns.ts'
import { setPeerAddress } from '../../plugins/shared/http/client-address.ts'
import { mayBegin } from '../../plugins/shared/http/turn/request-turn.ts'
import {
  asksForWebSocket,
  type BunWebSocketData,
  bunWebSocketData,
  isWebSocketHandshake,
  offerWebSocket,
  type WebSocketListener,
  webSocketAcceptanceOf,
} from '../../plugins/shared/http/web-socket.ts'
import { type Log, noLog, Problem } from '../../plugins/shared/problem.ts'
import { renderRejection } from '../app/request/rejection.ts'
import type { Config } from '../config.ts'
import { passGrace } from '../node-server/drain.ts'
import { checkFraming, type Framing, hasBody } from '../node-server/framing.ts'
import { isEventStream } from '../node-server/send-response.ts'
import { defaultTimeouts } from '../node-server/timeouts.ts'
import { createNodeServer, type ListeningServer, urlOf } from '../node-server.ts'
import { PendingRequest } from './pending-request.ts'
import { watchBody } from './request-body.ts'
import { withBunBody } from './response-body.ts'

/** Options of `listenNode` and `listenBun`. */
export interface DefaultServerOptions {
  readonly http: Pick<Config['http'], 'host' | 'port' | 'getBodies' | 'maxBodyBytes'>
  /** Length of the longest body of all routes. Default `http.maxBodyBytes`. */
  readonly longestBodyBytes?: number
  readonly media: Pick<Config['media'], 'segment'>
  /** Receives the error of a file that cannot be sent with `Bun.serve`. Default: no log. */
  readonly log?: Log
  /** Whether other processes listen on the same port. */
  readonly shared: boolean
  /** Timeouts of `listenBun`; default those of `createNodeServer`. */
  readonly timeouts?: { readonly keepAliveMs: number; readonly bodyStallMs: number }
}

/**
 * Listens with `node:http`, which delivers bodies of GET.
 *
 * Deno always uses it, because `Deno.serve` (2.9.6) does not report that a caller has disconnected before the response
 * begins.
 */
export const listenNode = (
  handle: FetchHandler,
  { http, media, shared }: DefaultServerOptions,
): Promise<ListeningServer> =>
  createNodeServer(handle, {
    getBodies: http.getBodies,
    renderRejection: renderRejection(media.segment),
  }).listen({ port: http.port, hostname: http.host, reusePort: shared })

/**
 * Listens with `Bun.serve`, which is faster than `node:http`.
 *
 * It has one idle timer for each connection, in whole seconds and checked every four seconds, which also runs while a
 * request is handled. So this code turns the timer off while the app handles a request, and sets it again for each read
 * of the request body and for the idle time between requests. The timeout for headers is Bun's own: 12 seconds.
 */
export const listenBun = async (
  handle: FetchHandler,
  {
    http,
    media,
    shared,
    log = noLog,
    timeouts = defaultTimeouts,
    longestBodyBytes = http.maxBodyBytes,
  }: DefaultServerOptions,
): Promise<ListeningServer> => {
  const renderError = renderRejection(media.segment)
  const idleSeconds = Math.ceil(timeouts.keepAliveMs / 1_000)
  const stallSeconds = Math.ceil(timeouts.bodyStallMs / 1_000)
  const timers = createCoarseTimers(1_000)

  /**
   * Bun does not report the end of a streamed response. So this restarts the idle timer until the connection or the
   * response has ended.
   */
  const renewIdleTimer = (request: Request) => {
    server.timeout(request, idleSeconds)
    const renewal = {
      expiresAt: performance.now() + timeouts.keepAliveMs / 3,
      onTimeout() {
        if (server.requestIP(request)) renewIdleTimer(request)
      },
    }
    timers.add(renewal)
  }

  const endTimers = createCoarseTimers(50)
  /** Calls `end` when the response has ended: a request has no address from then on. */
  const whenEnded = (request: Request, end: () => void) =>
    endTimers.add({
      expiresAt: performance.now() + 50,
      onTimeout: () => (server.requestIP(request) ? whenEnded(request, end) : end()),
    })

  const webSockets = new Set<WebSocketListener>()
  let isStopping = false
  const respond = (pending: PendingRequest): Awaitable<Response | undefined> => {
    const { request } = pending
    const framing = framingOf(request.headers)
    const problem = checkFraming(framing) ?? (request.url.startsWith('http') ? undefined : invalid)
    if (problem) return renderError(problem, targetOf(request))
    inNextTurn(() => pending.keepOpen())
    const body = hasBody(framing)
      ? watchBody(request, (stalls) => {
          pending.isReading = stalls > 0
          server.timeout(request, stalls * stallSeconds)
        })
      : undefined
    if (canOpenWebSocket(request.headers)) offerWebSocket(request)
    return andThen(handle(request), (handled) => {
      const acceptance = webSocketAcceptanceOf(handled)
      if (acceptance) {
        pending.hasResponse = true
        const data = bunWebSocketData(acceptance, handle, (listener, isOpen) => {
          if (isOpen) webSockets.add(listener)
          else webSockets.delete(listener)
        })
        if (server.upgrade(request, { data })) return undefined
        return renderError(invalid, '/')
      }
      return andThen(withBunBody(handled, request, whenEnded), (response) => {
        pending.hasResponse = true
        if (isEventStream(response.headers)) renewIdleTimer(request)
        else if (pending.isTimerOff || body) server.timeout(request, idleSeconds)
        if (isStopping || (body && !body.canReuseConnection())) response.headers.set('connection', 'close')
        return response
      })
    })
  }

  const server = Bun.serve<BunWebSocketData>({
    hostname: http.host,
    port: http.port,
    reusePort: shared,
    idleTimeout: idleSeconds,
    // Above the gateway's own limit, so that the gateway itself rejects a body that is too long.
    maxRequestBodySize: longestBodyBytes + 2 ** 20,
    websocket: {
      open: (socket) => socket.data.open(socket),
      message: (socket, message) => socket.data.message(socket, message),
      drain: ({ data }) => data.drain(),
      pong: ({ data }) => data.pong(),
      close: ({ data }) => data.close(),
      // The app checks the length of a message, and whether the peer is alive. It waits for the reader, so the buffer
      // is never full.
      maxPayloadLength: Math.min(http.maxBodyBytes + 2 ** 20, maxMessageBytes),
      idleTimeout: 0,
      sendPings: false,
      backpressureLimit: 2 ** 31 - 1,
      perMessageDeflate: false,
    },
    // Of a body that fails before its first byte, such as a file that is gone. Without this, Bun would respond with the
    // error, and print the address.
    error(err) {
      log.error({ err }, 'the body of a response failed')
      return renderError(failed, '/')
    },
    fetch(request) {
      const pending = new PendingRequest(request, server)
      setPeerAddress(request, pending)
      if (mayBegin(request, pending)) return respond(pending)
      // The caller may disconnect before.
      void pending.address
      return pending
        .untilBegun()
        .then((refusal) => (refusal ? renderError(refusal, targetOf(request)) : respond(pending)))
    },
  })
  const port = server.port ?? 0
  const stop: ListeningServer['stop'] = async ({
    closeActiveConnections = false,
    graceMs = 0,
    beforeClose,
    drainMs,
  } = {}) => {
    isStopping = true
    if (graceMs > 0 && !closeActiveConnections) await passGrace(graceMs)
    if (!closeActiveConnections) {
      await beforeClose?.()
      // Bun closes idle connections at once, also those on which a request has arrived that it has not read.
      await new Promise<void>(afterReading)
    }
    for (const listener of webSockets) listener.onStop()
    if (!closeActiveConnections) await withTimeout(drainMs, server.stop())
    await server.stop(true)
  }
  return {
    url: urlOf('http', http.host, port),
    port,
    stop,
    [Symbol.asyncDispose]: () => stop({ closeActiveConnections: true }),
  }
}

/**
 * Bun joins repeated fields with commas, which these fields must not contain. It rejects codings other than chunked,
 * and differing lengths, itself.
 */
const framingOf = (headers: Headers): Framing => ({
  host: headers.get('host') ?? undefined,
  contentLength: headers.get('content-length') ?? undefined,
  transferEncoding: headers.get('transfer-encoding') ?? undefined,
  repeated: false,
})

const targetOf = ({ url }: Request): string => url.replace(/^https?:\/\/[^/]*/, '')

const canOpenWebSocket = (headers: Headers): boolean =>
  asksForWebSocket(headers.get('upgrade')) &&
  isWebSocketHandshake(headers.get('sec-websocket-version'), headers.get('sec-websocket-key'))

/**
 * A longer WebSocket message closes its connection. Bun does not report the part of a message that it holds, so that it
 * counts among no user's bytes: only the number of connections bounds how much a user can hold, 192 MiB by default.
 */
export const maxMessageBytes = 3 * 2 ** 20

const invalid = new Problem(400, 'request is not valid')
const failed = new Problem(500, 'internal error')

/** Resolves when the promise settles, at the latest after `ms` milliseconds. Without `ms` there is no limit. */
const withTimeout = (ms: number | undefined, promise: Promise<unknown>): Promise<void> =>
  new Promise((resolve) => {
    const timer = ms === undefined ? undefined : setTimeout(resolve, ms)
    void promise.finally(() => {
      clearTimeout(timer)
      resolve()
    })
  })

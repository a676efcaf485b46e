import type { Awaitable } from '../awaitable.ts'
import { responseTurn } from '../http/turn/request-turn.ts'
import { inSteps } from './large-body.ts'
import type { Fetch } from './upstream-error.ts'

/** The members of Deno's global that this file uses. */
interface DenoRuntime {
  createHttpClient(options: { poolMaxIdlePerHost: number }): object
}

const { Deno: deno, Bun: bun } = globalThis as { Deno?: DenoRuntime; Bun?: object }
let unpooledClient: object | undefined

/**
 * The default `fetch` of the clients of upstreams: it sends a request with `keepalive: false` exactly once.
 *
 * Deno sends a POST again when the pooled connection turns out to be closed, so such a request gets a new connection
 * there. Bun's own `fetch` respects `keepalive`.
 */
export const fetchOnce: Fetch = (url, init) => {
  if (!deno) return fetch(url, init).then(inTurn)
  if (init.keepalive !== false) return fetch(url, init).then(decoded).then(inTurn)
  unpooledClient ??= deno.createHttpClient({ poolMaxIdlePerHost: 0 })
  const once = { ...init, body: inSteps(init.body), client: unpooledClient } as RequestInit
  return fetch(url, once).then(decoded).then(inTurn)
}

/**
 * The response with its body decoded. Deno itself does that only for a request without `accept-encoding`, but some
 * servers and proxies encode a response although the request asks for `identity`. Bun decodes all of them.
 */
const decoded = (response: Response): Response => {
  const { body, headers } = response
  const coding = body && headers.get('content-encoding')?.trim().toLowerCase()
  const format = coding === 'x-gzip' ? 'gzip' : coding
  if (!body || (format !== 'gzip' && format !== 'deflate')) return response
  // The clients of upstreams read the header as that of a body whose length is not known.
  return new Response(body.pipeThrough(new DecompressionStream(format)), response)
}

/**
 * The same, but on Bun a POST uses a pooled connection.
 *
 * Bun never sends a POST twice, even if the pooled connection turns out to be closed. If the upstream closes an idle
 * connection at that moment, the call fails like an interrupted one: whether it arrived is unknown. So that this
 * remains rare, tell `connectionLost` of the failure.
 */
export const fetchPooledPost: Fetch = (url, init) =>
  bun && init.method === 'POST'
    ? fetch(url, { ...init, keepalive: mayUsePool(url) }).then(inTurn)
    : fetchOnce(url, init)

/** Users take turns for responses, too: all of one user's may arrive in one turn of the event loop. */
const inTurn = (response: Response): Awaitable<Response> => responseTurn()?.then(() => response) ?? response

/** POST requests to an origin that use new connections after one of them was lost. Then the pool is tried again. */
const newConnections = 1000

/** How many requests to each origin still use new connections. */
const unpooled = new Map<string, number>()

/**
 * Call this when a POST of `fetchPooledPost` has failed, with its error.
 *
 * Some servers close a connection after a response that did not say so, for example llama.cpp's server after each
 * stream. After a lost connection, the next requests to the same origin use new ones.
 */
export const connectionLost = (url: string, error: unknown): void => {
  const isReset = error instanceof Error && 'code' in error && error.code === 'ECONNRESET'
  if (isReset) unpooled.set(new URL(url).origin, newConnections)
}

const mayUsePool = (url: string): boolean => {
  if (unpooled.size === 0) return true
  const { origin } = new URL(url)
  const left = unpooled.get(origin) ?? 0
  if (left > 1) unpooled.set(origin, left - 1)
  else unpooled.delete(origin)
  return left === 0
}

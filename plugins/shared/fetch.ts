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
  if (!deno || init.keepalive !== false) return fetch(url, init)
  unpooledClient ??= deno.createHttpClient({ poolMaxIdlePerHost: 0 })
  return fetch(url, { ...init, client: unpooledClient } as RequestInit)
}

/**
 * The same, but on Bun a POST uses a pooled connection.
 *
 * Bun never sends a POST twice, even if the pooled connection turns out to be closed. If the upstream closes an idle
 * connection at that moment, the call fails like an interrupted one: whether it arrived is unknown.
 */
export const fetchPooledPost: Fetch = (url, init) =>
  bun && init.method === 'POST' ? fetch(url, { ...init, keepalive: true }) : fetchOnce(url, init)

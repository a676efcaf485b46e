import { responseOf } from './body/known-body.ts'

/**
 * Forbids browsers and proxies to cache a response (RFC 9111 section 5.2.2.5): it depends on who asks, and a cache may
 * not know by what.
 */
export const noStoreHeaders = { 'cache-control': 'no-store' } as const

/** A response with JSON text that must not be cached. */
export const noStoreText = (json: string, headers: Readonly<Record<string, string>> = {}): Response =>
  responseOf(json, { headers: { 'content-type': 'application/json', ...noStoreHeaders, ...headers } })

/** A JSON response that must not be cached. */
export const noStoreJson = (content: object): Response => noStoreText(JSON.stringify(content))

/** The response of a route that has done what it was asked for: `content`, and `success: true`. */
export const success = (content: object = {}): Response => noStoreJson({ success: true, ...content })

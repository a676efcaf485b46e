import type { FetchHandler } from '../../../plugins/concurrency-limits/index.ts'
import { andThen } from '../../../plugins/shared/awaitable.ts'
import { withInertHeaders } from '../../../plugins/shared/http/headers.ts'

export interface CorsOptions {
  /** Origins whose pages may call the API. Empty: the handler is returned unchanged. */
  readonly origins: readonly string[]
  /** Base paths of the routes that pages may call. */
  readonly prefixes: readonly string[]
}

/**
 * Lets pages of other origins call routes with a token (CORS, Fetch Standard section 3.3).
 *
 * It is around the whole app, so that pages can read every response, also that of a limit that rejects a request before
 * the app. No response allows credentials: a browser sends no cookie with these requests.
 */
export const withCors = (handle: FetchHandler, { origins, prefixes }: CorsOptions): FetchHandler => {
  if (origins.length === 0) return handle
  const allowed = new Set(origins)
  const isCovered = (path: string) => prefixes.some((prefix) => path === prefix || path.startsWith(`${prefix}/`))
  return (request) => {
    if (!isCovered(new URL(request.url).pathname)) return handle(request)
    const origin = request.headers.get('origin')
    const isAllowed = origin !== null && allowed.has(origin)
    if (isAllowed && isPreflight(request)) return withInertHeaders(preflightResponse(request, origin))
    return andThen<Response, Response>(handle(request), (response) => {
      const { headers } = response
      headers.append('vary', 'Origin')
      if (!isAllowed) return response
      headers.set('access-control-allow-origin', origin)
      headers.set('access-control-expose-headers', '*')
      return response
    })
  }
}

const isPreflight = ({ method, headers }: Request): boolean =>
  method === 'OPTIONS' && headers.has('access-control-request-method')

/** A preflight has no token, so it is answered before authentication. */
const preflightResponse = ({ headers }: Request, origin: string): Response => {
  const names = headers.get('access-control-request-headers') ?? ''
  return new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
      // `*` would not include Authorization, and client libraries send headers of their own.
      ...(fieldNames.test(names) && { 'access-control-allow-headers': names }),
      'access-control-max-age': '7200',
      vary: 'Origin, Access-Control-Request-Headers',
    },
  })
}

/** A list of field names (RFC 9110 section 5.1). */
const fieldNames = /^[\w!#$%&'*+.^`|~-]+(?: ?, ?[\w!#$%&'*+.^`|~-]+){0,99}$/

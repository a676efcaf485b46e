import { accessDenied } from '../audit.ts'
import { isPromise } from '../awaitable.ts'
import { requestPath } from '../http/request-path.ts'
import { Problem } from '../problem.ts'
import type { Identify, Identity } from './identify.ts'
import type { Scope } from './scopes.ts'

/**
 * Which scope a group of routes needs.
 *
 * - `media`, `text`, `video`: that scope, or `read` for a request that changes and costs nothing
 * - `admin`: the scope `admin`, of a user whose role is `admin`
 * - `provision`: `admin` or `provision`, of a user whose role is `admin`
 */
export type RouteFamily = Exclude<Scope, 'read'>

/**
 * Wraps the function that authenticates the callers of a family of routes: it throws Problem 403, in the form of the
 * route, for a credential without the scope of the family. An identity without scopes has all of them: a session, or a
 * user of a host app.
 *
 * @example
 * new Elysia().use(textGeneration({ upstreams: [upstream], identify: requireScope('text', identify) }))
 */
export const requireScope = (family: RouteFamily, identify: Identify): Identify => {
  const needsAdmin = family === 'admin' || family === 'provision'
  const permit = (found: Identity | undefined, request: Request): Identity | undefined => {
    if (!found || (!needsAdmin && found.scopes === undefined)) return found
    if (needsAdmin && found.role !== 'admin') throw outsideScopes(family, found)
    if (found.scopes !== undefined && !covers(found.scopes, family, request)) throw outsideScopes(family, found)
    return found
  }
  return (request) => {
    const found = identify(request)
    return isPromise(found) ? found.then((known) => permit(known, request)) : permit(found, request)
  }
}

const covers = (scopes: readonly Scope[], family: RouteFamily, request: Request): boolean => {
  if (scopes.includes(family)) return true
  if (family === 'provision') return scopes.includes('admin')
  return family !== 'admin' && scopes.includes('read') && onlyReads(request)
}

/**
 * Whether a request changes and costs nothing. The handshake of a WebSocket is a GET, but generations follow; the count
 * of tokens is a POST.
 */
const onlyReads = (request: Request): boolean => {
  const { method, headers, url } = request
  if (method === 'GET' || method === 'HEAD') return !headers.has('upgrade')
  return method === 'POST' && /\/(?:messages\/count_tokens|responses\/input_tokens)$/.test(requestPath(url))
}

const outsideScopes = (family: RouteFamily, { user, token }: Identity): Problem =>
  new Problem(403, `this credential must not use this route: it needs the scope ${family}`, {
    event: { ...accessDenied('scope', family), user, ...(token !== undefined && { token }) },
  })

import type { AnyElysia } from 'elysia'
import type { Awaitable } from '../awaitable.ts'
import { Problem } from '../problem.ts'
import type { ErrorHandler, HandlerContext } from './error-handler.ts'

/** Elysia must not parse the body of a request that is rejected. */
const hidden = { config: {}, parse: 'none' as const, detail: { hide: true } }

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/**
 * Adds routes that reject all other requests: 405 with `Allow` for other methods of existing paths, 404 for other paths
 * below the prefix.
 *
 * Use it after all other routes of the app. The bodies of these requests are not read.
 *
 * @param unknownPath the error for other paths. Default: a 404 with the message `not found`
 * @param guard throws for callers who must not know which paths there are. Default: everybody may
 */
export const fallbackRoutes =
  (
    { respond, handle }: ErrorHandler,
    unknownPath: UnknownPath = () => () => notFound,
    guard?: (request: Request) => Awaitable<unknown>,
  ) =>
  <App extends AnyElysia>(app: App): App => {
    const prefix = app.config.prefix ?? ''
    const problemOf = unknownPath([...app.routes])
    const reject = (problem: Problem, context: HandlerContext): Awaitable<Response> =>
      guard
        ? handle(context, async () => {
            await guard(context.request)
            throw problem
          })
        : respond(problem, context)
    const allowed = Map.groupBy(app.routes, (route) => route.path.slice(prefix.length))
    for (const [path, routes] of allowed) {
      const allow = [...new Set(routes.map((route) => route.method))]
      const notAllowed = new Problem(405, 'method not allowed', { headers: { allow: allow.join(', ') } })
      const rejectMethod = ({ request, set }: Context) => reject(notAllowed, { request, set } as HandlerContext)
      // One route for each method: `all` alone would lose to a parameter of another route, so that /assets/:asset_id
      // matches /assets/groups.
      for (const method of methods) if (!allow.includes(method)) app.route(method, path, rejectMethod, hidden)
      app.all(path, rejectMethod, hidden)
    }
    const rejectPath = ({ request, set }: Context) =>
      reject(problemOf(request as Request), { request, set } as HandlerContext)
    app.all('/*', rejectPath, hidden)
    if (!allowed.has('')) app.all('', rejectPath, hidden)
    // Without compiled handlers (`aot: false`), and after a host's own `onParse`, Elysia 1.4.30 does not know `parse:
    // 'none'`, and reads the bodies of all callers before any guard. A parser of that name that reads nothing keeps it
    // from doing so.
    app.parser('none', () => true)
    return app
  }

/**
 * Returns the function that creates the error for a path that none of these routes has. Their paths begin with the
 * prefix of the app.
 */
export type UnknownPath = (
  routes: readonly { readonly method: string; readonly path: string }[],
) => (request: Request) => Problem

/** What Elysia knows about the context of a route of any app. */
type Context = Readonly<Record<string, unknown>>

const notFound = new Problem(404, 'not found')

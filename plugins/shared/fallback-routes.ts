import type { AnyElysia } from 'elysia'
import { Problem } from './problem.ts'

/** Whoever is refused is refused before any body is read. */
const hidden = { config: {}, parse: 'none' as const, detail: { hide: true } }

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Gives every other method of the paths above it 405 with `Allow`, and every other path below the prefix 404; their bodies are not read. */
export const fallbackRoutes = <App extends AnyElysia>(app: App): App => {
  const prefix = app.config.prefix ?? ''
  const allowed = Map.groupBy(app.routes, (route) => route.path.slice(prefix.length))
  for (const [path, routes] of allowed) {
    const allow = [...new Set(routes.map((route) => route.method))]
    const refuse = () => {
      throw new Problem(405, 'method not allowed', { headers: { allow: allow.join(', ') } })
    }
    // Each by name: a parameter elsewhere, as in /assets/:asset_id, would otherwise take /assets/groups for an asset.
    for (const method of methods) if (!allow.includes(method)) app.route(method, path, refuse, hidden)
    app.all(path, refuse, hidden)
  }
  const unknown = () => {
    throw new Problem(404, 'not found')
  }
  app.all('/*', unknown, hidden)
  if (!allowed.has('')) app.all('', unknown, hidden)
  return app
}

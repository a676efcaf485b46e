import type { AnyElysia } from 'elysia'
import { missingPrefix } from '../../../plugins/text-generation/api/unknown-route.ts'
import { messagesProblemBody, textProblemBody } from '../../../plugins/text-generation/index.ts'

/**
 * Adds the paths of routes without their prefix: each responds with a 404 that names it, in the shape of the path. The
 * body is not read.
 */
export const missingPrefixRoutes =
  ({ routes, config: { prefix = '' } }: Pick<AnyElysia, 'routes' | 'config'>) =>
  <App extends AnyElysia>(app: App): App => {
    for (const path of new Set(routes.map((route) => route.path.slice(prefix.length)))) {
      if (path === '' || path.includes('*')) continue
      const body = path.startsWith('/messages') ? messagesProblemBody : textProblemBody
      const respond = ({ request }: Readonly<Record<string, unknown>>) =>
        missingPrefix(prefix, request as Request).toResponse(body)
      app.all(path, respond, { parse: 'none', detail: { hide: true } })
    }
    return app
  }

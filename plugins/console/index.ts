import { type AnyElysia, Elysia } from 'elysia'
import { fallbackRoutes } from '../shared/fallback-routes.ts'
import type { RoutesPlugin } from '../shared/plugin.ts'
import { Problem, problemBody, renderProblems } from '../shared/problem.ts'
import { seedOf } from '../shared/seed.ts'
import { documentOf, securityHeaders } from './document.ts'
import { type File, fileOf, readFiles } from './files.ts'

export interface ConsolePagesOptions {
  /** The product word in `/api/media/…`, where the page looks for the asset library. Default `media`. */
  readonly segment?: string
}

/** Modules that the browser does not preload, because few visits need them. */
const notPreloaded: ReadonlySet<string> = new Set(['uqr.js'])

/**
 * The web console at `/console`: one page and its files, the same for every user.
 *
 * The page calls `/api/session`, `/api/tokens`, `/api/usage`, the asset library, face verification and `/v1` of its own origin, as every other
 * client does. Throws TypeError when `segment` cannot be a path segment.
 */
export const consolePages = (options: ConsolePagesOptions = {}): RoutesPlugin => {
  const { segment = 'media' } = options
  if (!/^[\w-]+$/.test(segment)) throw new TypeError('segment must consist of letters, digits, _ and -')
  const content = contentOf(segment)
  const render = renderProblems(problemBody(`${segment}_proxy_error`))

  const showPage = ({ request }: { request: Request }): Response =>
    // Below `/console/` the page's relative addresses would be wrong.
    pathOf(request).endsWith('/') ? redirect('../console') : fileResponse(content().page, request)
  const showFile = ({ request, params }: { request: Request; params: { file: string } }): Response => {
    const file = content().files.get(params.file)
    if (!file) throw new Problem(404, 'not found')
    return fileResponse(file, request)
  }

  const plugin: AnyElysia = new Elysia({ name: 'sluice/console', seed: seedOf(options), prefix: '/console' })
    .onError(({ error, code, request }) => withSecurityHeaders(render({ error, code, request })))
    .get('', showPage, hidden)
    .head('', showPage, hidden)
    .get('/:file', showFile, hidden)
    .head('/:file', showFile, hidden)
    .use(fallbackRoutes)
  return plugin
}

/** Reads the page and its files at the first request, so that the start of the server does not wait for them. */
const contentOf = (segment: string) => {
  let content: { readonly page: File; readonly files: ReadonlyMap<string, File> } | undefined
  return () => {
    if (!content) {
      const files = readFiles()
      const modules = [...files.keys()].filter((name) => name.endsWith('.js') && !notPreloaded.has(name))
      content = { page: fileOf(documentOf({ segment, modules }), 'text/html; charset=utf-8'), files }
    }
    return content
  }
}

const hidden = { detail: { hide: true } }

const pathOf = ({ url }: Request): string => url.split('?', 1)[0] ?? ''

/** A browser caches the files, and revalidates them with each request (`no-cache`, RFC 9111 section 5.2.2.4). */
const fileResponse = ({ content, type, etag }: File, { headers, method }: Request): Response => {
  const cacheHeaders = { ...securityHeaders, etag, 'cache-control': 'no-cache' }
  if (matches(headers.get('if-none-match'), etag)) return new Response(null, { status: 304, headers: cacheHeaders })
  return new Response(method === 'HEAD' ? null : content, { headers: { ...cacheHeaders, 'content-type': type } })
}

/** Whether an `If-None-Match` header matches the entity tag (RFC 9110 section 13.1.2). */
const matches = (ifNoneMatch: string | null, etag: string): boolean =>
  ifNoneMatch?.trim() === '*' || (ifNoneMatch ?? '').split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)

const redirect = (location: string): Response =>
  new Response(null, { status: 308, headers: { ...securityHeaders, location } })

const withSecurityHeaders = (response: Response): Response => {
  for (const [name, value] of Object.entries(securityHeaders)) response.headers.set(name, value)
  return response
}

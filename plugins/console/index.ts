import { Elysia } from 'elysia'
import { identity } from '../shared/identity.ts'
import { Problem, problemBody, renderProblems } from '../shared/problem.ts'
import { refuseUnknown } from '../shared/unknown.ts'
import { documentOf, securityHeaders } from './document.ts'
import { type File, fileOf, readFiles } from './files.ts'

export interface ConsolePagesOptions {
  /** The product word in `/api/media/…`, where the page looks for the asset library. Default `media`. */
  readonly segment?: string
}

/** Modules that few visits need. */
const later: ReadonlySet<string> = new Set(['uqr.js'])

/**
 * The web console at `/console`: one page and its files, the same for everybody. It talks to `/api/session`, `/api/tokens`, `/api/usage`, the asset library,
 * face verification and `/v1` of its own origin, the way every client does.
 *
 * Throws TypeError when `segment` cannot be a path segment.
 */
export const consolePages = (options: ConsolePagesOptions = {}) => {
  const { segment = 'media' } = options
  if (!/^[\w-]+$/.test(segment)) throw new TypeError('segment must be one word')
  const content = contentOf(segment)
  const render = renderProblems(problemBody(`${segment}_proxy_error`))

  const showPage = ({ request }: { request: Request }): Response =>
    // Relative addresses would lead nowhere.
    pathOf(request).endsWith('/') ? redirect('../console') : answer(content().page, request)
  const showFile = ({ request, params }: { request: Request; params: { file: string } }): Response => {
    const file = content().files.get(params.file)
    if (!file) throw new Problem(404, 'not found')
    return answer(file, request)
  }

  return new Elysia({ name: 'sluice/console', seed: identity(options), prefix: '/console' })
    .onError(({ error, code, request }) => hardened(render({ error, code, request })))
    .get('', showPage, hidden)
    .head('', showPage, hidden)
    .get('/:file', showFile, hidden)
    .head('/:file', showFile, hidden)
    .use(refuseUnknown)
}

/** Read by the first visit rather than at the start, which waits for nothing that it does not need. */
const contentOf = (segment: string) => {
  let read: { readonly page: File; readonly files: ReadonlyMap<string, File> } | undefined
  return () => {
    if (!read) {
      const files = readFiles()
      const modules = [...files.keys()].filter((name) => name.endsWith('.js') && !later.has(name))
      read = { page: fileOf(documentOf({ segment, modules }), 'text/html; charset=utf-8'), files }
    }
    return read
  }
}

const hidden = { detail: { hide: true } }

const pathOf = ({ url }: Request): string => url.split('?', 1)[0] ?? ''

/** A browser keeps files, and asks each time whether they are still the same (RFC 9111 section 5.2.2.4). */
const answer = ({ content, type, etag }: File, { headers, method }: Request): Response => {
  const about = { ...securityHeaders, etag, 'cache-control': 'no-cache' }
  if (isKnown(headers.get('if-none-match'), etag)) return new Response(null, { status: 304, headers: about })
  return new Response(method === 'HEAD' ? null : content, { headers: { ...about, 'content-type': type } })
}

/** RFC 9110 section 13.1.2. */
const isKnown = (known: string | null, etag: string): boolean =>
  known?.trim() === '*' || (known ?? '').split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)

const redirect = (location: string): Response =>
  new Response(null, { status: 308, headers: { ...securityHeaders, location } })

const hardened = (response: Response): Response => {
  for (const [name, value] of Object.entries(securityHeaders)) response.headers.set(name, value)
  return response
}

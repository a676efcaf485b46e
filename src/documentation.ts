import { openapi } from '@elysiajs/openapi'
import { Elysia } from 'elysia'
import { documentationPage } from './documentation/page.ts'
import type { Specification } from './documentation/specification.ts'
import { style } from './documentation/style.ts'

/**
 * API documentation: `GET /openapi` as a page, `GET /openapi/json` as an OpenAPI document. Routes describe themselves in `detail`.
 *
 * The page contains no script, because it has the same origin as the console: a script could use the session cookie.
 */
export const documentation = () => {
  const specification = openapi({
    path,
    specPath: `${path}/json`,
    // The plugin's own pages load a script from another host.
    provider: null,
    documentation: {
      info: {
        title: 'sluice',
        version: '1',
        description: 'Each user has a media asset library of their own, on an upstream account that all users share.',
      },
      components: {
        securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'API token, sk-…' } },
      },
      security: [{ token: [] }],
    },
  })
  const read = async () => {
    const response = await specification.handle(new Request(`http://localhost${path}/json`))
    return (await response.json()) as Specification
  }
  /** Rendered by the first request: by then all routes are registered. */
  let page: string | undefined
  const showPage = async (): Promise<Response> => {
    page ??= documentationPage(await read())
    return staticResponse(page, 'text/html; charset=utf-8')
  }
  return new Elysia({ name: 'sluice/documentation' })
    .use(specification)
    .get(path, showPage, hidden)
    .get(`${path}/style.css`, () => staticResponse(style, 'text/css; charset=utf-8'), hidden)
}

const path = '/openapi'

const hidden = { detail: { hide: true } }

const staticResponse = (content: string, type: string): Response =>
  new Response(content, { headers: { ...securityHeaders, 'content-type': type } })

/** Like the headers of the console, but stricter: no scripts, and no requests except for the style sheet. */
const securityHeaders = {
  'content-security-policy': [
    "default-src 'none'",
    "style-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-cache',
}

import { openapi } from '@elysiajs/openapi'
import { Elysia } from 'elysia'
import { pageOf } from './documentation/page.ts'
import type { Specification } from './documentation/specification.ts'
import { style } from './documentation/style.ts'

/**
 * `GET /openapi` for people, `GET /openapi/json` for programs. Routes describe themselves in `detail`.
 *
 * The page is made here and holds no script: it shares its origin with the console, whose cookie opens everything.
 */
export const documentation = () => {
  const specification = openapi({
    path,
    specPath: `${path}/json`,
    // The pages that it offers run a script from another host.
    provider: null,
    documentation: {
      info: {
        title: 'sluice',
        version: '1',
        description: 'A media asset library of your own, on an upstream account shared by many.',
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
  /** Made at its first use: by then all routes are there. */
  let page: string | undefined
  const showPage = async (): Promise<Response> => {
    page ??= pageOf(await read())
    return answer(page, 'text/html; charset=utf-8')
  }
  return new Elysia({ name: 'sluice/documentation' })
    .use(specification)
    .get(path, showPage, hidden)
    .get(`${path}/style.css`, () => answer(style, 'text/css; charset=utf-8'), hidden)
}

const path = '/openapi'

const hidden = { detail: { hide: true } }

const answer = (content: string, type: string): Response =>
  new Response(content, { headers: { ...securityHeaders, 'content-type': type } })

/** As the console's, with less allowed: nothing runs, and nothing is asked for but the style sheet. */
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

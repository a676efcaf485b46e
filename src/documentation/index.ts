import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { type KnownBody, responseOf } from '../../plugins/shared/http/body/known-body.ts'
import { errorBody, errorResponses, jsonResponse, routeOptions } from '../../plugins/shared/plugin/openapi.ts'
import { createDocument, withComponents } from './document.ts'
import { documentationPage } from './page.ts'
import { style } from './style.ts'

/**
 * API documentation: `GET /openapi` as a page, `GET /openapi/json` as an OpenAPI document. Routes describe themselves
 * in `detail`.
 *
 * The page contains no script, because it has the same origin as the console: a script could use the session cookie.
 */
export const documentation = () => {
  const plugin = new Elysia({ name: 'sluice/documentation' })
  /** Created by the first request: by then all routes are registered. Or why it cannot be created. */
  let content: Content | { readonly error: unknown } | undefined
  const create = (): Content => {
    const document = createDocument(plugin)
    // As bytes: anybody may request it often, and a text would be encoded for each response.
    return {
      page: encoder.encode(documentationPage(document)),
      json: encoder.encode(JSON.stringify(withComponents(document))),
    }
  }
  const read = (): Content => {
    if (!content) {
      try {
        content = create()
      } catch (error) {
        content = { error }
      }
    }
    if ('error' in content) throw content.error
    return content
  }
  return plugin
    .get(path, () => staticResponse(read().page, 'text/html; charset=utf-8'), hidden)
    .get(`${path}/style.css`, () => staticResponse(style, 'text/css; charset=utf-8'), hidden)
    .get(`${path}/json`, () => responseOf(read().json, { headers: { 'content-type': 'application/json' } }), jsonDocs)
}

interface Content {
  readonly page: Uint8Array<ArrayBuffer>
  readonly json: Uint8Array<ArrayBuffer>
}

const encoder = new TextEncoder()

const path = '/openapi'

const hidden = { detail: { hide: true } }

const jsonDocs = routeOptions({
  operationId: 'readDocumentation',
  summary: 'Read this document',
  tags: ['operation'],
  security: [],
  responses: {
    200: jsonResponse('The document', Type.Object({ openapi: Type.String() })),
    ...errorResponses(errorBody, 400, 503),
  },
})

const staticResponse = (content: KnownBody, type: string): Response =>
  responseOf(content, { headers: { ...securityHeaders, 'content-type': type } })

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

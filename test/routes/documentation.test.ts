import { expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { documentation } from '../../src/documentation/index.ts'
import { documentationPage } from '../../src/documentation/page.ts'
import type { Specification } from '../../src/documentation/specification.ts'
import { documentOfServer } from '../support/document.ts'
import { startGateway } from '../support/gateway.ts'
import {
  adminRoutes,
  eventRoutes,
  libraryPath,
  libraryRoutes,
  mcpRoutes,
  oidcRoutes,
  openaiVideoRoutes,
  openRoutes,
  sessionRoutes,
  textRoutes,
  uploadRoutes,
  videoRoutes,
} from '../support/route-table.ts'

/** The page, its style sheet and the specification, as a browser receives them. */
const open = async () => {
  await using gateway = await startGateway()
  const get = async (path: string) => {
    const response = await fetch(gateway.url + path)
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  return { page: await get('/openapi'), style: await get('/openapi/style.css'), json: await get('/openapi/json') }
}

test('the page uses no other host and no scripts', async () => {
  const { page, style } = await open()
  expect([page.status, style.status]).toEqual([200, 200])
  for (const { text } of [page, style]) {
    expect(text).not.toMatch(/https?:|\/\/\w|@import|url\(/i)
    expect(text).not.toMatch(/<script|<iframe|<object|<embed|<base|<form|javascript:|\son\w+=|style=|<style/i)
  }
  const addresses = [...page.text.matchAll(/\s(?:href|src)="([^"]*)"/g)].map(([, address]) => address)
  expect(addresses.filter((address) => !address?.startsWith('#'))).toEqual(['./openapi/style.css', './openapi/json'])
})

test('its Content-Security-Policy allows only the style sheet', async () => {
  const { page, style } = await open()
  for (const { headers } of [page, style]) {
    expect(headers.get('content-security-policy')?.split('; ')).toEqual([
      "default-src 'none'",
      "style-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ])
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
  }
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(style.headers.get('content-type')).toBe('text/css; charset=utf-8')
})

test('the page shows every route of the specification', async () => {
  const { page, json } = await open()
  const { paths } = JSON.parse(json.text) as Specification
  const ids = [...page.text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id)
  expect(new Set(ids).size).toBe(ids.length)
  const routes = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ method, path, operation })),
  )
  expect(routes.length).toBeGreaterThan(20)
  for (const { method, path, operation } of routes) {
    const [, section = ''] = page.text.split(`-name"><b>${method.toUpperCase()}</b> <code>${path}</code></h3>`)
    const [statusAndText = ''] = section.split('</section>')
    expect(section).not.toBe('')
    if (operation.summary)
      expect(statusAndText).toContain(Bun.escapeHTML(operation.summary).replaceAll('&#x27;', '&#39;'))
    for (const { name } of operation.parameters ?? []) expect(statusAndText).toContain(`<code>${name}</code>`)
    for (const status of Object.keys(operation.responses ?? {})) {
      expect(statusAndText).toContain(/^2/.test(status) ? `Response ${status}` : `<dt><code>${status}</code></dt>`)
    }
  }
  expect(page.text).toContain('<code>Result.Items[].CreateTime</code></th><td>string</td><td>required</td>')
  expect(page.text).toContain('with <code>retry-after</code>')
})

test('the document describes every route, and nothing else', async () => {
  const { paths } = await documentOfServer()
  const documented = Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path.replace(/\{[^}]*\}/g, 'x')}`),
  )
  const at = (prefix: string, routes: readonly (readonly [string, string, ...unknown[]])[]) =>
    routes.map(([method, path]) => `${method} ${prefix}${path.replace(/:\w+/g, 'x')}`)
  const operation = ['/healthz', '/readyz', '/metrics', '/openapi/json'].map((path) => `GET ${path}`)
  expect(documented.sort()).toEqual(
    [
      ...at(libraryPath, libraryRoutes),
      ...at('/v1', textRoutes).filter((route) => !route.endsWith('*')),
      ...at('/api/v3', videoRoutes),
      ...at('/v1/videos', openaiVideoRoutes),
      ...at('', sessionRoutes),
      ...at('/api/admin', adminRoutes),
      ...at('', eventRoutes),
      ...at('', uploadRoutes),
      ...at('', mcpRoutes),
      ...at('', openRoutes),
      ...at('', oidcRoutes),
      ...operation,
    ].sort(),
  )
})

test('each route names its security: a token in any of three headers, a session, or none', async () => {
  const { paths } = await documentOfServer()
  const schemeOf = (path: string, method: string) =>
    paths[path]?.[method]?.security?.map((each) => Object.keys(each)[0])
  const anyToken = ['token', 'tokenInXApiKey', 'tokenInApiKey']
  expect(schemeOf(`${libraryPath}/assets`, 'post')).toEqual(anyToken)
  expect(schemeOf('/v1/responses', 'post')).toEqual(anyToken)
  expect(schemeOf('/api/events', 'get')).toEqual([...anyToken, 'session'])
  expect(schemeOf('/api/uploads', 'post')).toEqual([...anyToken, 'session'])
  expect(schemeOf('/api/tokens', 'post')).toEqual(['session'])
  expect(schemeOf('/api/media/face-verifications', 'post')).toEqual(['session'])
  expect(schemeOf('/metrics', 'get')).toEqual(['metricsToken'])
  const open = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { security }]) => (security?.length === 0 ? `${method} ${path}` : [])),
  )
  expect(open.sort()).toEqual([
    'get /api/failure-advice',
    'get /api/failure-advice/{code}',
    'get /api/files/{folder}/{name}',
    'get /api/invitations/{token}',
    'get /api/media/face-verifications/callback/{state}',
    'get /api/media/face-verifications/consent-keys',
    'get /api/media/face-verifications/consent/{secret}',
    'get /api/media/face-verifications/consent/{secret}/export',
    'get /api/session/oidc',
    'get /api/session/oidc/callback',
    'get /healthz',
    'get /openapi/json',
    'get /readyz',
    'post /api/invitations/{token}',
    'post /api/media/face-verifications/consent/{secret}/delete',
    'post /api/media/face-verifications/consent/{secret}/withdraw',
    'post /api/session',
    'post /api/v3/contents/generations/callbacks/{task_id}/{key}',
    'post /mcp/uploads/{link}',
    'put /mcp/uploads/{link}',
  ])
})

test('the texts of a specification are escaped', () => {
  const evil = `<script>alert(1)</script>"'&`
  const schema = { type: 'object', properties: { [evil]: { type: evil, description: evil } } }
  const page = documentationPage({
    info: { title: evil, description: evil },
    paths: {
      [`/${evil}`]: {
        get: {
          ...{ summary: evil, description: evil, tags: [evil] },
          parameters: [{ name: evil, in: evil, description: evil }],
          requestBody: { content: { [evil]: { schema } } },
          responses: { [evil]: { description: evil } },
        },
      },
    },
  })
  expect(page).not.toMatch(/<script|alert\(1\)<\/script/)
  // Quotes are escaped inside attributes.
  expect(page.replaceAll(/="[^"<>]*"/g, '')).not.toContain('"')
})

test('a document that cannot be created is not composed again at each request', async () => {
  let composed = 0
  const schema = (type: 'string' | 'number') => ({
    detail: {
      get summary() {
        composed++
        return 'summary'
      },
      responses: { 200: { description: 'OK', content: { 'application/json': { schema: { title: 'Same', type } } } } },
    },
  })
  const app = new Elysia()
    .use(documentation())
    .get('/one', () => '', schema('string'))
    .get('/other', () => '', schema('number'))
  const get = () => app.handle(new Request('http://localhost/openapi/json'))
  const registered = composed
  expect((await get()).status).toBe(500)
  const first = composed
  expect(first).toBeGreaterThan(registered)
  expect((await get()).status).toBe(500)
  expect(composed).toBe(first)
})

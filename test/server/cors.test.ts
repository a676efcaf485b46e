import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { describeWithBrowser, openBrowser } from '../console/browser.ts'
import { fronts } from '../support/fronts.ts'
import type { ServerProcess } from '../support/server.ts'
import { openServerFixture, type ServerFixture } from '../support/server-fixture.ts'

const origin = 'https://app.example'
const body = JSON.stringify({
  model: 'doubao-seed-emulated',
  stream: true,
  messages: [{ role: 'user', content: 'hi' }],
})

for (const [runtime, getBodies] of fronts) {
  describe(`CORS on ${runtime}, GET_BODIES ${getBodies}`, () => {
    let fixture: ServerFixture
    let server: ServerProcess
    let token = ''
    const ask = async (path: string, method = 'GET', headers: Record<string, string> = {}) => {
      const response = await fetch(server.url + path, { method, headers, ...(method === 'POST' && { body }) })
      return { status: response.status, headers: response.headers, text: await response.text() }
    }
    const preflight = (from: string) => ({
      origin: from,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,x-stainless-lang',
    })

    beforeAll(async () => {
      fixture = await openServerFixture('sqlite', { text: { msPerDelta: 0 } })
      const { url, key } = fixture.emulator.text
      const text = { TEXT_UPSTREAM_URL: url, TEXT_UPSTREAM_KEY: key, GET_BODIES: getBodies }
      server = await fixture.start({ ...text, CORS_ORIGINS: `${origin}, http://localhost:5173` }, runtime)
      token = (await fixture.addUser('ann')).token
    }, 300_000)
    afterAll(() => fixture[Symbol.asyncDispose]())

    test('a preflight needs no token', async () => {
      for (const path of ['/v1/chat/completions', '/v1', '/api/media/proxy/assets']) {
        const { status, headers } = await ask(path, 'OPTIONS', preflight(origin))
        expect([path, status, headers.get('access-control-allow-origin')]).toEqual([path, 204, origin])
        expect(headers.get('access-control-allow-headers')).toBe('authorization,content-type,x-stainless-lang')
        expect(headers.get('access-control-allow-methods')).toContain('POST')
        expect([headers.get('vary'), headers.has('access-control-allow-credentials')]).toEqual([
          ...['Origin, Access-Control-Request-Headers', false],
        ])
        expect(headers.get('x-content-type-options')).toBe('nosniff')
        expect(headers.get('content-security-policy')).toContain("default-src 'none'")
      }
    })

    test('responses, errors and streams can be read', async () => {
      const authorization = `Bearer ${token}`
      for (const [path, method, headers, status] of [
        ['/v1/models', 'GET', { authorization }, 200],
        ['/v1/models', 'GET', {}, 401],
        ['/v1/none', 'GET', { authorization }, 404],
        ['/v1/chat/completions', 'POST', { authorization, 'content-type': 'application/json' }, 200],
        ['/api/media/proxy/assets', 'GET', { authorization }, 200],
        ['/api/media/proxy/assets/x', 'GET', { authorization }, 403],
      ] as const) {
        const reply = await ask(path, method, { ...headers, origin })
        expect([path, reply.status]).toEqual([path, status])
        expect(reply.headers.get('access-control-allow-origin')).toBe(origin)
        expect(reply.headers.get('access-control-expose-headers')).toBe('*')
        expect(reply.headers.get('vary')).toContain('Origin')
      }
    })

    test('other origins and other routes are as without it', async () => {
      for (const other of [`${origin}.evil`, 'http://app.example', `${origin}:444`, 'null', 'https://APP.example']) {
        expect((await ask('/v1/models', 'OPTIONS', preflight(other))).status).toBe(405)
        const { headers } = await ask('/v1/models', 'GET', { origin: other })
        expect([headers.has('access-control-allow-origin'), headers.get('vary')]).toEqual([false, 'Origin'])
      }
      for (const path of ['/api/session', '/v10', '/openapi/json']) {
        const { headers } = await ask(path, 'GET', { origin })
        expect([path, headers.has('access-control-allow-origin')]).toEqual([path, false])
      }
    })
  })
}

test('without CORS_ORIGINS no response has these headers', async () => {
  await using fixture = await openServerFixture()
  const server = await fixture.start()
  const { headers } = await fetch(`${server.url}/v1/models`, { headers: { origin } })
  expect([headers.has('access-control-allow-origin'), headers.has('vary')]).toEqual([false, false])
})

describeWithBrowser('in a browser', () => {
  test('a page of the origin reads responses, and a page of another one does not', async () => {
    await using fixture = await openServerFixture('sqlite', { text: { msPerDelta: 0 } })
    const page = (port: number) => `http://127.0.0.1:${port}`
    const pages = [0, 1].map(() =>
      Bun.serve({
        port: 0,
        hostname: '127.0.0.1',
        fetch: () => new Response('<p>', { headers: { 'content-type': 'text/html' } }),
      }),
    )
    const [own, foreign] = pages.map(({ port }) => page(port ?? 0))
    const { url, key } = fixture.emulator.text
    const server = await fixture.start({ TEXT_UPSTREAM_URL: url, TEXT_UPSTREAM_KEY: key, CORS_ORIGINS: own ?? '' })
    const { token } = await fixture.addUser('ann')
    const browser = await openBrowser()
    const readFrom = async (address: string | undefined) => {
      const tab = await browser.newPage()
      await tab.goto(address ?? '')
      const script = `fetch(${JSON.stringify(`${server.url}/v1/chat/completions`)}, {
        method: 'POST',
        headers: { authorization: 'Bearer ${token}', 'content-type': 'application/json', 'x-stainless-lang': 'js' },
        body: ${JSON.stringify(body)},
      }).then(async (response) => [response.status, (await response.text()).trim().slice(-6), response.headers.has('x-request-id')], String)`
      return tab.evaluate(script)
    }
    expect(await readFrom(own)).toEqual([200, '[DONE]', true])
    expect(await readFrom(foreign)).toContain('Failed to fetch')
    await browser.close()
    for (const each of pages) await each.stop(true)
  }, 300_000)
})

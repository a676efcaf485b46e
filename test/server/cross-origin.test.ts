import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { repetitions } from '../support/repetitions.ts'
import type { ServerProcess } from '../support/server.ts'
import { arkOf, type Browser, browse, type Fixture, faces, newToken, openFixture, password, send } from './fixture.ts'

/** All requests that change something and that a cookie authenticates. */
const changes = [
  ['POST', '/api/tokens', {}],
  ['DELETE', '/api/tokens/:id', undefined],
  ['POST', faces, {}],
  ['DELETE', '/api/session', undefined],
] as const

describe.each(repetitions('on', 'off'))('a page of another origin (GET_BODIES %s)', (getBodies) => {
  let fixture: Fixture
  let server: ServerProcess
  let ann: Browser
  beforeAll(async () => {
    fixture = await openFixture()
    await fixture.addPerson('ann')
    server = await fixture.start({ ...arkOf(fixture), GET_BODIES: getBodies })
    ann = await browse(server, 'ann')
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  const foreign = (): Record<string, Record<string, string>> => {
    const { port } = new URL(server.url)
    return {
      'another host': { origin: 'https://evil.example' },
      'the origin null, as of a sandboxed frame': { origin: 'null' },
      'an empty origin': { origin: '' },
      'another port': { origin: 'http://127.0.0.1:1' },
      'another scheme': { origin: `https://127.0.0.1:${port}` },
      'another loopback host on another port': { origin: 'http://localhost:1' },
      'another address of the same machine': { origin: `http://127.0.0.2:${port}` },
      'a name that resolves to this machine': {
        origin: `http://rebound.example:${port}`,
        host: `rebound.example:${port}`,
      },
      'a longer name': { origin: `${server.url}.evil.example` },
      'the public address in the path': { origin: `https://evil.example/${server.url}` },
      'the public address as user name': { origin: `http://127.0.0.1:${port}@evil.example` },
      'two origins': { origin: `${server.url}, https://evil.example` },
      'upper case': { origin: server.url.toUpperCase() },
      'a foreign origin with sec-fetch-site same-origin': {
        origin: 'https://evil.example',
        'sec-fetch-site': 'same-origin',
      },
      'another host of the same site': { 'sec-fetch-site': 'same-site' },
      'another site': { 'sec-fetch-site': 'cross-site' },
      'the address bar': { 'sec-fetch-site': 'none' },
      'an invalid sec-fetch-site': { 'sec-fetch-site': 'same-origin, cross-site' },
      'a referrer only': { referer: `${server.url}/console` },
      'a foreign origin with the same host header': { origin: 'http://evil.example', host: 'evil.example' },
      'a foreign origin with the same forwarded host': {
        origin: 'http://evil.example',
        'x-forwarded-host': 'evil.example',
        'x-forwarded-proto': 'http',
      },
      'no header': {},
    }
  }

  test('cannot change anything, on any route', async () => {
    const { id } = await newToken(ann)
    for (const [title, headers] of Object.entries(foreign())) {
      for (const [method, path, body] of changes) {
        const reply = await send(server.url, method, path.replace(':id', id), body, { cookie: ann.cookie, ...headers })
        expect([title, method, path, reply.status]).toEqual([title, method, path, 403])
        expect(reply.headers.get('set-cookie')).toBeNull()
      }
    }
    expect((await ann.ask('GET', '/api/tokens')).json.tokens).toHaveLength(1)
    expect((await ann.ask('GET', '/api/session')).status).toBe(200)
    expect(fixture.emulator.calls).toEqual([])
  })

  test('cannot log in, neither by a script nor by a form', async () => {
    const text = JSON.stringify({ name: 'ann', password })
    const attempts: readonly (readonly [number, string, Record<string, string>])[] = [
      [403, text, { 'content-type': 'application/json', origin: 'https://evil.example' }],
      [403, text, { 'content-type': 'application/json', origin: 'null' }],
      [403, text, { 'content-type': 'application/json', 'sec-fetch-site': 'cross-site' }],
      [403, text, { 'content-type': 'application/json', 'sec-fetch-site': 'same-site' }],
      ...[
        'text/plain',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=x',
        'text/plain; application/json',
        'text/plain, application/json',
        'application/jsonp',
        'application/json, text/plain',
      ].map((type) => [415, text, { 'content-type': type, origin: server.url }] as const),
      [415, text, { 'content-type': '', origin: server.url }],
      [415, 'name=ann&password=correct+horse', { 'content-type': 'application/x-www-form-urlencoded' }],
    ]
    for (const [status, body, headers] of attempts) {
      const reply = await send(server.url, 'POST', '/api/session', body, headers)
      expect([headers, reply.status]).toEqual([headers, status])
      expect(reply.headers.get('set-cookie')).toBeNull()
    }
  })

  test('gets the public address only with the right password', async () => {
    const foreign = { 'content-type': 'application/json', origin: 'http://192.168.0.7:3000' }
    const message = async (entered: string) => {
      const reply = await send(server.url, 'POST', '/api/session', { name: 'ann', password: entered }, foreign)
      expect([reply.status, reply.headers.get('set-cookie')]).toEqual([403, null])
      return reply.json.error.message
    }
    expect(await message(password)).toContain(`log in at ${server.url}`)
    expect(await message('wrong')).not.toContain(server.url)
  })

  test('cannot read a response: no response has CORS headers', async () => {
    for (const path of ['/api/session', '/api/tokens', '/api/usage', `${faces}/x`]) {
      for (const method of ['GET', 'OPTIONS']) {
        const { headers } = await ann.ask(method, path, undefined, {
          origin: 'https://evil.example',
          'access-control-request-method': 'POST',
        })
        expect([...headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([])
        if (path !== '/api/usage' || method === 'GET') expect(headers.get('cache-control')).toBe('no-store')
      }
    }
  })

  test('is different from a page of the own origin, which may change things on each loopback host', async () => {
    const { port } = new URL(server.url)
    for (const headers of [
      { origin: server.url },
      { 'sec-fetch-site': 'same-origin' },
      { origin: `http://localhost:${port}`, host: `localhost:${port}` },
      { origin: `http://[::1]:${port}`, host: `[::1]:${port}` },
    ] as Record<string, string>[]) {
      const { cookie } = ann
      expect((await send(server.url, 'POST', '/api/tokens', {}, { cookie, ...headers })).status).toBe(200)
      expect((await send(server.url, 'POST', faces, {}, { cookie, ...headers })).status).toBe(200)
    }
  })
})

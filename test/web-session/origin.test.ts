import { describe, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { type PublicUrl, requireSameOrigin, webSession } from '../../plugins/web-session/index.ts'
import { ask, openFixture, publicUrl, rejection } from './fixture.ts'

/** Headers of requests from a page of the public address, from another page, and without a statement of their origin. */
const sameOrigin: readonly Record<string, string>[] = [
  { origin: publicUrl },
  { origin: publicUrl, 'sec-fetch-site': 'same-origin' },
  { 'sec-fetch-site': 'same-origin' },
]
const foreign: readonly Record<string, string>[] = [
  { origin: 'https://evil.test' },
  { origin: 'http://sluice.test' },
  { origin: 'https://sluice.test:8443' },
  { origin: 'https://sluice.test.evil.test' },
  { origin: 'https://www.sluice.test' },
  { origin: `${publicUrl}/` },
  { origin: 'null' },
  { origin: '' },
  { origin: `${publicUrl}, https://evil.test` },
  { origin: 'https://evil.test', 'sec-fetch-site': 'same-origin' },
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
  { 'sec-fetch-site': 'anything' },
]
const unstated: readonly Record<string, string>[] = [{}, { 'sec-fetch-site': 'none' }]
const foreignOrigin = rejection('request comes from a foreign origin')
const show = (headers: Record<string, string>) => JSON.stringify(headers)

const accepts = (headers: Record<string, string>, address: PublicUrl) => {
  try {
    requireSameOrigin(new Request('http://localhost/', { headers }), address)
    return true
  } catch (error) {
    expect(error).toMatchObject({ status: 403 })
    return false
  }
}

describe('a request with a cookie that changes something', () => {
  for (const headers of sameOrigin) {
    test(`may have ${show(headers)}`, () => expect(accepts(headers, publicUrl)).toBe(true))
  }
  for (const headers of [...foreign, ...unstated]) {
    test(`may not have ${show(headers)}`, () => expect(accepts(headers, publicUrl)).toBe(false))
  }

  test('is compared with the origin of the public address, which may have a path and may be a function', () => {
    let address = 'http://127.0.0.1:1/console'
    expect(accepts({ origin: 'http://127.0.0.1:1' }, address)).toBe(true)
    address = 'HTTPS://SLUICE.test:443/x'
    expect(accepts({ origin: publicUrl }, () => address)).toBe(true)
    expect(accepts({ origin: 'http://127.0.0.1:1' }, () => address)).toBe(false)
  })

  test('such as a logout needs the session, then the origin; without it the session stays', async () => {
    const { app, login, whoIs } = await openFixture()
    const { cookie } = await login()
    for (const headers of [...foreign, ...unstated]) {
      expect((await ask(app, 'DELETE', '/api/session', headers)).status).toBe(401)
      const { status, json } = await ask(app, 'DELETE', '/api/session', { cookie, ...headers })
      expect([headers, status, json]).toEqual([headers, 403, foreignOrigin])
    }
    expect((await whoIs(cookie)).status).toBe(200)
  })

  test('needs the origin on every route with the macro, except for safe methods', async () => {
    const { options, login } = await openFixture()
    const app = new Elysia()
      .use(webSession(options))
      .get('/thing', ({ identity }) => identity.name, { session: true })
      .post('/thing', ({ identity }) => identity.name, { session: true })
      .put('/thing', ({ identity }) => identity.name, { session: true })
    const { cookie } = await login()
    expect((await ask(app, 'GET', '/thing', { cookie })).json).toBe('ann')
    expect((await ask(app, 'GET', '/thing')).status).toBe(401)
    for (const method of ['POST', 'PUT']) {
      expect((await ask(app, method, '/thing', { origin: publicUrl })).status).toBe(401)
      expect((await ask(app, method, '/thing', { cookie })).status).toBe(403)
      expect((await ask(app, method, '/thing', { cookie, origin: publicUrl })).json).toBe('ann')
    }
  })
})

describe('a login', () => {
  for (const headers of [...sameOrigin, ...unstated]) {
    test(`may have ${show(headers)}`, async () => {
      const { login } = await openFixture()
      expect((await login('ann', 'right', headers)).status).toBe(200)
    })
  }
  for (const headers of foreign) {
    test(`may not have ${show(headers)}: only with the right password the response names the public address`, async () => {
      const { login, checked } = await openFixture()
      const right = await login('ann', 'right', headers)
      const message = `this page is not at the address of this service: log in at ${publicUrl}`
      expect([right.status, right.json]).toEqual([403, rejection(message)])
      const wrong = [await login('ann', 'wrong', headers), await login('nobody', 'right', headers)]
      for (const { status, json } of wrong) expect([status, json]).toEqual([403, foreignOrigin])
      for (const { headers } of [right, ...wrong]) expect(headers.get('set-cookie')).toBeNull()
      expect(checked).toEqual(['#right', '#right', undefined])
    })
  }

  test('from a foreign page is counted like any other login', async () => {
    const { login, checked } = await openFixture()
    const evil = { origin: 'https://evil.test' }
    const statuses: number[] = []
    for (let attempt = 0; attempt < 7; attempt++) statuses.push((await login('ann', 'wrong', evil)).status)
    expect(statuses).toEqual([403, 403, 403, 403, 403, 429, 429])
    expect((await login('ann', 'right', evil)).status).toBe(429)
    expect((await login()).status).toBe(429)
    expect(checked).toHaveLength(5)
  })
})

describe('the loopback hosts', () => {
  const at = (name: string, port = 3_000) => `http://${name}:${port}`
  const names = ['localhost', '127.0.0.1', '[::1]']

  test('count as one origin on one port, whichever of them is the public address', () => {
    for (const host of names) {
      for (const name of names)
        expect([host, name, accepts({ origin: at(name) }, `${at(host)}/x`)]).toEqual([host, name, true])
    }
    expect(accepts({ origin: 'http://localhost' }, 'http://127.0.0.1:80')).toBe(true)
    expect(accepts({ origin: 'https://[::1]' }, 'https://localhost')).toBe(true)
  })

  test('do not count on another port, with another scheme, or for a public address on another host', () => {
    for (const name of names) {
      expect(accepts({ origin: at(name, 3_001) }, at('localhost'))).toBe(false)
      expect(accepts({ origin: `https://${name}:3000` }, at('localhost'))).toBe(false)
      expect(accepts({ origin: `https://${name}` }, publicUrl)).toBe(false)
      expect(accepts({ origin: at(name) }, 'http://10.0.0.1:3000')).toBe(false)
    }
  })

  test('are these three in the form of browsers, and no other name that resolves to loopback', () => {
    for (const name of [
      ...[
        'localhost.',
        'LOCALHOST',
        'localhost.evil.test',
        'evil.localhost',
        '127.0.0.1.nip.io',
        'localhost@evil.test',
      ],
      ...[
        '127.0.0.2',
        '127.1',
        '0.0.0.0',
        '[::]',
        '[::ffff:127.0.0.1]',
        '[::ffff:7f00:1]',
        '[0:0:0:0:0:0:0:1]',
        '2130706433',
      ],
    ]) {
      expect([name, accepts({ origin: at(name), host: `${name}:3000` }, at('127.0.0.1'))]).toEqual([name, false])
    }
    // Such an address as public address counts only itself.
    expect(accepts({ origin: at('localhost') }, at('127.0.0.2'))).toBe(false)
  })
})

test('the factory throws for an invalid public address', async () => {
  await expect(openFixture({ publicUrl: 'sluice.test' })).rejects.toThrow(TypeError)
})

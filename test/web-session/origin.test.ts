import { describe, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { type PublicUrl, requireSameOrigin, webSession } from '../../plugins/web-session/index.ts'
import { ask, openHouse, publicUrl, refusal } from './fixture.ts'

/** Headers that say where a request is from, and whether that is a page of the public address. */
const own: readonly Record<string, string>[] = [
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
const silent: readonly Record<string, string>[] = [{}, { 'sec-fetch-site': 'none' }]
const refused = refusal('request comes from a foreign origin')
const said = (headers: Record<string, string>) => JSON.stringify(headers)

const accepts = (headers: Record<string, string>, address: PublicUrl) => {
  try {
    requireSameOrigin(new Request('http://localhost/', { headers }), address)
    return true
  } catch (error) {
    expect(error).toMatchObject({ status: 403 })
    return false
  }
}

describe('what changes something by a cookie', () => {
  for (const headers of own) {
    test(`may come with ${said(headers)}`, () => expect(accepts(headers, publicUrl)).toBe(true))
  }
  for (const headers of [...foreign, ...silent]) {
    test(`may not come with ${said(headers)}`, () => expect(accepts(headers, publicUrl)).toBe(false))
  }

  test('is measured by the origin of the public address, whatever its path, known now or later', () => {
    let address = 'http://127.0.0.1:1/console'
    expect(accepts({ origin: 'http://127.0.0.1:1' }, address)).toBe(true)
    address = 'HTTPS://SLUICE.test:443/x'
    expect(accepts({ origin: publicUrl }, () => address)).toBe(true)
    expect(accepts({ origin: 'http://127.0.0.1:1' }, () => address)).toBe(false)
  })

  test('is a logout: it needs the session first, then the origin, and ends nothing without it', async () => {
    const { app, login, whoIs } = await openHouse()
    const { cookie } = await login()
    for (const headers of [...foreign, ...silent]) {
      expect((await ask(app, 'DELETE', '/api/session', headers)).status).toBe(401)
      const { status, json } = await ask(app, 'DELETE', '/api/session', { cookie, ...headers })
      expect([headers, status, json]).toEqual([headers, 403, refused])
    }
    expect((await whoIs(cookie)).status).toBe(200)
  })

  test('is any route with the macro that does not only read', async () => {
    const { options, login } = await openHouse()
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
  for (const headers of [...own, ...silent]) {
    test(`may come with ${said(headers)}`, async () => {
      const { login } = await openHouse()
      expect((await login('ann', 'right', headers)).status).toBe(200)
    })
  }
  for (const headers of foreign) {
    test(`may not come with ${said(headers)}: with the right password it is told the address, with another one nothing`, async () => {
      const { login, checked } = await openHouse()
      const right = await login('ann', 'right', headers)
      const told = `this page is not at the address of this service: log in at ${publicUrl}`
      expect([right.status, right.json]).toEqual([403, refusal(told)])
      const wrong = [await login('ann', 'wrong', headers), await login('nobody', 'right', headers)]
      for (const { status, json } of wrong) expect([status, json]).toEqual([403, refused])
      for (const { headers } of [right, ...wrong]) expect(headers.get('set-cookie')).toBeNull()
      expect(checked).toEqual(['#right', '#right', undefined])
    })
  }

  test('from a foreign page is counted like any other one', async () => {
    const { login, checked } = await openHouse()
    const evil = { origin: 'https://evil.test' }
    const statuses: number[] = []
    for (let tries = 0; tries < 7; tries++) statuses.push((await login('ann', 'wrong', evil)).status)
    expect(statuses).toEqual([403, 403, 403, 403, 403, 429, 429])
    expect((await login('ann', 'right', evil)).status).toBe(429)
    expect((await login()).status).toBe(429)
    expect(checked).toHaveLength(5)
  })
})

describe('the names of this machine', () => {
  const at = (name: string, port = 3_000) => `http://${name}:${port}`
  const names = ['localhost', '127.0.0.1', '[::1]']

  test('are one origin at one port, whichever of them is the public address', () => {
    for (const own of names) {
      for (const name of names)
        expect([own, name, accepts({ origin: at(name) }, `${at(own)}/x`)]).toEqual([own, name, true])
    }
    expect(accepts({ origin: 'http://localhost' }, 'http://127.0.0.1:80')).toBe(true)
    expect(accepts({ origin: 'https://[::1]' }, 'https://localhost')).toBe(true)
  })

  test('are not at another port, by another scheme, or for a public address elsewhere', () => {
    for (const name of names) {
      expect(accepts({ origin: at(name, 3_001) }, at('localhost'))).toBe(false)
      expect(accepts({ origin: `https://${name}:3000` }, at('localhost'))).toBe(false)
      expect(accepts({ origin: `https://${name}` }, publicUrl)).toBe(false)
      expect(accepts({ origin: at(name) }, 'http://10.0.0.1:3000')).toBe(false)
    }
  })

  test('are these three as a browser writes them, and no name that leads to them', () => {
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
    // A public address that is one of those has no other name.
    expect(accepts({ origin: at('localhost') }, at('127.0.0.2'))).toBe(false)
  })
})

test('an address that is none is refused at once', async () => {
  await expect(openHouse({ publicUrl: 'sluice.test' })).rejects.toThrow(TypeError)
})

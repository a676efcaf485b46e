import { describe, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { type PublicUrl, requireSameOrigin, webSession } from '../../plugins/web-session/index.ts'
import { ask, openHouse, publicUrl, refusal } from './house.ts'

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
    test(`may not come with ${said(headers)}, nor is anything checked`, async () => {
      const { login, checked } = await openHouse()
      const { status, json } = await login('ann', 'right', headers)
      expect([status, json]).toEqual([403, refused])
      expect(checked).toEqual([])
    })
  }
})

test('an address that is none is refused at once', async () => {
  await expect(openHouse({ publicUrl: 'sluice.test' })).rejects.toThrow(TypeError)
})

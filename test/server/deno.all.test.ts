/** Runs with `--all`: the parts of the server once more on Deno; deno/server.test.ts runs there each part once. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { statusAndText } from '../routes/fixture.ts'
import { userAt } from '../support/gateway.ts'
import type { ServerProcess } from '../support/server.ts'
import { arkOf, browse, type Fixture, faces, login, newToken, openFixture, password, send, until } from './fixture.ts'

describe('users of a server on Deno', () => {
  let fixture: Fixture
  let server: ServerProcess
  beforeAll(async () => {
    fixture = await openFixture()
    for (const name of ['ann', 'bob', 'cyd']) await fixture.addPerson(name)
    server = await fixture.start({ ...arkOf(fixture), TRUSTED_PROXIES: '127.0.0.0/8, 2001:db8:ffff::/48' }, 'deno')
  }, 300_000)
  afterAll(() => fixture[Symbol.asyncDispose]())

  // The passwords were hashed on Bun, as the admin command does it.
  test('log in, verify a face, add a picture to its group, and log out', async () => {
    const ann = await browse(server, 'ann')
    const { id, token } = await newToken(ann)
    const started = (await ann.ask('POST', faces, {})).json
    const session = fixture.emulator.face.sessions().at(-1)
    const callback = new URL(fixture.emulator.face.finish(session?.bytedToken ?? '', 'succeed') ?? '')
    const page = await send(server.url, 'GET', callback.pathname + callback.search, undefined, {
      'accept-language': 'zh-CN,zh;q=0.9',
    })
    expect([page.status, page.headers.get('content-language')]).toEqual([200, 'zh-CN'])
    const { json } = await ann.ask('GET', `${faces}/${started.verification_id}`)
    expect(json).toEqual({ verification_id: started.verification_id, status: 'verified', group_id: expect.any(String) })
    const caller = userAt(server.url, 'ann', token)
    const picture = {
      GroupId: json.group_id,
      GroupType: 'LivenessFace',
      URL: 'https://files.example/a.png',
      AssetType: 'Image',
    }
    expect((await caller.ask('POST', '/assets', picture)).status).toBe(200)
    expect((await ann.ask('GET', '/api/usage')).json).toEqual({ success: true, usage: [] })
    expect((await ann.ask('DELETE', `/api/tokens/${id}`)).status).toBe(200)
    const out = await ann.ask('DELETE', '/api/session')
    expect(out.headers.get('set-cookie')).toBe('session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax')
    expect((await ann.ask('GET', '/api/session')).status).toBe(401)
  }, 300_000)

  test('get the same errors as on Bun', async () => {
    const bob = await browse(server, 'bob')
    const { token } = await newToken(bob)
    const ask = (method: string, path: string, headers: Record<string, string>, body?: unknown) =>
      send(server.url, method, path, body, headers)
    const refusal = (status: number, message: string) => ({
      status,
      text: JSON.stringify({ success: false, error: { message, type: 'media_proxy_error' } }),
    })
    const authorization = `Bearer ${token}`
    const origin = 'https://evil.example'
    const { cookie } = bob
    for (const [method, path] of [
      ['POST', faces],
      ['POST', '/api/tokens'],
      ['DELETE', '/api/session'],
    ] as const) {
      expect(statusAndText(await ask(method, path, { authorization, origin: server.url }))).toEqual(
        refusal(401, 'not authenticated'),
      )
      expect(statusAndText(await ask(method, path, { cookie, origin }))).toEqual(
        refusal(403, 'request comes from a foreign origin'),
      )
    }
    expect((await ask('GET', '/api/media/proxy/assets', { cookie })).status).toBe(401)
    expect((await ask('GET', '/v1/models', { cookie })).status).toBe(401)
    expect((await login(server.url, 'bob', { origin })).status).toBe(403)
    expect(
      (await ask('POST', '/api/session', { 'content-type': 'text/plain' }, `{"name":"bob","password":"${password}"}`))
        .status,
    ).toBe(415)
    expect((await ask('GET', '/api/session', { cookie: `${cookie}; ${cookie}` })).status).toBe(401)
    expect(statusAndText(await ask('GET', `${faces}/x`, { cookie }))).toEqual(refusal(404, 'verification not found'))
    expect((await ask('GET', `${faces}/callback/${'x'.repeat(43)}?resultCode=10000`, {})).status).toBe(404)
    expect((await ask('GET', '/console/..%2f..%2fpackage.json', {})).status).toBe(404)
    for (let attempt = 0; attempt < 6; attempt++) expect((await login(server.url, 'bob', {}, 'wrong')).status).toBe(401)
    const blocked = await login(server.url, 'bob')
    expect(statusAndText(blocked)).toEqual(refusal(429, 'too many failed logins; try again later'))
    expect(Number(blocked.headers.get('retry-after'))).toBeGreaterThan(0)
  }, 300_000)

  test('are recognised by device cookie and client address, and their logins are in the audit trail', async () => {
    const { id } = (await login(server.url, 'cyd', { 'x-forwarded-for': '6.6.6.6, 203.0.113.5:80' })).json.user
    const [, device = ''] = (await login(server.url, 'cyd')).headers.get('set-cookie')?.split(',') ?? []
    const cookie = device.split(';', 1)[0]?.trim() ?? ''
    const attacker = { 'x-forwarded-for': '2001:db8::5, 2001:db8:ffff::1, ::ffff:127.0.0.9' }
    // This network uses up its own failures, and the other one its own and the one that such networks share.
    for (let attempt = 0; attempt < 5; attempt++) await login(server.url, 'cyd', {}, 'wrong')
    for (let attempt = 0; attempt < 7; attempt++) await login(server.url, 'cyd', attacker, 'wrong')
    expect((await login(server.url, 'cyd')).status).toBe(429)
    expect((await login(server.url, 'cyd', { cookie })).status).toBe(200)
    const trail = async () =>
      (await fixture.store.listAudit({ user: id })).map(({ action, address }) => `${action} ${address}`).sort()
    await until(async () => (await trail()).length === 16)
    expect(await trail()).toEqual([
      ...Array(5).fill('session.fail 127.0.0.1'),
      ...Array(6).fill('session.fail 2001:db8::5'),
      'session.lockout 127.0.0.1',
      'session.lockout 2001:db8::5',
      ...['session.login 127.0.0.1', 'session.login 127.0.0.1', 'session.login 203.0.113.5'],
    ])
  }, 300_000)
})

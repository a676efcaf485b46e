import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Reply } from '../support/gateway.ts'
import type { ServerProcess } from '../support/server.ts'
import { type Browser, browse, type Fixture, newToken, openFixture, send, until } from './fixture.ts'

describe('tokens over HTTP', () => {
  let fixture: Fixture
  let server: ServerProcess
  let ann: Browser
  let bob: Browser
  beforeAll(async () => {
    fixture = await openFixture()
    for (const name of ['ann', 'bob']) await fixture.addPerson(name)
    server = await fixture.start({
      TEXT_UPSTREAM_URL: fixture.emulator.text.url,
      TEXT_UPSTREAM_KEY: fixture.emulator.text.key,
    })
    ;[ann, bob] = [await browse(server, 'ann'), await browse(server, 'bob')]
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  const models = async (token: string) =>
    (await send(server.url, 'GET', '/v1/models', undefined, { authorization: `Bearer ${token}` })).status
  const withoutDate = ({ status, text, headers }: Reply) => {
    const { date: _, 'x-request-id': id, ...rest } = Object.fromEntries(headers)
    return { status, text, headers: rest }
  }
  const chat = (token: string, authorization = `Bearer ${token}`) =>
    send(
      server.url,
      'POST',
      '/v1/chat/completions',
      { model: 'doubao-seed-emulated', messages: [{ role: 'user', content: 'hi' }] },
      { authorization },
    )

  test('of another user are neither listed nor revoked, with the same response as for an unknown id', async () => {
    const { id, token } = await newToken(ann)
    const foreign = withoutDate(await bob.ask('DELETE', `/api/tokens/${id}`))
    expect(foreign.status).toBe(404)
    for (const other of ['f9b1651d-cd6e-47bf-9efe-d1552db78032', 'x', '%00', `${id}%20`, token, 'x'.repeat(1_000)]) {
      expect(withoutDate(await bob.ask('DELETE', `/api/tokens/${other}`))).toEqual(foreign)
    }
    expect((await bob.ask('GET', '/api/tokens')).text).not.toContain(id)
    expect((await bob.ask('GET', `/api/tokens?user=ann`)).json.tokens).toEqual([])
    expect(await models(token)).toBe(200)
  })

  test('are returned once, and never in a list', async () => {
    const reply = await ann.ask('POST', '/api/tokens', { label: 'laptop' })
    const { token, start } = reply.json.token
    expect(token).toStartWith(start)
    expect(reply.headers.get('cache-control')).toBe('no-store')
    const list = await ann.ask('GET', '/api/tokens')
    expect(list.text).not.toContain(token.slice(start.length))
    expect(list.text).not.toContain('hash')
  })

  test('work until they expire, and are no longer listed then', async () => {
    const made = await ann.ask('POST', '/api/tokens', { expires_at: new Date(Date.now() + 1_000).toISOString() })
    const { id, token, expires_at: end } = made.json.token
    expect(await models(token)).toBe(200)
    await until(() => Date.now() > Date.parse(end))
    expect(await models(token)).toBe(401)
    expect((await ann.ask('GET', '/api/tokens')).text).not.toContain(id)
    for (const expires_at of [new Date(Date.now() - 1).toISOString(), '1970-01-01T00:00:00Z']) {
      expect((await ann.ask('POST', '/api/tokens', { expires_at })).status).toBe(400)
    }
  })

  test('count usage for their own user only', async () => {
    const [hers, his] = [await newToken(ann), await newToken(bob)]
    for (const { token } of [hers, hers, his]) expect((await chat(token)).status).toBe(200)
    const usage = async (by: Browser) => (await by.ask('GET', '/api/usage')).json.usage
    const calls = (rows: { token: { id: string }; calls: number }[]) =>
      rows.map(({ token, calls }) => [token.id, calls])
    await until(async () => (await usage(bob)).length > 0)
    expect(calls(await usage(ann))).toEqual([[hers.id, 2]])
    expect(calls(await usage(bob))).toEqual([[his.id, 1]])
    for (const query of [
      'user=ann',
      `user_id=${hers.id}`,
      `token=${hers.id}`,
      'since=&user=ann',
      'since=2020-01-01&until=9999-12-31',
    ]) {
      expect(calls((await bob.ask('GET', `/api/usage?${query}`)).json.usage)).toEqual([[his.id, 1]])
    }
    for (const query of ['since=2026-02-30', "since=2026-01-01'--", 'until=today', 'since=2026-1-1']) {
      expect((await bob.ask('GET', `/api/usage?${query}`)).status).toBe(400)
    }
  })
})

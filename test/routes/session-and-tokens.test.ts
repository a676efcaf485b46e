import { describe, expect, test } from 'bun:test'
import { hashPassword } from '../../plugins/web-session/index.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'

const password = 'correct horse'

/** A browser with a session. */
const logIn = async (gateway: TestGateway, name: string) => {
  const ask = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    fetch(gateway.url + path, {
      method,
      headers: { origin: gateway.url, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    })
  const response = await ask('POST', '/api/session', { name, password })
  expect(response.status).toBe(200)
  const cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  return (method: string, path: string, body?: unknown, headers = {}) => ask(method, path, body, { cookie, ...headers })
}

const open = async () => {
  const gateway = await startGateway()
  const hash = await hashPassword(password)
  for (const name of ['ann', 'bob']) await gateway.store.addUser({ name, password: hash, createdAt: 1 })
  return gateway
}

describe('a user with a browser', () => {
  test('logs in, creates a token, uses it, revokes it and logs out', async () => {
    await using gateway = await open()
    const ann = await logIn(gateway, 'ann')
    expect(await (await ann('GET', '/api/session')).json()).toMatchObject({ success: true, user: { name: 'ann' } })
    const { token } = (await (await ann('POST', '/api/tokens', { label: 'laptop' })).json()) as {
      token: { id: string; token: string }
    }
    const models = () => fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${token.token}` } })
    expect((await models()).status).toBe(200)
    const listed = await (await ann('GET', '/api/tokens')).text()
    expect(listed).toContain(token.id)
    expect(listed).not.toContain(token.token)
    expect((await ann('DELETE', `/api/tokens/${token.id}`)).status).toBe(200)
    await Bun.sleep(1_000)
    expect((await models()).status).toBe(401)
    expect((await ann('DELETE', '/api/session')).status).toBe(200)
    expect((await ann('GET', '/api/session')).status).toBe(401)
  })

  test('sees the usage of the own tokens only', async () => {
    await using gateway = await open()
    const [ann, bob] = [await logIn(gateway, 'ann'), await logIn(gateway, 'bob')]
    const { token } = (await (await ann('POST', '/api/tokens', { label: 'laptop' })).json()) as {
      token: { id: string; token: string }
    }
    const asked = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'doubao-seed-emulated', messages: [{ role: 'user', content: 'hi' }] }),
    })
    const { usage } = (await asked.json()) as { usage: { prompt_tokens: number; completion_tokens: number } }
    const today = new Date().toISOString().slice(0, 10)
    expect(await (await ann('GET', '/api/usage')).json()).toEqual({
      success: true,
      usage: [
        {
          day: today,
          token: { id: token.id, label: 'laptop', start: token.token.slice(0, 9) },
          model: 'doubao-seed-emulated',
          calls: 1,
          unreported: 0,
          input_tokens: usage.prompt_tokens,
          cached_tokens: 0,
          output_tokens: usage.completion_tokens,
          reasoning_tokens: 0,
          video_seconds: null,
          cost: null,
        },
      ],
    })
    expect(await (await bob('GET', '/api/usage')).json()).toEqual({ success: true, usage: [] })
    expect(await (await ann('GET', '/api/usage?until=2020-01-01')).json()).toEqual({ success: true, usage: [] })
    expect((await ann('GET', '/api/usage?since=2020-02-30')).status).toBe(400)
  })
})

describe('sessions and tokens are separate', () => {
  const sessionRoutes = [
    ['GET', '/api/session'],
    ['GET', '/api/tokens'],
    ['POST', '/api/tokens'],
    ['GET', '/api/usage'],
  ] as const
  const tokenRoutes = [
    ['GET', '/api/media/proxy/assets'],
    ['POST', '/api/media/proxy/assets/groups'],
    ['GET', '/v1/models'],
    ['POST', '/v1/chat/completions'],
  ] as const

  test('a token is rejected where a session is required', async () => {
    await using gateway = await open()
    const { token } = await gateway.addUser('carl')
    for (const [method, path] of sessionRoutes) {
      const response = await fetch(gateway.url + path, {
        method,
        headers: { authorization: `Bearer ${token}`, origin: gateway.url },
      })
      expect([path, response.status]).toEqual([path, 401])
    }
  })

  test('a session is rejected where a token is required', async () => {
    await using gateway = await open()
    const ann = await logIn(gateway, 'ann')
    for (const [method, path] of tokenRoutes) {
      expect([path, (await ann(method, path, method === 'POST' ? {} : undefined)).status]).toEqual([path, 401])
    }
  })

  test('a request with a foreign origin changes nothing', async () => {
    await using gateway = await open()
    const ann = await logIn(gateway, 'ann')
    for (const [method, path] of [
      ['POST', '/api/tokens'],
      ['DELETE', '/api/session'],
      ['DELETE', '/api/tokens/x'],
    ] as const) {
      for (const headers of [
        { origin: 'https://evil.example' },
        { origin: 'null' },
        { origin: `${gateway.url}.evil.example` },
      ]) {
        expect([path, (await ann(method, path, undefined, headers)).status]).toEqual([path, 403])
      }
    }
    expect((await ann('GET', '/api/session')).status).toBe(200)
  })

  test('other paths and methods are 404 and 405', async () => {
    await using gateway = await open()
    const ann = await logIn(gateway, 'ann')
    expect((await ann('POST', '/api/usage', {})).status).toBe(405)
    expect((await ann('GET', '/api/usage/x')).status).toBe(404)
    expect((await ann('PUT', '/api/session', {})).status).toBe(405)
  })
})

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { internalDetails } from '../support/gateway.ts'
import { repetitions } from '../support/repetitions.ts'
import type { ServerProcess } from '../support/server.ts'
import { arkOf, type Browser, browse, type Fixture, faces, login, openFixture, password, send } from './fixture.ts'

describe.each(repetitions('on', 'off'))('a body (GET_BODIES %s)', (getBodies) => {
  let fixture: Fixture
  let server: ServerProcess
  let ann: Browser
  beforeAll(async () => {
    fixture = await openFixture()
    await fixture.addPerson('ann')
    await fixture.addPerson('Zoë')
    server = await fixture.start({ ...arkOf(fixture), GET_BODIES: getBodies })
    ann = await browse(server, 'ann')
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  const post = (path: string, body: string, headers: Record<string, string> = {}) =>
    ann.ask('POST', path, body, headers)

  test('that is not a valid login is rejected with a message of the gateway', async () => {
    const invalid: readonly (readonly [number, string])[] = [
      [413, JSON.stringify({ name: 'ann', password: 'x'.repeat(9_000) })],
      [400, JSON.stringify({ name: 'ann', password: 'x'.repeat(1_025) })],
      [400, '{"name":"ann"'],
      [400, `{"name":"ann","password":"${password}"} x`],
      [400, `{"name":{"toString":"ann"},"password":"${password}"}`],
      [400, `{"name":["ann"],"password":["${password}"]}`],
      [400, `{"NAME":"ann","password":"${password}"}`],
      [400, `{"__proto__":{"name":"ann","password":"${password}"}}`],
      [400, `${'['.repeat(4_000)}${']'.repeat(4_000)}`],
      [400, `{"a":${'{"a":'.repeat(1_000)}1${'}'.repeat(1_000)}}`],
      [400, 'null'],
      [400, ''],
      [401, JSON.stringify({ name: 'ann', password: '' })],
      [401, JSON.stringify({ name: '', password })],
      [401, JSON.stringify({ name: 'ann ', password })],
      [401, JSON.stringify({ name: 'ann\0', password })],
      [401, '{"name":"\\ud800","password":"\\udfff"}'],
      [401, JSON.stringify({ name: "ann' or '1'='1", password })],
      [401, JSON.stringify({ name: 'a%', password })],
    ]
    for (const [nth, [status, body]] of invalid.entries()) {
      const reply = await send(server.url, 'POST', '/api/session', body, {
        origin: server.url,
        'x-forwarded-for': `192.0.2.${nth}`,
      })
      expect([body.slice(0, 60), reply.status]).toEqual([body.slice(0, 60), status])
      expect(reply.text).not.toMatch(internalDetails)
      expect(reply.headers.get('set-cookie')).toBeNull()
    }
    expect((await ann.ask('GET', '/api/session')).status).toBe(200)
  })

  test('may have a name in another case, and name and password in another Unicode form', async () => {
    expect((await login(server.url, 'ANN')).status).toBe(200)
    expect((await login(server.url, 'Zoë')).status).toBe(200)
    expect((await login(server.url, 'Zoe\u0308')).status).toBe(200)
    expect((await login(server.url, 'ann', {}, password.replace('c', '\uff43'))).status).toBe(200)
  })

  test('that does not end gets 413 at the limit of the route', async () => {
    const sendEndless = (path: string, type: string, size: number) =>
      new Promise<string>((resolve, reject) => {
        const { hostname, port } = new URL(server.url)
        const socket = connect(Number(port), hostname)
        let response = ''
        socket.on('data', (chunk) => {
          response += chunk
          if (response.includes('\r\n')) {
            resolve(response.split('\r\n', 1)[0] ?? '')
            socket.destroy()
          }
        })
        socket.on('error', reject)
        socket.on('close', () => resolve(response.split('\r\n', 1)[0] ?? ''))
        socket.write(
          `POST ${path} HTTP/1.1\r\nhost: x\r\norigin: ${server.url}\r\ncookie: ${ann.cookie}\r\ncontent-type: ${type}\r\ntransfer-encoding: chunked\r\n\r\n`,
        )
        const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`
        for (let sent = 0; sent < size; sent += 0x10000) socket.write(chunk)
      })
    expect(await sendEndless('/api/session', 'application/json', 2 ** 20)).toContain(' 413 ')
    expect(await sendEndless('/api/tokens', 'application/json', 2 ** 20)).toContain(' 413 ')
    expect(await sendEndless(faces, 'application/json', 2 ** 21)).toContain(' 413 ')
    expect((await ann.ask('GET', '/api/session')).status).toBe(200)
  })

  test('whose caller disconnects before its end is not logged as an error', async () => {
    const before = server.stderr()
    const { hostname, port } = new URL(server.url)
    for (const framing of ['content-length: 100', 'transfer-encoding: chunked']) {
      await new Promise<void>((resolve) => {
        const socket = connect(Number(port), hostname)
        const head = ['POST /api/session HTTP/1.1', 'host: x', 'content-type: application/json', framing, '', '']
        socket.write(`${head.join('\r\n')}5\r\n{"nam`, () => setTimeout(() => socket.destroy(), 50))
        socket.on('close', () => resolve())
      })
    }
    await Bun.sleep(100)
    expect((await ann.ask('GET', '/api/session')).status).toBe(200)
    expect(server.stderr()).toBe(before)
  })

  test('of a token is rejected with a control character in the label or an invalid time', async () => {
    const rejected = [
      ...['a\nb', 'a\tb', '\u001b[31m', '\u0000', '\u0085', 'x'.repeat(129)].map((label) => JSON.stringify({ label })),
      '{"label":"\\ud800"}',
      '{"label":1}',
      '{"label":{"$ne":1}}',
      ...[
        '2026-01-01',
        '2020-01-01T00:00:00Z',
        '2099-02-30T00:00:00Z',
        '2099-01-01T00:00:00',
        '2099-01-01 00:00:00Z',
        '+292278-01-01T00:00:00Z',
        'never',
        '',
        new Date().toISOString(),
      ].map((expires_at) => JSON.stringify({ expires_at })),
      '{"expires_at":4102444800}',
      '{"expires_at":true}',
      '[]',
      '{',
    ]
    for (const body of rejected) {
      const reply = await post('/api/tokens', body)
      expect([body.slice(0, 40), reply.status]).toEqual([body.slice(0, 40), 400])
      expect(reply.text).not.toMatch(internalDetails)
    }
    expect((await post('/api/tokens', 'label=x', { 'content-type': 'application/x-www-form-urlencoded' })).status).toBe(
      415,
    )
    expect((await ann.ask('GET', '/api/tokens')).json.tokens).toEqual([])
    const label = '<img src=x onerror=alert(1)> "quoted" \\ 人'
    const { json, headers } = await post('/api/tokens', JSON.stringify({ label, expires_at: null }))
    expect(json.token).toMatchObject({ label, expires_at: null })
    expect(headers.get('content-type')).toBe('application/json')
  })

  test('of a face verification may be any JSON object, and nothing else', async () => {
    for (const body of ['[]', '"x"', '1', 'null', '{', '{"a":1}x']) expect((await post(faces, body)).status).toBe(400)
    expect(fixture.emulator.calls).toEqual([])
    for (const body of ['', '{}', '{"a":[1e400,"\\ud83d\\ude00",12345678901234567890]}']) {
      expect([body, (await post(faces, body)).status]).toEqual([body, 200])
    }
  })
})

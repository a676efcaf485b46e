import { describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { fronts } from '../support/fronts.ts'
import { openServerFixture } from '../support/server-fixture.ts'
import { until } from './fixture.ts'

const own = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const chat = { model: 'm', messages: [{ role: 'user', content: 'x' }] }

describe.each(fronts)('on %s, with GET_BODIES %s', (runtime, getBodies) => {
  const open = async (respond: (request: Request) => Response | Promise<Response>) => {
    const fixture = await openServerFixture()
    const asked: Request[] = []
    const upstream = Bun.serve({
      port: 0,
      fetch(request) {
        asked.push(request.clone() as Request)
        return respond(request)
      },
    })
    const text = `http://127.0.0.1:${upstream.port}/v1`
    const server = await fixture.start({ GET_BODIES: getBodies, TEXT_UPSTREAM_URL: text, LOG_LEVEL: 'trace' }, runtime)
    const { token } = await fixture.addUser('ann')
    const ask = (path: string, body?: object, headers: Record<string, string> = {}) =>
      fetch(server.url + path, {
        method: body ? 'POST' : 'GET',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
        body: body && JSON.stringify(body),
      })
    /** The lines of a request in the log. */
    const linesOf = (id: string) =>
      server
        .stderr()
        .split('\n')
        .flatMap((line) => (line.includes(`"requestId":"${id}"`) ? [JSON.parse(line)] : []))
    return {
      ...{ fixture, server, asked, ask, linesOf },
      async [Symbol.asyncDispose]() {
        await upstream.stop(true)
        await fixture[Symbol.asyncDispose]()
      },
    }
  }
  const rejecting = () =>
    Response.json({ error: { message: 'no' } }, { status: 422, headers: { 'x-request-id': 'of-the-upstream' } })

  test('every response has an id: one of its own for each request, or that of the caller', async () => {
    await using opened = await open(rejecting)
    const ids = new Set<string | null>()
    const paths = [
      '/healthz',
      '/readyz',
      '/metrics',
      '/console',
      '/openapi/json',
      '/v1/models',
      '/v1/nothing',
      '/nothing',
    ]
    for (const path of [...paths, '/api/media/proxy/assets', '/api/session', '/chat/completions']) {
      const id = (await opened.ask(path)).headers.get('x-request-id')
      expect([path, id]).toEqual([path, expect.stringMatching(own)])
      ids.add(id)
      for (const given of ['a', 'Mine_1.2-3', 'x'.repeat(128)])
        expect((await opened.ask(path, undefined, { 'x-request-id': given })).headers.get('x-request-id')).toBe(given)
    }
    expect(ids.size).toBe(11)
    for (const odd of ['', 'a b', 'x'.repeat(129), 'a,b', 'a/b', '{"a":1}', 'é', 'a\tb']) {
      const response = await opened.ask('/v1/nothing', undefined, { 'x-request-id': odd })
      expect([odd, response.headers.get('x-request-id')]).toEqual([odd, expect.stringMatching(own)])
    }
  })

  test('the id goes upstream, and that of the upstream comes back beside it', async () => {
    await using opened = await open(rejecting)
    const response = await opened.ask('/v1/chat/completions', chat, { 'x-request-id': 'mine' })
    expect([
      response.status,
      response.headers.get('x-request-id'),
      response.headers.get('x-upstream-request-id'),
    ]).toEqual([...[422, 'mine', 'of-the-upstream']])
    const other = await opened.ask('/v1/embeddings', { model: 'm', input: 'x' }, { 'x-request-id': 'odd id' })
    const sent = opened.asked.map(({ headers }) => headers.get('x-request-id'))
    expect(sent).toEqual(['mine', other.headers.get('x-request-id')])
  })

  test('every line of the log has the id of its request, also those of concurrent requests', async () => {
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    await using opened = await open(async () => {
      await released
      return rejecting()
    })
    const ids = Array.from({ length: 8 }, (_, nth) => `request-${nth}`)
    const answers = ids.map((id) => opened.ask('/v1/chat/completions', chat, { 'x-request-id': id }))
    await until(() => opened.asked.length === ids.length)
    release()
    await Promise.all(answers)
    await until(() => ids.every((id) => opened.linesOf(id).length === 2))
    for (const id of ids)
      expect(opened.linesOf(id)).toMatchObject([
        { msg: 'upstream rejected the request', status: 422, upstreamRequestId: 'of-the-upstream' },
        { msg: 'request', path: '/v1/chat/completions', status: 422 },
      ])
    opened.fixture.emulator.faults.add({ kind: 'status', status: 500, action: 'ListAssets' })
    await opened.ask('/api/media/proxy/assets/groups', { Name: 'g' }, { 'x-request-id': 'a-group' })
    await opened.ask('/api/media/proxy/assets', undefined, { 'x-request-id': 'the-list' })
    await until(() => opened.linesOf('the-list').some(({ msg }) => msg === 'request'))
    expect(opened.linesOf('the-list').map(({ msg }) => msg)).toContain('upstream rejected the request')
  })

  test('a response to what is no valid request has an id, too', async () => {
    await using opened = await open(rejecting)
    const { hostname, port } = new URL(opened.server.url)
    const received = await new Promise<string>((resolve) => {
      let text = ''
      const socket = connect(Number(port), hostname)
      socket.on('data', (data) => {
        text += data
      })
      socket.on('close', () => resolve(text))
      socket.end('GET /v1/models HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n')
    })
    expect(received).toStartWith('HTTP/1.1 400')
    // What the runtime itself rejects has no body and no headers of ours.
    if (received.includes('{')) expect(received).toMatch(/\r\nx-request-id: [0-9a-f-]{36}\r\n/i)
  })
})

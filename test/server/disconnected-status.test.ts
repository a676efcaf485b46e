import { expect, test } from 'bun:test'
import { connect } from 'node:net'
import { fronts } from '../support/fronts.ts'
import { openServerFixture } from '../support/server-fixture.ts'
import { until } from './fixture.ts'

const requestOf = (path: string, token: string, body: object) => {
  const text = JSON.stringify(body)
  const headers = [`Host: x`, `Authorization: Bearer ${token}`, 'Content-Type: application/json']
  return `POST ${path} HTTP/1.1\r\n${headers.join('\r\n')}\r\nContent-Length: ${text.length}\r\n\r\n${text}`
}

test.each(fronts)(
  'a caller who disconnects before the response is a 499 in metrics and log, on %s with GET_BODIES %s',
  async (runtime, getBodies) => {
    await using fixture = await openServerFixture()
    let pending = 0
    using upstream = Bun.serve({
      port: 0,
      fetch: () => {
        pending++
        return new Promise<Response>(() => {})
      },
    })
    const server = await fixture.start(
      {
        GET_BODIES: getBodies,
        TEXT_UPSTREAM_URL: `http://127.0.0.1:${upstream.port}/v1`,
        METRICS_TOKEN: 'metrics-token',
        LOG_LEVEL: 'debug',
      },
      runtime,
    )
    const { token } = await fixture.addUser('ann')
    const chat = { model: 'm', messages: [{ role: 'user', content: 'x' }] }
    const leave = async (path: string, body: object) => {
      const before = pending
      const { hostname, port } = new URL(server.url)
      const socket = connect(Number(port), hostname)
      socket.write(requestOf(path, token, body))
      await until(() => pending > before)
      socket.destroy()
    }
    await leave('/v1/chat/completions', chat)
    await leave('/v1/chat/completions', { ...chat, stream: true })
    await leave('/v1/embeddings', { model: 'm', input: 'x' })
    const metrics = async () => {
      const headers = { authorization: 'Bearer metrics-token' }
      const text = await (await fetch(`${server.url}/metrics`, { headers })).text()
      return text.split('\n').filter((line) => line.startsWith('sluice_requests_total{method="POST"'))
    }
    const expected = ['sluice_requests_total{method="POST",status="499"} 3']
    await until(async () => (await metrics())[0] === expected[0])
    expect(await metrics()).toEqual(expected)
    const lines = server
      .stderr()
      .split('\n')
      .filter((line) => line.includes('"msg":"request"') && line.includes('"POST"'))
    expect(lines.map((line) => JSON.parse(line).status)).toEqual([499, 499, 499])
  },
)

test('an upstream of text that cannot be reached is a 502 that does not name the asset library', async () => {
  await using fixture = await openServerFixture()
  const server = await fixture.start({
    TEXT_UPSTREAM_URL: 'http://127.0.0.1:1/v1',
    METRICS_TOKEN: 'metrics-token',
  })
  const { token } = await fixture.addUser('ann')
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  for (const [path, body] of [
    ['/v1/models', undefined],
    ['/v1/models/m', undefined],
    ['/v1/responses', { model: 'm', input: 'x' }],
    ['/v1/embeddings', { model: 'm', input: 'x' }],
    ['/v1/chat/completions', { model: 'm', messages: [{ role: 'user', content: 'x' }], stream: true }],
  ] as const) {
    const response = await fetch(server.url + path, {
      method: body ? 'POST' : 'GET',
      headers,
      body: JSON.stringify(body),
    })
    expect([path, response.status, await response.json()]).toEqual([
      path,
      502,
      { error: { message: 'upstream unavailable', type: 'server_error', param: null, code: null } },
    ])
  }
})

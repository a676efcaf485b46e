import { describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { Elysia } from 'elysia'
import { textGeneration } from '../../plugins/text-generation/index.ts'
import { createNodeServer } from '../../src/node-server.ts'
import { RawConnection } from '../node-server/raw-connection.ts'
import { openServerFixture } from '../support/server-fixture.ts'

const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\n'
const handshake = 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'

/** GET /v1/responses on a new connection. */
const get = (url: string, token: string, fields: string) => {
  const { hostname, port } = new URL(url)
  const connection = new RawConnection(connect(Number(port), hostname))
  connection.write(`GET /v1/responses HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer ${token}\r\n${fields}\r\n`)
  return connection.readResponse()
}

const expectRejections = async (url: string, token: string) => {
  const refused = await get(url, token, upgrade + handshake)
  expect([refused.status, refused.headers.get('upgrade')]).toEqual([426, 'HTTP/1.1'])
  expect(refused.headers.get('connection')).toMatch(/upgrade/i)
  expect(JSON.parse(refused.body)).toEqual({
    error: {
      message: 'WebSocket is not available here; send POST /responses over HTTP',
      ...{ type: 'invalid_request_error', param: null, code: 'upgrade_required' },
    },
  })
  const plain = await get(url, token, '')
  expect([plain.status, plain.headers.get('upgrade')]).toEqual([426, 'websocket'])
  expect((await get(url, 'sk-nobody', upgrade + handshake)).status).toBe(401)
}

describe('WebSocket is refused at once', () => {
  for (const [runtime, getBodies] of [
    ['bun', 'on'],
    ['bun', 'off'],
    ['deno', 'on'],
  ] as const) {
    test(`by the default server on ${runtime}, GET_BODIES ${getBodies}`, async () => {
      await using fixture = await openServerFixture()
      const { url, key } = fixture.emulator.text
      const environment = { TEXT_UPSTREAM_URL: url, TEXT_UPSTREAM_KEY: key, GET_BODIES: getBodies }
      const server = await fixture.start(environment, runtime)
      await expectRejections(server.url, (await fixture.addUser('ann')).token)
    }, 30_000)
  }

  const app = () =>
    new Elysia().use(
      textGeneration({
        upstreams: [{ url: 'http://upstream.invalid/v1' }],
        identify: ({ headers }) => (headers.get('authorization') === 'Bearer ann' ? { user: 'ann' } : undefined),
      }),
    )

  test('by an app of a host, with its own listener and with createNodeServer', async () => {
    const own = app().listen({ port: 0, hostname: '127.0.0.1' })
    await expectRejections(`http://127.0.0.1:${own.server?.port}`, 'ann')
    await own.stop(true)
    await using server = await createNodeServer(app()).listen()
    await expectRejections(server.url, 'ann')
    await using upgrading = await createNodeServer(app(), { onUpgrade: () => false }).listen()
    await expectRejections(upgrading.url, 'ann')
  })
})

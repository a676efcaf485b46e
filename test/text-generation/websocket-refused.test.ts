import { describe, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { textGeneration } from '../../plugins/text-generation/index.ts'
import { startEmulator } from '../../src/emulator/index.ts'
import { createNodeServer } from '../../src/node-server.ts'
import { fronts } from '../support/fronts.ts'
import { openServerFixture } from '../support/server-fixture.ts'
import { Client, handshake } from './websocket-client.ts'

const model = 'doubao-seed-emulated'
const appWith = (upstream: { readonly url: string; readonly key?: string }) =>
  new Elysia().use(
    textGeneration({
      upstreams: [upstream],
      identify: ({ headers }) => (headers.get('authorization') === 'Bearer ann' ? { user: 'ann' } : undefined),
      requireSameOrigin({ headers }) {
        if (headers.get('origin') === 'https://evil.example') throw new Error('a foreign page')
      },
    }),
  )
const app = () => appWith({ url: 'http://upstream.invalid/v1' })

const expectRejections = async (url: string, authorization: string, fields: Record<string, string> = {}) => {
  const refused = await handshake(url, { authorization, ...fields })
  expect([refused.status, refused.headers.get('upgrade')]).toEqual([426, 'HTTP/1.1'])
  expect(refused.headers.get('connection')).toMatch(/upgrade/i)
  expect(refused.headers.get('sec-websocket-version')).toBe('13')
  expect(JSON.parse(refused.body)).toEqual({
    error: {
      message: 'WebSocket is not available here; send POST /responses over HTTP',
      ...{ type: 'invalid_request_error', param: null, code: 'upgrade_required' },
    },
  })
  const plain = await fetch(`${url}/v1/responses`, { headers: { authorization } })
  expect([plain.status, plain.headers.get('upgrade')]).toEqual([426, 'websocket'])
  expect((await handshake(url, { authorization: 'Bearer nobody', ...fields })).status).toBe(401)
}

describe('GET /v1/responses is 426', () => {
  for (const [runtime, getBodies] of fronts) {
    test(`for another version of the protocol, on ${runtime} with GET_BODIES ${getBodies}`, async () => {
      await using fixture = await openServerFixture()
      const { url, key } = fixture.emulator.text
      const environment = { TEXT_UPSTREAM_URL: url, TEXT_UPSTREAM_KEY: key, GET_BODIES: getBodies }
      const server = await fixture.start(environment, runtime)
      const { token } = await fixture.addUser('ann')
      await expectRejections(server.url, `Bearer ${token}`, { 'sec-websocket-version': '8' })
    }, 300_000)
  }

  test('where the server of a host cannot open a connection', async () => {
    const host = app()
    const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => host.handle(request) })
    await expectRejections(`http://127.0.0.1:${server.port}`, 'Bearer ann')
    await server.stop(true)
    await using upgrading = await createNodeServer(app(), { onUpgrade: () => false }).listen()
    await expectRejections(upgrading.url, 'Bearer ann', { 'sec-websocket-key': 'short' })
  })
})

describe('a host’s app opens connections', () => {
  const listeners = {
    createNodeServer: async (host: ReturnType<typeof appWith>) => {
      const server = await createNodeServer(host).listen()
      return { url: server.url, stop: () => server.stop({ closeActiveConnections: true }) }
    },
    'its own listen on Bun': async (host: ReturnType<typeof appWith>) => {
      host.listen({ port: 0, hostname: '127.0.0.1' })
      return { url: `http://127.0.0.1:${host.server?.port}`, stop: () => host.stop(true) }
    },
  }
  for (const [name, listen] of Object.entries(listeners)) {
    test(`with ${name}`, async () => {
      const emulator = await startEmulator()
      const server = await listen(appWith(emulator.text))
      const client = await Client.open(server.url, 'ann')
      const first = await client.turn({ model, input: 'remember seven' })
      const next = await client.turn({ model, previous_response_id: first.response.id, input: 'x' })
      expect(next.type).toBe('response.completed')
      expect(JSON.stringify(emulator.calls.at(-1)?.json)).toContain('remember seven')
      client.socket.close(1000)
      expect((await client.closed)[0]).toBe(1000)
      const foreign = await handshake(server.url, { authorization: 'Bearer ann', origin: 'https://evil.example' })
      expect(foreign.status).toBe(500)
      expect((await handshake(server.url, {})).status).toBe(401)
      await server.stop()
      await emulator.stop()
    })
  }
})

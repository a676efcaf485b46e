import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createClientAddressOf } from '../../plugins/shared/http/client-address.ts'
import type { ListeningServer } from '../../src/node-server.ts'
import { listenBun, listenNode } from '../../src/server/listen.ts'

const addressOf = createClientAddressOf()
let left = Promise.withResolvers<string | undefined>()

/** Reads the peer address at once, later, or after the caller has disconnected. */
const handle = (request: Request): Response | Promise<Response> => {
  const said = () => new Response(addressOf(request))
  const { pathname } = new URL(request.url)
  if (pathname === '/now') return said()
  if (pathname === '/soon') return Promise.resolve().then(said)
  if (pathname === '/later') return Bun.sleep(30).then(said)
  return new Promise((resolve) => {
    request.signal.addEventListener('abort', async () => {
      await Bun.sleep(30)
      left.resolve(addressOf(request))
      resolve(said())
    })
  })
}

describe.each([
  ['node:http', listenNode],
  ['Bun.serve', listenBun],
])('the peer address of a request, on %s', (_, listen) => {
  let server: ListeningServer
  beforeAll(async () => {
    const http = { host: '127.0.0.1', port: 0, getBodies: false, maxBodyBytes: 2 ** 20 }
    server = await listen(handle, { http, media: { segment: 'media' }, shared: false })
  })
  afterAll(() => server.stop({ closeActiveConnections: true }))

  test('is available at once and later, for every request of a connection', async () => {
    for (let round = 0; round < 3; round++) {
      for (const path of ['/now', '/soon', '/later']) {
        const responses = Array.from({ length: 5 }, () => fetch(`http://127.0.0.1:${server.port}${path}`))
        for (const response of responses) expect(await (await response).text()).toBe('127.0.0.1')
      }
    }
  })

  test('is available after the caller has disconnected', async () => {
    left = Promise.withResolvers()
    const caller = new AbortController()
    const asking = fetch(`http://127.0.0.1:${server.port}/left`, { signal: caller.signal })
    setTimeout(() => caller.abort(), 50)
    await asking.catch(() => {})
    expect(await left.promise).toBe('127.0.0.1')
  })
})

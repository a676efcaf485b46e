import { describe, expect, test } from 'bun:test'
import { readBytes } from '../../plugins/shared/http/body/body.ts'
import { noLog } from '../../plugins/shared/problem.ts'
import { rest } from '../../plugins/upstream-proxy/index.ts'
import { createApp } from '../../src/app.ts'
import { createNodeServer } from '../../src/node-server.ts'
import { openStore } from '../../src/store/index.ts'
import { bufferedBytes, host, json, pour, startTestServer, type TestServer } from './raw-connection.ts'

const hugeBytes = 200_000_000
const head = (method: string, path: string, more = '') =>
  `${method} ${path} HTTP/1.1\r\n${host}${json}Content-Length: ${hugeBytes}\r\n${more}\r\n`

/** The default server's app. Authentication waits until `proceed` and then fails. */
const unauthenticated = async (): Promise<TestServer & { proceed(): void; identified(): number }> => {
  const known = Promise.withResolvers<undefined>()
  let identified = 0
  const identify = () => {
    identified++
    return known.promise
  }
  const store = openStore('sqlite::memory:')
  await store.migrate()
  const app = createApp({
    gateway: {
      kind: rest({ url: 'http://127.0.0.1:9', key: 'key' }),
      store,
      identify,
      secrets: ['secret, a secret of the tests'],
    },
    text: { upstreams: [], identify },
    video: { store, identify },
    people: { store, secrets: ['secret, a secret of the tests'], publicUrl: 'http://localhost', face: {} },
    events: { store, identify },
    health: { database: () => store.ready(), draining: () => false },
    limits: {},
    metricsToken: 'token',
    log: noLog,
  })
  return { ...(await startTestServer(app)), identified: () => identified, proceed: () => known.resolve(undefined) }
}

describe('no body is read before authentication', () => {
  for (const method of ['GET', 'POST']) {
    for (const path of ['/api/media/proxy/assets', '/api/media/proxy/assets/groups']) {
      test(`${method} ${path}: twenty huge bodies fill the kernel’s buffers only, and all callers receive 401 at once`, async () => {
        await using served = await unauthenticated()
        const connections = Array.from({ length: 20 }, () => served.dial())
        for (const connection of connections) connection.write(head(method, path))
        const before = process.memoryUsage().rss
        const taken = await Promise.all(connections.map((connection) => pour(connection, hugeBytes)))
        for (const bytes of taken) expect(bytes).toBeLessThan(bufferedBytes)
        expect(process.memoryUsage().rss - before).toBeLessThan(400_000_000)
        while (served.identified() < 20) await new Promise((resolve) => setImmediate(resolve))
        served.proceed()
        for (const connection of connections) expect((await connection.readResponse()).status).toBe(401)
      }, 300_000)
    }
  }

  test('on every route an unknown caller receives 401 before he sends his announced body', async () => {
    await using served = await unauthenticated()
    served.proceed()
    const login = await served.ask(`POST /api/session HTTP/1.1\r\n${host}${json}Content-Length: 8193\r\n\r\n`)
    expect(login.status).toBe(413)
    for (const path of [
      ...['/', '/nowhere', '/healthz', '/readyz', '/metrics', '/openapi/json', '/console'],
      ...['/v1/responses/r', '/v1/responses/r/cancel', '/v1/responses/r/input_items'],
      ...['/v1/chat/completions', '/v1/responses', '/v1/models', '/v1/models/m', '/v1/nowhere'],
      ...['assets', 'assets/groups', 'assets/a', 'assets/groups/g', 'nowhere'].map((at) => `/api/media/proxy/${at}`),
      ...['/api/media/face-verifications', '/api/media/face-verifications/v', '/api/tokens', '/api/tokens/t'],
      ...['/api/usage', '/api/nowhere'],
    ]) {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
        const { status } = await served.ask(head(method, path))
        const isPublic = ['/healthz', '/readyz', '/openapi/json', '/console'].includes(path)
        // The root leads to the console.
        const expected = [path === '/' && method === 'GET' ? 307 : isPublic ? 200 : 401, 404, 405]
        expect([method, path, expected.includes(status)]).toEqual([method, path, true])
      }
    }
  }, 300_000)

  test('an unknown caller with Expect: 100-continue receives no 100', async () => {
    await using served = await unauthenticated()
    served.proceed()
    const connection = served.dial()
    connection.write(head('POST', '/v1/chat/completions', 'Expect: 100-continue\r\n'))
    expect(await connection.until('\r\n')).toBe('HTTP/1.1 401 Unauthorized\r\n')
  })
})

describe('an authenticated caller with Expect: 100-continue', () => {
  test('receives 100 when the app reads the body', async () => {
    await using served = await startTestServer(
      async (request) => new Response(String((await readBytes(request, 10))?.length)),
    )
    const connection = served.dial()
    connection.write(`POST / HTTP/1.1\r\n${host}Expect: 100-continue\r\nContent-Length: 3\r\n\r\n`)
    expect(await connection.until('\r\n\r\n')).toBe('HTTP/1.1 100 Continue\r\n\r\n')
    connection.write('abc')
    expect((await connection.readResponse()).body).toBe('3')
  })
})

describe('an unread body is not drained', () => {
  for (const method of ['GET', 'POST']) {
    test(`${method}: the response is sent, then the connection ends`, async () => {
      await using served = await startTestServer(() => new Response('no', { status: 401 }))
      const connection = served.dial()
      connection.write(head(method, '/'))
      const taken = await pour(connection, hugeBytes)
      expect(taken).toBeLessThan(bufferedBytes + 2 ** 22)
      expect((await connection.readResponse()).status).toBe(401)
      await connection.closed
    })
  }

  test('also after the app has read a part of it', async () => {
    await using served = await startTestServer(
      async (request) => new Response(String(await readBytes(request, 1_000_000))),
    )
    const attempt = async (): Promise<string | undefined> => {
      const connection = served.dial()
      connection.write(`POST / HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n${hugeBytes.toString(16)}\r\n`)
      expect(await pour(connection, hugeBytes)).toBeLessThan(bufferedBytes + 2 ** 22)
      const response = await connection.readResponse().catch(() => undefined)
      await connection.closed
      return response?.body
    }
    // The end of the connection may overtake the response: the client has not stopped sending (RFC 9112 section 9.6).
    let body: string | undefined
    for (let tries = 0; body === undefined && tries < 50; tries++) body = await attempt()
    expect(body).toBe('undefined')
  })
})

test('an embedding app without authentication hooks receives bodies', async () => {
  await using server = await createNodeServer(async (request) => new Response(await request.text())).listen()
  expect(await (await fetch(server.url, { method: 'POST', body: 'one' })).text()).toBe('one')
})

import { describe, expect, test } from 'bun:test'
import type { AddressInfo } from 'node:net'
import { readBytes } from '../../plugins/shared/body.ts'
import { silent } from '../../plugins/shared/problem.ts'
import { rest } from '../../plugins/upstream-proxy/index.ts'
import { createApp } from '../../src/app.ts'
import { createFront } from '../../src/front.ts'
import { openStore } from '../../src/store/index.ts'
import { bufferedBytes, type Front, front, host, json, pour } from './wire.ts'

const hugeBytes = 200_000_000
const head = (method: string, path: string, more = '') =>
  `${method} ${path} HTTP/1.1\r\n${host}${json}Content-Length: ${hugeBytes}\r\n${more}\r\n`

/** The default server's app, in which nobody is known before `proceed`. */
const strangers = async (): Promise<Front & { proceed(): void; asked(): number }> => {
  const known = Promise.withResolvers<undefined>()
  let asked = 0
  const identify = () => {
    asked++
    return known.promise
  }
  const store = openStore('sqlite::memory:')
  await store.migrate()
  const app = createApp({
    gateway: { kind: rest({ url: 'http://127.0.0.1:9', key: 'key' }), store, identify, secrets: ['secret'] },
    text: { upstreams: [], identify },
    people: { store, secrets: ['secret'], publicUrl: 'http://localhost', face: { kind: 'rest' } },
    health: { database: () => store.ready(), draining: () => false },
    limits: {},
    metricsToken: 'token',
    log: silent,
  })
  return { ...(await front(app)), asked: () => asked, proceed: () => known.resolve(undefined) }
}

describe('nothing of a body is read before it is known who asks', () => {
  for (const method of ['GET', 'POST']) {
    for (const path of ['/api/media/proxy/assets', '/api/media/proxy/assets/groups']) {
      test(`${method} ${path}: of twenty huge ones no more than the kernel keeps, and all are told at once`, async () => {
        await using served = await strangers()
        const wires = Array.from({ length: 20 }, () => served.dial())
        for (const wire of wires) wire.write(head(method, path))
        const before = process.memoryUsage().rss
        const taken = await Promise.all(wires.map((wire) => pour(wire, hugeBytes)))
        for (const bytes of taken) expect(bytes).toBeLessThan(bufferedBytes)
        expect(process.memoryUsage().rss - before).toBeLessThan(400_000_000)
        expect(served.asked()).toBe(20)
        served.proceed()
        for (const wire of wires) expect((await wire.answer()).status).toBe(401)
      }, 30_000)
    }
  }

  test('on every route a stranger is answered who has sent nothing of the body that was announced', async () => {
    await using served = await strangers()
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
        const expected = ['/healthz', '/readyz', '/openapi/json', '/console'].includes(path)
          ? [200, 404, 405]
          : [401, 404, 405]
        expect([method, path, expected.includes(status)]).toEqual([method, path, true])
      }
    }
  }, 30_000)

  test('who waits to be told to send the body is not told', async () => {
    await using served = await strangers()
    served.proceed()
    const wire = served.dial()
    wire.write(head('POST', '/v1/chat/completions', 'Expect: 100-continue\r\n'))
    expect(await wire.until('\r\n')).toBe('HTTP/1.1 401 Unauthorized\r\n')
  })
})

describe('who may send a body', () => {
  test('is told to when it is wanted', async () => {
    await using served = await front(async (request) => new Response(String((await readBytes(request, 10))?.length)))
    const wire = served.dial()
    wire.write(`POST / HTTP/1.1\r\n${host}Expect: 100-continue\r\nContent-Length: 3\r\n\r\n`)
    expect(await wire.until('\r\n\r\n')).toBe('HTTP/1.1 100 Continue\r\n\r\n')
    wire.write('abc')
    expect((await wire.answer()).body).toBe('3')
  })
})

describe('a body that nobody wanted is not read for as long as it comes', () => {
  for (const method of ['GET', 'POST']) {
    test(`${method}: the answer goes out, and then the connection ends`, async () => {
      await using served = await front(() => new Response('no', { status: 401 }))
      const wire = served.dial()
      wire.write(head(method, '/'))
      const taken = await pour(wire, hugeBytes)
      expect(taken).toBeLessThan(bufferedBytes + 2 ** 22)
      expect((await wire.answer()).status).toBe(401)
      await wire.closed
    })
  }

  test('also when the app has read a part of it', async () => {
    await using served = await front(async (request) => new Response(String(await readBytes(request, 1_000_000))))
    const wire = served.dial()
    wire.write(`POST / HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n${hugeBytes.toString(16)}\r\n`)
    expect(await pour(wire, hugeBytes)).toBeLessThan(bufferedBytes + 2 ** 22)
    expect((await wire.answer()).body).toBe('undefined')
    await wire.closed
  })
})

test('an embedding app whose routes do not care gets bodies as before', async () => {
  const server = createFront({ handle: async (request) => new Response(await request.text()) })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  expect(await (await fetch(url, { method: 'POST', body: 'one' })).text()).toBe('one')
  server.closeAllConnections()
  server.close()
})

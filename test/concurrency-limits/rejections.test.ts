import { describe, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { Elysia } from 'elysia'
import { apiToken } from 'sluice/api-token'
import { concurrencyLimits } from 'sluice/concurrency-limits'
import { startGateway, type TestGateway, type TestGatewayOptions, type User } from '../support/gateway.ts'

const metricsToken = 'for whoever operates'

const started = async (limiting: TestGatewayOptions['limiting']) => {
  const gateway = await startGateway({ limiting, metricsToken })
  return { gateway, ann: await gateway.addUser('ann'), bob: await gateway.addUser('bob') }
}

const chat = (gateway: TestGateway, user: User, more: object = {}) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${user.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'emulated-wide', messages: [{ role: 'user', content: 'hello' }], ...more }),
  })

/** Starts a request with an incomplete body. */
const stall = async (gateway: TestGateway, user: User, head: string, body: string): Promise<Socket> => {
  const { hostname, port } = new URL(gateway.url)
  const socket = connect(Number(port), hostname)
  const headers = ['host: localhost', `authorization: Bearer ${user.token}`, 'content-type: application/json', head]
  socket.write(`POST /v1/chat/completions HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n${body}`)
  return socket
}

/** Reads until the head of the first response is complete. */
const answerOf = (socket: Socket): Promise<string> =>
  new Promise((resolve) => {
    let text = ''
    socket.on('data', (chunk) => {
      text += String(chunk)
      if (text.includes('\r\n\r\n')) resolve(text)
    })
    socket.on('close', () => resolve(text))
  })

/** Resolves when the server holds this number of body bytes. */
const untilHeld = async ({ url }: TestGateway, bytes: number): Promise<void> => {
  const headers = { authorization: `Bearer ${metricsToken}` }
  const held = `\nsluice_body_bytes_held ${bytes}\n`
  while (!(await (await fetch(`${url}/metrics`, { headers })).text()).includes(held)) await Bun.sleep(5)
}

const limited = {
  error: { message: 'too many requests at once', type: 'rate_limit_error', param: null, code: null },
}

describe('concurrent requests of one user', () => {
  test('above the limit receive 429 in the error format of their route, without effect on other users', async () => {
    const { gateway, ann, bob } = await started({ user: { maxRequests: 2 } })
    await using _ = gateway
    const hold = gateway.emulator.faults.add({ kind: 'hold', times: Number.POSITIVE_INFINITY })
    const held = [ann.ask('GET', '/assets/one'), ann.ask('GET', '/assets/two')]
    await hold.waitForHits(2)

    const media = await ann.ask('GET', '/assets/groups')
    expect([media.status, media.headers.get('retry-after'), media.json]).toEqual([
      429,
      '1',
      { success: false, error: { message: 'too many requests at once', type: 'media_proxy_error' } },
    ])
    for (const path of ['/v1/chat/completions', '/v1/responses', '/v1/models']) {
      const text = await fetch(gateway.url + path, {
        method: path === '/v1/models' ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${ann.token}` },
      })
      expect([text.status, text.headers.get('retry-after'), await text.json()]).toEqual([429, '1', limited])
    }
    hold.remove()
    expect((await chat(gateway, bob)).status).toBe(200)
    await Promise.all(held)
    expect((await ann.ask('GET', '/assets/groups')).status).toBe(200)
  })

  test('are not limited in sequence, nor in total over users', async () => {
    const { gateway, ann } = await started({ maxRequests: 20, user: { maxRequests: 1 } })
    await using _ = gateway
    const users = await Promise.all(Array.from({ length: 20 }, (_, nth) => gateway.addUser(`user ${nth}`)))
    for (let again = 0; again < 5; again++) {
      expect((await ann.ask('GET', '/assets/groups')).status).toBe(200)
      const all = await Promise.all(users.map((user) => user.ask('GET', '/assets/groups')))
      expect(all.map(({ status }) => status)).toEqual(users.map(() => 200))
    }
  })
})

describe('concurrent requests of all users', () => {
  test('above the limit receive 503 before authentication, except health checks', async () => {
    const { gateway, ann, bob } = await started({ maxRequests: 1 })
    await using _ = gateway
    const hold = gateway.emulator.faults.add({ kind: 'hold' })
    const held = ann.ask('GET', '/assets/one')
    await hold.waitForHits()
    const media = await bob.ask('GET', '/assets/groups')
    expect([media.status, media.headers.get('retry-after'), media.json]).toEqual([
      503,
      '1',
      { success: false, error: { message: 'the server is busy', type: 'media_proxy_error' } },
    ])
    const text = await fetch(`${gateway.url}/v1/models?x`)
    expect([text.status, text.headers.get('retry-after'), await text.json()]).toEqual([
      503,
      '1',
      { error: { message: 'the server is busy', type: 'server_error', param: null, code: null } },
    ])
    for (const path of ['/healthz', '/readyz?x']) expect((await fetch(gateway.url + path)).status).toBe(200)
    hold.release()
    await held
    expect((await bob.ask('GET', '/assets/groups')).status).toBe(200)
  })
})

describe('logins', () => {
  /** Starts a login request with a part of its body. */
  const login = ({ url }: TestGateway, body: string): Socket => {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    const headers = `host: localhost\r\norigin: ${url}\r\ncontent-type: application/json\r\ncontent-length: 2`
    socket.write(`POST /api/session HTTP/1.1\r\n${headers}\r\n\r\n${body}`)
    return socket
  }

  test('that are slow use at most a quarter of the limit', async () => {
    const { gateway, ann } = await started({ maxRequests: 8, user: { maxRequests: 8 } })
    await using _ = gateway
    const slow = [login(gateway, '{'), login(gateway, '{')]
    await untilHeld(gateway, 4)
    for (let nth = 0; nth < 10; nth++) expect(await answerOf(login(gateway, '{'))).toStartWith('HTTP/1.1 503 ')
    const all = await Promise.all(Array.from({ length: 5 }, () => ann.ask('GET', '/assets/groups')))
    expect(all.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    for (const socket of slow) socket.destroy()
    await untilHeld(gateway, 0)
    expect(await answerOf(login(gateway, '{}'))).toStartWith('HTTP/1.1 400 ')
  })
})

describe('streams', () => {
  test('do not count as requests, and have a separate limit', async () => {
    const { gateway, ann, bob } = await started({ maxRequests: 4, user: { maxRequests: 1, maxStreams: 2 } })
    await using _ = gateway
    const silence = gateway.emulator.faults.add({ kind: 'silence', events: 1, times: 2 })
    const open = [await chat(gateway, ann, { stream: true }), await chat(gateway, ann, { stream: true })]
    expect(open.map(({ status }) => status)).toEqual([200, 200])
    const third = await chat(gateway, ann, { stream: true })
    expect([third.status, third.headers.get('retry-after'), await third.json()]).toEqual([
      429,
      '1',
      { error: { ...limited.error, message: 'too many streams at once' } },
    ])
    expect((await chat(gateway, ann)).status).toBe(200)
    const other = await chat(gateway, bob, { stream: true })
    expect(other.status).toBe(200)
    silence.remove()
    await open[0]?.body?.cancel()
    // The server notices the disconnect later.
    while ((await chat(gateway, ann, { stream: true })).status !== 200) await Bun.sleep(5)
    await open[1]?.body?.cancel()
  })
})

describe('request bodies', () => {
  test('with Content-Length above the limit are rejected before they are read', async () => {
    const { gateway, ann, bob } = await started({ maxUnreadBodyBytes: 3_000, user: { maxUnreadBodyBytes: 1_000 } })
    await using _ = gateway
    const slow = await stall(gateway, ann, 'content-length: 900', '{"model":')
    await untilHeld(gateway, 900)
    const second = await stall(gateway, ann, 'content-length: 500', ' '.repeat(100))
    expect(await answerOf(second)).toStartWith('HTTP/1.1 429 ')
    expect((await chat(gateway, bob)).status).toBe(200)
    slow.destroy()
    second.destroy()
    await untilHeld(gateway, 0)
    expect((await chat(gateway, ann, { user: 'u'.repeat(50) })).status).toBe(200)
  })

  test('in chunks are rejected when they exceed the limit', async () => {
    const { gateway, ann } = await started({ user: { maxUnreadBodyBytes: 1_000 } })
    await using _ = gateway
    const chunk = `200\r\n${' '.repeat(512)}\r\n`
    const growing = await stall(gateway, ann, 'transfer-encoding: chunked', chunk)
    await untilHeld(gateway, 512)
    growing.write(chunk)
    expect(await answerOf(growing)).toStartWith('HTTP/1.1 429 ')
    growing.destroy()
    expect((await chat(gateway, ann)).status).toBe(200)
  })

  test('of all requests together receive 503 above the total limit', async () => {
    const { gateway, ann, bob } = await started({ maxUnreadBodyBytes: 1_000 })
    await using _ = gateway
    const slow = await stall(gateway, ann, 'content-length: 900', ' '.repeat(100))
    await untilHeld(gateway, 900)
    const refused = await chat(gateway, bob, { user: 'u'.repeat(50) })
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    slow.destroy()
  })
})

test('a host app can wrap its handler with the limits', async () => {
  const limits = concurrencyLimits({ user: { maxRequests: 1 } })
  const store = { ownerOf: async () => ({ user: 'ann', token: 't' }), revision: async () => 1 }
  const going = Promise.withResolvers<string>()
  const app = new Elysia().use(apiToken({ store })).get('/', () => going.promise, { token: true })
  const handle = limits.limited((request) => app.handle(request))
  const ask = () => handle(new Request('http://localhost/', { headers: { authorization: 'Bearer sk-12345678' } }))
  const first = ask()
  const second = await ask()
  expect([second.status, second.headers.get('retry-after')]).toEqual([429, '1'])
  going.resolve('done')
  expect(await (await first).text()).toBe('done')
  expect([limits.counts(), limits.users()]).toMatchObject([{ requests: 0, streams: 0, bodyBytes: 0 }, 0])
})

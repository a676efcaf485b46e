import { describe, expect, test } from 'bun:test'
import { concurrencyLimits } from '../../plugins/concurrency-limits/index.ts'
import { responseOf } from '../../plugins/shared/http/body/known-body.ts'
import { requireIdentity } from '../../plugins/shared/identity/identify.ts'
import { maxPipelined } from '../../src/node-server/handle-request.ts'
import { repetitions } from '../support/repetitions.ts'
import { runtimes, startProgram } from './program.ts'
import { bufferedBytes, host, startTestServer } from './raw-connection.ts'

const get = `GET / HTTP/1.1\r\n${host}\r\n`
const large = new Uint8Array(bufferedBytes)
const pause = () => new Promise<void>((resolve) => setTimeout(resolve, 5))

/** Treats all callers as one user with a limit for buffered bytes. */
const limiting = (maxUnreadBodyBytes: number, body = () => responseOf(large, {})) => {
  const limits = concurrencyLimits({ user: { maxUnreadBodyBytes } })
  const handle = limits.limited(async (request) => {
    await requireIdentity(() => ({ user: 'ann' }), request)
    return body()
  })
  return { limits, handle }
}

describe('a response that the caller does not read', () => {
  test('is aborted after a timeout, and counts until then', async () => {
    const { limits, handle } = limiting(2 * large.length)
    await using served = await startTestServer(handle, { timeouts: { responseStallMs: 200 } })
    const connection = served.dial()
    connection.socket.pause()
    connection.write(get)
    while (limits.counts().bodyBytes === 0) await pause()
    expect(limits.counts().requests).toBe(0)
    expect(limits.users()).toBe(1)
    while (limits.counts().bodyBytes > 0) await pause()
    expect(limits.users()).toBe(0)
    connection.socket.resume()
    await connection.closed
  })

  test('counts while a stream waits, with the bytes that are buffered', async () => {
    const chunk = new Uint8Array(1_000_000)
    let remaining = 100
    const body = () =>
      new Response(
        new ReadableStream({
          async pull(controller) {
            await pause()
            if (remaining-- > 0) controller.enqueue(chunk)
            else controller.close()
          },
        }),
      )
    const { limits, handle } = limiting(2 * large.length, body)
    await using served = await startTestServer(handle, { timeouts: { responseStallMs: 200 } })
    const connection = served.dial()
    connection.socket.pause()
    connection.write(get)
    while (limits.counts().bodyBytes === 0) await pause()
    while (limits.counts().bodyBytes > 0) {
      expect(limits.counts().bodyBytes).toBeLessThan(3 * chunk.length)
      await pause()
    }
    expect(limits.users()).toBe(0)
    connection.socket.resume()
    await connection.closed
    expect(remaining).toBeGreaterThan(0)
  })

  test('is aborted when the user has too many of them', async () => {
    const { limits, handle } = limiting(large.length)
    await using served = await startTestServer(handle)
    const connections = Array.from({ length: 8 }, () => served.dial())
    for (const connection of connections) {
      connection.socket.pause()
      connection.write(get)
    }
    while (limits.counts().bodyBytes === 0) await pause()
    for (const connection of connections.slice(1)) {
      connection.socket.resume()
      await Promise.race([connection.closed, connection.until('never')]).catch(() => {})
    }
    expect(limits.counts().bodyBytes).toBeLessThanOrEqual(large.length)
    connections[0]?.socket.destroy()
    while (limits.counts().bodyBytes > 0) await pause()
  }, 300_000)

  test('reaches a slow reader', async () => {
    await using served = await startTestServer(() => new Response(large), { timeouts: { responseStallMs: 1_000 } })
    const connection = served.dial()
    let taken = 0
    connection.socket.on('data', (chunk: string) => {
      taken += chunk.length
      connection.socket.pause()
      setTimeout(() => connection.socket.resume(), 40)
    })
    connection.write(`GET / HTTP/1.1\r\n${host}Connection: close\r\n\r\n`)
    await connection.closed
    expect(taken).toBeGreaterThan(large.length)
  }, 300_000)
})

test('a connection that sends requests without reading responses is closed', async () => {
  let responded = 0
  await using served = await startTestServer(async () => {
    responded++
    await pause()
    return new Response('x'.repeat(50_000))
  })
  const connection = served.dial()
  connection.socket.pause()
  connection.write(get.repeat(10_000))
  while (responded === 0) await pause()
  connection.socket.resume()
  await connection.closed
  expect(responded).toBeLessThanOrEqual(2 * maxPipelined)
})

for (const [runtime, command] of repetitions(...Object.entries(runtimes))) {
  test(`${runtime} creates no further requests for it`, async () => {
    await using program = await startProgram(command, './pipelining-app.ts')
    const flood = program.dial(get.repeat(10_000))
    await flood.closed
    const { body } = await program.dial(get).readResponse()
    expect(Number(body)).toBeLessThan(100)
  })
}

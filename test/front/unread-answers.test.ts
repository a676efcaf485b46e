import { describe, expect, test } from 'bun:test'
import { concurrencyLimits } from '../../plugins/concurrency-limits/index.ts'
import { requireIdentity } from '../../plugins/shared/identify.ts'
import { maxPipelined } from '../../src/front.ts'
import { bufferedBytes, front, host } from './wire.ts'

const get = `GET / HTTP/1.1\r\n${host}\r\n`
const large = new Uint8Array(bufferedBytes)
const pause = () => new Promise<void>((resolve) => setTimeout(resolve, 5))

/** Everybody is one user, of whom so many bytes are held. */
const limiting = (maxUnreadBodyBytes: number) => {
  const limits = concurrencyLimits({ user: { maxUnreadBodyBytes } })
  const handle = limits.limited(async (request) => {
    await requireIdentity(() => ({ user: 'ann' }), request)
    return new Response(large)
  })
  return { limits, handle }
}

describe('an answer that its caller does not read', () => {
  test('is given up after a while, and counted until then', async () => {
    const { limits, handle } = limiting(2 * large.length)
    await using served = await front(handle, { times: { answerStallMs: 200 } })
    const wire = served.dial()
    wire.socket.pause()
    wire.write(get)
    while (limits.counts().bodyBytes === 0) await pause()
    expect(limits.counts().requests).toBe(0)
    expect(limits.users()).toBe(1)
    while (limits.counts().bodyBytes > 0) await pause()
    expect(limits.users()).toBe(0)
    wire.socket.resume()
    await wire.closed
  })

  test('is given up when its user has too many of them', async () => {
    const { limits, handle } = limiting(large.length)
    await using served = await front(handle)
    const wires = Array.from({ length: 8 }, () => served.dial())
    for (const wire of wires) {
      wire.socket.pause()
      wire.write(get)
    }
    while (limits.counts().bodyBytes === 0) await pause()
    for (const wire of wires.slice(1)) {
      wire.socket.resume()
      await Promise.race([wire.closed, wire.until('never')]).catch(() => {})
    }
    expect(limits.counts().bodyBytes).toBeLessThanOrEqual(large.length)
    wires[0]?.socket.destroy()
    while (limits.counts().bodyBytes > 0) await pause()
  }, 10_000)

  test('reaches one who reads slowly', async () => {
    await using served = await front(() => new Response(large), { times: { answerStallMs: 200 } })
    const wire = served.dial()
    let taken = 0
    wire.socket.on('data', (chunk: string) => {
      taken += chunk.length
      wire.socket.pause()
      setTimeout(() => wire.socket.resume(), 40)
    })
    wire.write(`GET / HTTP/1.1\r\n${host}Connection: close\r\n\r\n`)
    await wire.closed
    expect(taken).toBeGreaterThan(large.length)
  }, 60_000)
})

test('a connection that asks on and on without reading is closed', async () => {
  let answered = 0
  await using served = await front(async () => {
    answered++
    await pause()
    return new Response('x'.repeat(50_000))
  })
  const wire = served.dial()
  wire.socket.pause()
  wire.write(get.repeat(10_000))
  while (answered === 0) await pause()
  wire.socket.resume()
  await wire.closed
  expect(answered).toBeLessThanOrEqual(2 * maxPipelined)
})

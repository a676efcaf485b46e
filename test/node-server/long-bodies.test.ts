import { expect, test } from 'bun:test'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { createCoarseTimers } from '../../plugins/shared/background/coarse-timers.ts'
import { turns as nextTurns } from '../../plugins/shared/background/turns.ts'
import { readBytes } from '../../plugins/shared/http/body/body.ts'
import { createBody } from '../../src/node-server/body.ts'
import { listenBun } from '../../src/server/listen.ts'

const kib = 2 ** 10

/** The body of a request that is read, as a whole or as a stream. */
const openBody = (how: 'whole' | 'stream', length?: number) => {
  const incoming = new IncomingMessage(new Socket())
  const limits = { length, stallMs: 1_000, totalMs: 1_000, discard: { maxBytes: 100, ms: 1_000 } }
  const body = createBody(incoming, limits, createCoarseTimers(1_000), () => {})
  const read = how === 'whole' ? body.bytes() : Bun.readableStreamToBytes(body.stream())
  return { incoming, read }
}

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await setImmediate()
}

for (const how of ['whole', 'stream'] as const) {
  test(`a turn of the event loop reads at most 256 KiB of a body (${how})`, async () => {
    const { incoming, read } = openBody(how)
    await turns(2)
    expect(incoming.isPaused()).toBe(false)
    for (let chunk = 1; chunk <= 4; chunk++) {
      incoming.emit('data', new Uint8Array(64 * kib).fill(chunk))
      expect(incoming.isPaused()).toBe(chunk === 4)
    }
    while (incoming.isPaused()) await setImmediate()
    incoming.emit('end')
    const bytes = await read
    expect([bytes.length, bytes[0], bytes.at(-1)]).toEqual([256 * kib, 1, 4])
  })

  test.each([undefined, 256 * kib])(
    `of many long bodies, one is read on in a turn (${how}, length %p)`,
    async (length) => {
      const bodies = Array.from({ length: 40 }, () => openBody(how, length))
      await turns(2)
      for (const { incoming } of bodies) incoming.emit('data', new Uint8Array(256 * kib))
      const flowing = () => bodies.filter(({ incoming }) => !incoming.isPaused()).length
      let most = 0
      for (let before = flowing(); flowing() < bodies.length; ) {
        await setImmediate()
        most = Math.max(most, flowing() - before)
        before = flowing()
      }
      expect(most).toBeLessThanOrEqual(2)
      for (const { incoming } of bodies) incoming.emit('end')
      for (const { read } of bodies) expect(await read).toHaveLength(256 * kib)
    },
  )
}

test('a body that has arrived whole waits for no turn of the event loop', async () => {
  const incoming = new IncomingMessage(new Socket())
  const limits = { length: 3, stallMs: 1_000, totalMs: 1_000, discard: { maxBytes: 100, ms: 1_000 } }
  const reader = createBody(incoming, limits, createCoarseTimers(1_000), () => {})
    .stream()
    .getReader()
  let isRead = false
  const read = reader.read().then(({ value }) => {
    isRead = true
    return value
  })
  await turns(2)
  incoming.emit('data', new Uint8Array(3))
  await turns(2)
  expect(isRead).toBe(false)
  incoming.emit('end')
  expect(await read).toHaveLength(3)
})

test('a long body of Bun.serve is joined about a MiB in a turn', async () => {
  const http = { host: '127.0.0.1', port: 0, getBodies: false, maxBodyBytes: 2 ** 24 }
  let turnsOfRead = 0
  const handle = async (request: Request) => {
    const before = nextTurns.count
    const bytes = await readBytes(request, 2 ** 24)
    turnsOfRead = nextTurns.count - before
    return new Response(bytes?.every((byte, nth) => byte === nth % 251) ? String(bytes.length) : 'changed')
  }
  await using server = await listenBun(handle, { http, media: { segment: 'media' }, shared: false })
  const body = Uint8Array.from({ length: 2 ** 23 }, (_, nth) => nth % 251)
  expect(await (await fetch(server.url, { method: 'POST', body })).text()).toBe(String(body.length))
  expect(turnsOfRead).toBeGreaterThanOrEqual(7)
})

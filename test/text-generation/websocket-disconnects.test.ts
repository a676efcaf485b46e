import { expect, test } from 'bun:test'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Elysia } from 'elysia'
import { concurrencyLimits } from '../../plugins/concurrency-limits/index.ts'
import { textGeneration } from '../../plugins/text-generation/index.ts'
import { createNodeServer } from '../../src/node-server.ts'
import { listenBun } from '../../src/server/listen.ts'
import { until } from '../clients/fixture.ts'
import { repeats } from '../support/repetitions.ts'
import { Client } from './websocket-client.ts'

const clients = Number(process.env.SLUICE_DISCONNECTS ?? repeats(150, 500))
const atOnce = 25

/** Pseudo-random numbers with a fixed seed. */
const seededRandom = (seed: number) => () => {
  seed = (seed * 1_664_525 + 1_013_904_223) % 2 ** 32
  return seed / 2 ** 32
}

const event = (type: string, members: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`
const delta = event('response.output_text.delta', { item_id: 'm', delta: '语'.repeat(30) })

/** An upstream with the Responses API. `write` writes one response. */
const startUpstream = async (write: (response: ServerResponse) => Promise<void>) => {
  const open = new Set<ServerResponse>()
  const server = createServer((request, response) => {
    open.add(response)
    response.once('close', () => open.delete(response))
    request.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    void write(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    open,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

const appFor = (url: string) => {
  const app = new Elysia().use(textGeneration({ upstreams: [{ url }], identify: () => ({ user: 'ann' }) }))
  const limits = concurrencyLimits({ user: { maxStreams: 1_000, maxRequests: 1_000 } })
  return { limits, handle: limits.limited((request) => app.handle(request)) }
}

const http = { host: '127.0.0.1', port: 0, getBodies: false, maxBodyBytes: 2 ** 20 }
const fronts = {
  'node:http': (handle: Parameters<typeof listenBun>[0]) => createNodeServer(handle).listen(),
  'Bun.serve': (handle: Parameters<typeof listenBun>[0]) =>
    listenBun(handle, { http, media: { segment: 'media' }, shared: false }),
}

for (const [name, listen] of Object.entries(fronts)) {
  test(`${clients} clients that disconnect at random leave nothing behind, on ${name}`, async () => {
    const random = seededRandom(7)
    const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
    const upstream = await startUpstream(async (response) => {
      if (random() < 0.2) return
      response.write(event('response.created', { response: { id: 'resp_1' } }))
      for (let count = random() * 10; count > 0 && !response.destroyed; count--) {
        response.write(delta)
        await wait(random() * 3)
      }
      if (random() < 0.2) response.socket?.resetAndDestroy()
      else response.end(event('response.completed', { response: { id: 'resp_1', output: [] } }))
    })
    await using _ = upstream
    const { limits, handle } = appFor(upstream.url)
    await using server = await listen(handle)
    const unhandled: unknown[] = []
    const onUnhandled = (error: unknown) => unhandled.push(error)
    process.on('unhandledRejection', onUnhandled)
    const leave = async () => {
      const client = new Client(server.url, 'ann')
      if (random() < 0.1) await wait(random() * 2)
      else {
        await new Promise((resolve) => client.socket.once('open', resolve))
        for (let count = random() * 3; count > 0; count--)
          client.create({ model: 'm', input: 'x', ...(random() < 0.5 && { stream_id: String(count) }) })
        await wait(random() * 15)
      }
      if (random() < 0.3) client.socket.close()
      else client.socket.terminate()
    }
    for (let left = clients; left > 0; left -= atOnce) await Promise.all(Array.from({ length: atOnce }, leave))
    await until(() => {
      const { requests, streams, bodyBytes, waiting } = limits.counts()
      return requests + streams + bodyBytes + waiting === 0
    })
    await until(() => upstream.open.size === 0)
    expect([limits.users(), unhandled]).toEqual([0, []])
    process.off('unhandledRejection', onUnhandled)
  }, 300_000)

  test(`a peer that does not read stops the upstream, on ${name}`, async () => {
    const total = 2 ** 28
    let written = 0
    const big = event('response.output_text.delta', { item_id: 'm', delta: 'x'.repeat(2 ** 16) })
    const upstream = await startUpstream(async (response) => {
      while (written < total && !response.destroyed) {
        written += big.length
        if (!response.write(big)) await new Promise((resolve) => response.once('drain', resolve))
      }
    })
    await using _ = upstream
    await using server = await listen(appFor(upstream.url).handle)
    const client = await Client.open(server.url, 'ann')
    client.create({ model: 'm', input: 'x' })
    await client.next()
    client.socket.pause()
    // The upstream has stopped when nothing is written for some time.
    for (let before = -1; before !== written; await new Promise((resolve) => setTimeout(resolve, 500))) before = written
    expect(written).toBeGreaterThan(0)
    expect(written).toBeLessThan(total / 4)
    client.socket.terminate()
    await until(() => upstream.open.size === 0)
  }, 300_000)
}

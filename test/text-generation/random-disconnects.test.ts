import { expect, test } from 'bun:test'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { textGeneration } from '../../plugins/text-generation/index.ts'
import { createNodeServer } from '../../src/node-server.ts'
import { repeats } from '../support/repetitions.ts'
import { chunk } from './fixture.ts'

/** Number of clients. `SLUICE_DISCONNECTS=10000` makes it a soak test. */
const clients = Number(process.env.SLUICE_DISCONNECTS ?? repeats(300, 1_000))
const atOnce = 25

/** Pseudo-random numbers with a fixed seed. */
const seededRandom = (seed: number) => () => {
  seed = (seed * 1_664_525 + 1_013_904_223) % 2 ** 32
  return seed / 2 ** 32
}

/** An upstream that responds slowly in pieces, sometimes not at all, and sometimes breaks the connection. */
const startUpstream = async (random: () => number) => {
  const open = new Set<ServerResponse>()
  let asked = 0
  const server = createServer(async (request, response) => {
    asked++
    open.add(response)
    response.once('close', () => open.delete(response))
    request.resume()
    const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
    const choice = random()
    if (choice < 0.2) return
    await wait(random() * 10)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    if (choice < 0.3) return response.flushHeaders()
    const pieces = 5 + Math.floor(random() * 20)
    for (let piece = 0; piece < pieces && !response.destroyed; piece++) {
      const event = `data: ${JSON.stringify(chunk({ content: '语'.repeat(1 + random() * 40) }))}\n\n`
      const cut = Math.floor(random() * event.length)
      response.write(event.slice(0, cut))
      await wait(random() * 4)
      if (choice < 0.4 && piece === 3) return response.socket?.resetAndDestroy()
      response.write(event.slice(cut))
    }
    if (choice < 0.7) return
    response.end(`data: ${JSON.stringify(chunk({}, 'stop'))}\n\ndata: [DONE]\n\n`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    open,
    asked: () => asked,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/**
 * A client that disconnects at a random time in a random way.
 *
 * @param arrived resolves when the gateway has read the headers of its request, which some clients wait for
 */
const leave = (port: number, random: () => number, name: string, arrived: Promise<void>): Promise<void> =>
  new Promise((resolve) => {
    const responses = random() < 0.3
    const input = responses ? { input: 'hi' } : { messages: [{ role: 'user', content: 'hi' }] }
    const body = JSON.stringify({ model: 'm', stream: random() < 0.6, ...input })
    const socket = connect(port, '127.0.0.1', () => {
      const path = responses ? '/v1/responses' : '/v1/chat/completions'
      const head = `POST ${path} HTTP/1.1\r\nhost: gateway\r\ncontent-type: application/json\r\nx-client: ${name}\r\ncontent-length: ${body.length}\r\n\r\n`
      const choice = random()
      // Some disconnect before the request is complete.
      socket.write(choice < 0.1 ? (head + body).slice(0, -5) : head + body)
      const [waits, ms] = [random() < 0.8 && choice >= 0.1, random() * 60]
      const disconnect = () => {
        if (choice < 0.5) socket.resetAndDestroy()
        else if (choice < 0.8) socket.destroy()
        else socket.end(() => socket.resume())
      }
      void (waits ? arrived : Promise.resolve()).then(() => setTimeout(disconnect, ms))
    })
    if (random() < 0.3) socket.pause()
    else socket.resume()
    socket.on('error', () => {})
    socket.once('close', () => resolve())
  })

test(`${clients} clients that disconnect at random times leave no resources behind`, async () => {
  const random = seededRandom(7)
  const upstream = await startUpstream(random)
  const rejections: unknown[] = []
  const note = (reason: unknown) => rejections.push(reason)
  process.on('unhandledRejection', note)
  // Each request has a user of its own, so that a call that is recorded twice is seen.
  let requests = 0
  const waiting = new Map<string, () => void>()
  const recorded: string[] = []
  const app = textGeneration({
    upstreams: [{ url: upstream.url }],
    identify: ({ headers }) => {
      waiting.get(headers.get('x-client') ?? '')?.()
      return { user: `user-${requests++}` }
    },
    usage: {
      recordUsage: async ({ user }) => {
        recorded.push(user)
      },
    },
  })
  await using server = await createNodeServer(app).listen()

  const heap: number[] = []
  for (let round = 0; round * atOnce < clients; round++) {
    const leaving = Array.from({ length: atOnce }, (_, nth) => {
      const name = `${round}-${nth}`
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.set(name, resolve)
      return leave(server.port, random, name, promise).finally(() => waiting.delete(name))
    })
    await Promise.all(leaving)
    if (round % 10 === 0) {
      Bun.gc(true)
      heap.push(process.memoryUsage().rss)
    }
  }
  // Released resources disappear soon. A leak would last until the test's timeout.
  for (let tries = 0; upstream.open.size > 0 && tries < 200; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  expect(upstream.open.size).toBe(0)
  expect(rejections).toEqual([])
  expect(upstream.asked()).toBeGreaterThan(clients * 0.7)
  expect(recorded.length).toBeGreaterThan(clients * 0.5)
  expect(new Set(recorded).size).toBe(recorded.length)
  if (process.env.SLUICE_DISCONNECTS)
    console.log(`resident MB: ${heap.map((bytes) => Math.round(bytes / 2 ** 20)).join(' ')}`)

  process.off('unhandledRejection', note)
  upstream.close()
}, 300_000)

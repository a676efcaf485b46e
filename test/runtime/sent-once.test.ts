import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { repeatedRuntimes } from '../support/fronts.ts'
import type { ServerProcess } from '../support/server.ts'
import { openServerFixture, type ServerFixture } from '../support/server-fixture.ts'

const events = [
  '{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}',
  '[DONE]',
]
const stream = events.map((data) => `data: ${data}\n\n`).join('')
const chunkOf = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
const response = `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n${chunkOf(stream)}`

/** What happens to an upstream connection: after its first response (`later`), or instead of its second (`instead`). */
const endings: Readonly<Record<string, { later?: (socket: Socket) => void; instead?: (socket: Socket) => void }>> = {
  'stays open': {},
  'is closed at once': { later: (socket) => socket.end() },
  'is closed by a FIN instead of a second response': { instead: (socket) => socket.end() },
  'is destroyed instead of a second response': { instead: (socket) => socket.destroy() },
  'is reset instead of a second response': { instead: (socket) => socket.resetAndDestroy() },
  'ends within the head of a second response': { instead: (socket) => socket.end(response.slice(0, 20)) },
  'is reset within a second response': {
    instead: (socket) => socket.write(response.slice(0, -30), () => socket.resetAndDestroy()),
  },
  'ends within a second response': { instead: (socket) => socket.end(response.slice(0, -30)) },
  // At about the time of the next call.
  'is closed after a moment': { later: (socket) => void setTimeout(() => socket.end(), Math.random() * 4) },
  'is destroyed after a moment': { later: (socket) => void setTimeout(() => socket.destroy(), Math.random() * 4) },
  'is reset after a moment': { later: (socket) => void setTimeout(() => socket.resetAndDestroy(), Math.random() * 4) },
}

/** An upstream on raw sockets that counts the arriving calls. */
const startUpstream = async () => {
  let ending: (typeof endings)[string] = {}
  let connections = 0
  const arrived = new Map<string, number>()
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    connections++
    let text = ''
    let responded = 0
    socket.on('error', () => {})
    socket.on('end', () => socket.end())
    socket.on('data', (chunk) => {
      text += chunk
      const head = text.indexOf('\r\n\r\n')
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)
      if (head === -1 || text.length < head + 4 + length) return
      const [id = ''] = /call \d+/.exec(text) ?? []
      text = ''
      arrived.set(id, (arrived.get(id) ?? 0) + 1)
      if (responded++ > 0 && ending.instead) return ending.instead(socket)
      socket.write(response)
      // The end of the body follows its last event separately, as with most upstreams.
      setTimeout(() => {
        socket.write(chunkOf(''))
        ending.later?.(socket)
      }, 2)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    begin(name: string) {
      ending = endings[name] ?? {}
      connections = 0
      arrived.clear()
    },
    arrived,
    connections: () => connections,
    close: () => server.close(),
  }
}

for (const runtime of repeatedRuntimes) {
  describe(`a generation is sent once, on ${runtime}, when the upstream's connection`, () => {
    let fixture: ServerFixture
    let upstream: Awaited<ReturnType<typeof startUpstream>>
    let server: ServerProcess
    let token: string
    beforeAll(async () => {
      fixture = await openServerFixture()
      upstream = await startUpstream()
      server = await fixture.start({ TEXT_UPSTREAM_URL: upstream.url, TEXT_UPSTREAM_KEY: 'the-upstream-key' }, runtime)
      token = (await fixture.addUser('ann')).token
    }, 300_000)
    afterAll(async () => {
      await fixture[Symbol.asyncDispose]()
      upstream.close()
    })

    const ask = async (nth: number): Promise<number> => {
      const messages = [{ role: 'user', content: `call ${nth} ${'x'.repeat(nth % 3 === 0 ? 200_000 : 10)}` }]
      const asked = await fetch(`${server.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'm', messages }),
      })
      await asked.arrayBuffer()
      return asked.status
    }

    test.each(Object.keys(endings))(
      '%s',
      async (name) => {
        upstream.begin(name)
        const statuses: number[] = []
        // Calls in sequence, with or without a pause in which the gateway notices a closed connection.
        for (let nth = 0; nth < 12; nth++) {
          statuses.push(await ask(nth))
          await new Promise((resolve) => setTimeout(resolve, nth % 3 === 0 ? 20 : Math.random() * 4))
        }
        statuses.push(...(await Promise.all(Array.from({ length: 12 }, (_, nth) => ask(100 + nth)))))
        expect(new Set(upstream.arrived.values())).toEqual(new Set([1]))
        // A call that did not arrive has failed. A failed call may have arrived.
        expect(upstream.arrived.size).toBeGreaterThanOrEqual(statuses.filter((status) => status === 200).length)
        expect(statuses.filter((status) => status !== 200 && status !== 502)).toEqual([])
        if (name === 'is kept') expect(new Set(statuses)).toEqual(new Set([200]))
        if (name === 'is kept')
          expect(upstream.connections())[runtime === 'bun' ? 'toBeLessThanOrEqual' : 'toBe'](
            runtime === 'bun' ? 13 : 24,
          )
      },
      300_000,
    )
  })
}

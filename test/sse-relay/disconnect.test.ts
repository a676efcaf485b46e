import { describe, expect, test } from 'bun:test'
import type { ServerResponse } from 'node:http'
import { Elysia } from 'elysia'
import { sseRelay } from '../../plugins/sse-relay/index.ts'
import { recordUnhandledRejections } from '../support/unhandled-rejections.ts'
import { settled } from '../support/virtual-clock.ts'
import { Client, servers, upstream } from './servers.ts'

const unhandled = recordUnhandledRejections()

const begin = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' })

const unanswered = 'before the answer began'

/** The state of the upstream response when the client disconnects, and the text that the client has received. */
const phases: Readonly<Record<string, { answer: (response: ServerResponse) => void; mark?: string }>> = {
  [unanswered]: { answer: () => {} },
  'before the first event': { answer: (response) => begin(response).flushHeaders() },
  'while the upstream is silent': { answer: (response) => begin(response).write('data: 1\n\n'), mark: 'data: 1\n\n' },
  'in the middle of an event': {
    answer: (response) => begin(response).write('data: 1\n\ndata: '),
    mark: 'data: 1\n\n',
  },
  'in the middle of a stream': {
    answer: (response) => {
      begin(response)
      const timer = setInterval(() => response.write('data: 1\n\n'), 1)
      response.on('close', () => clearInterval(timer))
    },
    mark: 'data: 1\n\n',
  },
  'in the middle of another body': {
    answer: (response) => {
      response.writeHead(200, { 'content-type': 'text/plain' })
      response.write('x'.repeat(100_000))
    },
  },
}

interface Lost {
  lose(): void
}

const disconnects: Readonly<Record<string, (port: number, mark?: string) => Promise<Lost>>> = {
  'by a reset': async (port, mark) => {
    const client = new Client(port, '/')
    if (mark) await client.until(mark)
    return { lose: () => client.socket.resetAndDestroy() }
  },
  'by a FIN': async (port, mark) => {
    const client = new Client(port, '/')
    if (mark) await client.until(mark)
    return { lose: () => client.socket.destroy() }
  },
  'by a half-close': async (port, mark) => {
    const client = new Client(port, '/')
    if (mark) await client.until(mark)
    return { lose: () => client.socket.end() }
  },
  'by an abort of its fetch': async (port, mark) => {
    const caller = new AbortController()
    const asked = fetch(`http://127.0.0.1:${port}/`, { signal: caller.signal })
    asked.catch(() => {})
    if (mark) {
      const reader = (await asked).body?.getReader()
      await reader?.read()
      reader?.read().catch(() => {})
    }
    return { lose: () => caller.abort() }
  },
}

for (const [server, serve] of Object.entries(servers)) {
  for (const [phase, { answer, mark }] of Object.entries(phases)) {
    describe(`${server}, a client that disconnects ${phase}`, () => {
      for (const [how, ask] of Object.entries(disconnects)) {
        test(`${how}: the upstream call is aborted`, async () => {
          const asked = Promise.withResolvers<void>()
          const begun = Promise.withResolvers<void>()
          const left = Promise.withResolvers<void>()
          await using source = await upstream((_, response) => {
            response.on('close', left.resolve)
            answer(response)
            asked.resolve()
          })
          const app = new Elysia().use(sseRelay()).get('/', ({ relay }) =>
            relay(async (signal) => {
              const response = await fetch(source.url, { signal })
              begun.resolve()
              return response
            }),
          )
          await using served = await serve((request) => app.handle(request))
          const client = await ask(served.port, mark)
          await asked.promise
          if (phase !== unanswered) await begun.promise
          await settled()
          client.lose()
          await left.promise
        })
      }
    })
  }
}

test('there are no unhandled rejections', async () => {
  await new Promise<void>((resolve) => setTimeout(resolve, 50))
  expect(unhandled).toEqual([])
})

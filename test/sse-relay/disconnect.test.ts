import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { ServerResponse } from 'node:http'
import { Elysia } from 'elysia'
import { sseRelay } from '../../plugins/sse-relay/index.ts'
import { settled } from '../support/virtual-clock.ts'
import { Client, servers, upstream } from './servers.ts'

const unhandled: unknown[] = []
const note = (error: unknown) => {
  unhandled.push(error)
}
beforeAll(() => {
  process.on('unhandledRejection', note)
})
afterAll(() => {
  process.off('unhandledRejection', note)
})

const begin = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' })

const unanswered = 'before the answer began'

/** Where an upstream is when the client is lost, and what the client has heard by then. */
const phases: Readonly<Record<string, { answer: (response: ServerResponse) => void; mark?: string }>> = {
  [unanswered]: { answer: () => {} },
  'before the first event': { answer: (response) => begin(response).flushHeaders() },
  'in a silence': { answer: (response) => begin(response).write('data: 1\n\n'), mark: 'data: 1\n\n' },
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
  'in the middle of something that is no stream': {
    answer: (response) => {
      response.writeHead(200, { 'content-type': 'text/plain' })
      response.write('x'.repeat(100_000))
    },
  },
}

interface Lost {
  lose(): void
}

const ways: Readonly<Record<string, (port: number, mark?: string) => Promise<Lost>>> = {
  'by a reset': async (port, mark) => {
    const client = new Client(port, '/')
    if (mark) await client.until(mark)
    return { lose: () => client.socket.resetAndDestroy() }
  },
  'as it closes its connection': async (port, mark) => {
    const client = new Client(port, '/')
    if (mark) await client.until(mark)
    return { lose: () => client.socket.destroy() }
  },
  'as it stops talking': async (port, mark) => {
    const client = new Client(port, '/')
    if (mark) await client.until(mark)
    return { lose: () => client.socket.end() }
  },
  'as its fetch is aborted': async (port, mark) => {
    const gone = new AbortController()
    const asked = fetch(`http://127.0.0.1:${port}/`, { signal: gone.signal })
    asked.catch(() => {})
    if (mark) {
      const reader = (await asked).body?.getReader()
      await reader?.read()
      reader?.read().catch(() => {})
    }
    return { lose: () => gone.abort() }
  },
}

for (const [server, serve] of Object.entries(servers)) {
  for (const [phase, { answer, mark }] of Object.entries(phases)) {
    describe(`${server}, a client lost ${phase}`, () => {
      for (const [way, ask] of Object.entries(ways)) {
        test(`${way}: the upstream is left`, async () => {
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

test('nothing was left unhandled', async () => {
  await new Promise<void>((resolve) => setTimeout(resolve, 50))
  expect(unhandled).toEqual([])
})

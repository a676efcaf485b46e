import { describe, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import {
  errorResponse,
  errorStatus,
  readFirstEvent,
  readFrames,
  type SseRelayOptions,
  sseRelay,
} from '../../plugins/sse-relay/index.ts'
import { settled, VirtualClock } from '../support/virtual-clock.ts'
import { bodyOf } from './bodies.ts'

const ask = async (pieces: string[], options: SseRelayOptions = { firstEvent: errorResponse }) => {
  const headers = { 'content-type': 'text/event-stream', 'retry-after': '7', 'set-cookie': 'a=b' }
  const app = new Elysia()
    .use(sseRelay(options))
    .get('/', ({ relay }) => relay(async () => new Response(bodyOf(pieces), { headers })))
  const response = await app.handle(new Request('http://localhost/'))
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    headers: response.headers,
    text: await response.text(),
  }
}

describe('an error as the first event', () => {
  test('becomes a response with its status and the upstream’s message', async () => {
    const said = '{"error":{"message":"slow down","code":429}}'
    const response = await ask([': hello\n\n', `data: ${said}\n\n`, 'data: never\n\n'])
    expect(response).toMatchObject({ status: 429, type: 'application/json', text: said })
    expect([response.headers.get('retry-after'), response.headers.get('set-cookie')]).toEqual(['7', null])
  })

  const statuses: readonly [string, number][] = [
    ['event: error\ndata: {"message":"x"}\n\n', 502],
    ['event: error\ndata: not JSON\n\n', 502],
    ['data: {"type":"error","code":"server_error"}\n\n', 500],
    ['data: {"error":{"status":404}}\n\n', 404],
    ['data: {"error":{"code":"200"}}\n\n', 502],
    ['data: {"error":{"type":"rate_limit_error"}}\n\n', 429],
    ['data: {"error":"words"}\n\n', 502],
  ]
  for (const [event, status] of statuses) {
    test(`${JSON.stringify(event)} is ${status}`, async () => expect((await ask([event])).status).toBe(status))
  }

  test('is part of the stream by default', async () => {
    const event = 'event: error\ndata: {"message":"x"}\n\n'
    expect(await ask([event], {})).toMatchObject({ status: 200, text: event })
  })
})

describe('another first event', () => {
  test('passes with everything before it', async () => {
    const pieces = [': hello\n', 'retry: 5\n\n', 'data: 1\n\nda', 'ta: {"error":{"code":500}}\n\n', 'data: half']
    expect(await ask(pieces)).toMatchObject({
      status: 200,
      type: 'text/event-stream; charset=utf-8',
      text: pieces.join(''),
    })
  })

  test('is not required: a stream without events passes', async () => {
    expect(await ask([': hello\n\n'])).toMatchObject({ status: 200, text: ': hello\n\n' })
    expect(await ask([])).toMatchObject({ status: 200, text: '' })
  })

  test('can become a response, too', async () => {
    const response = await ask(['data: teapot\n\n'], { firstEvent: ({ data }) => new Response(data, { status: 418 }) })
    expect([response.status, response.text]).toEqual([418, 'teapot'])
  })
})

test('a stream that breaks before its first event is a missing response', async () => {
  const app = new Elysia().use(sseRelay({ firstEvent: errorResponse })).get('/', ({ relay }) =>
    relay(async () => {
      const body = new ReadableStream({ pull: (controller) => controller.error(new Error('ECONNRESET')) })
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
    }),
  )
  const response = await app.handle(new Request('http://localhost/'))
  expect([response.status, await response.text()]).toMatchObject([502, expect.stringContaining('upstream unavailable')])
})

test('after the maximum wait the stream starts, and a later first event is not lost', async () => {
  const clock = new VirtualClock()
  let send = (_: Uint8Array) => {}
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      send = (bytes) => controller.enqueue(bytes)
    },
  })
  const reading = readFirstEvent(readFrames(body), { maxWaitMs: 1_000, clock })
  await clock.pass(1_000)
  const first = await reading
  expect([first.event, first.ended, clock.pending]).toEqual([undefined, false, 0])
  const next = first.reader.next()
  send(new TextEncoder().encode('data: late\n\n'))
  expect((await next)?.map((frame) => frame.event?.data)).toEqual(['late'])
  await first.reader.cancel()
  await settled()
})

test('a status is derived from the error code and type', () => {
  expect(
    ['invalid_api_key', 'model_not_found', 'insufficient_quota', 'made up'].map((code) => errorStatus({ code })),
  ).toEqual([401, 404, 429, 502])
})

describe('the bytes before the first event', () => {
  /** An endless stream of comments of `size` bytes. */
  const commenting = (bytes: number) => {
    const state = { given: 0, cancelled: false }
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          if (state.given > 10_000_000) return controller.close()
          state.given += bytes
          controller.enqueue(new TextEncoder().encode(`:${'x'.repeat(bytes - 3)}\n\n`))
        },
        cancel() {
          state.cancelled = true
        },
      },
      { highWaterMark: 0 },
    )
    return { state, body }
  }

  test('are buffered up to a limit', async () => {
    for (const bytes of [4, 1_000, 100_000]) {
      const { state, body } = commenting(bytes)
      await expect(readFirstEvent(readFrames(body), { maxBytesBefore: 200_000 })).rejects.toThrow(
        'more than 200000 bytes',
      )
      expect(state.given).toBeLessThanOrEqual(200_000 + 2 * bytes)
    }
  })

  test('above the limit abort the upstream call', async () => {
    const { state, body } = commenting(100_000)
    const app = new Elysia()
      .use(sseRelay({ firstEvent: errorResponse }))
      .get('/', ({ relay }) =>
        relay(async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } })),
      )
    expect((await app.handle(new Request('http://localhost/'))).status).toBeGreaterThanOrEqual(500)
    expect(state.cancelled).toBe(true)
  })
})

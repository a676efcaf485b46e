import { describe, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { Problem } from '../../plugins/shared/problem.ts'
import { openStream, readFrames, relayFrames, type SseRelayOptions, sseRelay } from '../../plugins/sse-relay/index.ts'
import { settled, VirtualClock } from '../support/virtual-clock.ts'
import { bodyOf, bytesOf, ControlledBody } from './bodies.ts'
import { upstream } from './servers.ts'

const get = (app: { handle(request: Request): Response | Promise<Response> }, path = '/', signal?: AbortSignal) =>
  app.handle(new Request(`http://localhost${path}`, { signal }))

const events = (pieces: string[], headers: Record<string, string> = {}, status = 200) =>
  new Response(bodyOf(pieces), { status, headers: { 'content-type': 'text/event-stream', ...headers } })

const answering = (response: () => Response | Promise<Response>, options?: SseRelayOptions) =>
  new Elysia().use(sseRelay(options)).get('/', ({ relay }) => relay(async () => response()))

describe('in any Elysia app', () => {
  test('a stream is relayed byte for byte, without delay', async () => {
    const proceed = Promise.withResolvers<void>()
    await using source = await upstream(async (request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': 'r1', 'set-cookie': 'a=b' })
      response.write(`: ${request.url}\r\n\r\n`)
      await proceed.promise
      response.end('data: 1\n\ndata: half')
    })
    const url = `${source.url}/x?y`
    const app = new Elysia().use(sseRelay()).get('/x', ({ relay }) => relay((signal) => fetch(url, { signal })))
    const response = await get(app, '/x')
    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toEqual({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
      'x-request-id': 'r1',
      'x-upstream-request-id': 'r1',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
    })
    const reader = (response.body ?? new ReadableStream<Uint8Array>()).getReader()
    expect((await reader.read()).value).toEqual(bytesOf(': /x?y\r\n\r\n'))
    proceed.resolve()
    let rest = ''
    for (let read = await reader.read(); !read.done; read = await reader.read())
      rest += new TextDecoder().decode(read.value)
    expect(rest).toBe('data: 1\n\ndata: half')
  })

  test('`parse` reads the events, and `prepare` finishes with a long one before it is relayed', async () => {
    const long = 'x'.repeat(2 ** 17)
    const prepared: unknown[] = []
    const relayed: unknown[] = []
    const app = answering(() => events([`data: a\n\ndata: ${long}\n\n`]), {
      parse: (text) => ({ type: 'parsed', data: text.slice(6, 9) }),
      prepare: async ({ data }) => {
        await settled()
        prepared.push(data)
      },
      onFrame: ({ event }) => void relayed.push([event?.type, event?.data.trim(), prepared.length]),
    })
    expect((await (await get(app)).text()).length).toBe(long.length + 17)
    expect(relayed).toEqual([
      ['parsed', 'a', 1],
      ['parsed', 'xxx', 1],
    ])
  })

  test('streams are recognized by Content-Type and keep their status', async () => {
    for (const type of ['text/event-stream', 'Text/Event-Stream;charset=UTF-8', ' text/event-stream ; x=y']) {
      const response = await get(answering(() => events(['data: 1\n\n'], { 'content-type': type }, 201)))
      expect([response.status, response.headers.get('x-accel-buffering')]).toEqual([201, 'no'])
      expect(await response.text()).toBe('data: 1\n\n')
    }
  })

  test('other responses and errors pass unchanged, without internal headers', async () => {
    const answers: [Response, number, string][] = [
      [Response.json({ a: 1 }), 200, '{"a":1}'],
      [events(['data: no'], { 'retry-after': '3', server: 's' }, 429), 429, 'data: no'],
      [new Response('x', { headers: { 'content-type': 'text/event-streams' } }), 200, 'x'],
      [new Response(null, { status: 204, headers: { 'content-type': 'text/event-stream' } }), 204, ''],
      [new Response(null, { status: 304 }), 304, ''],
      [new Response('', { status: 307, headers: { location: 'http://elsewhere' } }), 307, ''],
    ]
    for (const [upstreamResponse, status, body] of answers) {
      const response = await get(answering(() => upstreamResponse))
      expect([response.status, await response.text()]).toEqual([status, body])
      expect(response.headers.get('content-type')).toBe(upstreamResponse.headers.get('content-type'))
      expect(response.headers.get('retry-after')).toBe(upstreamResponse.headers.get('retry-after'))
      for (const name of ['server', 'location', 'x-accel-buffering']) expect(response.headers.has(name)).toBe(false)
    }
  })

  test('an unreachable upstream is a 502 without details', async () => {
    const failures: (() => Response | Promise<Response>)[] = [
      () => fetch('http://127.0.0.1:1/secret'),
      () => {
        throw new Error('secret')
      },
      () => Response.error(),
    ]
    for (const failure of failures) {
      const response = await get(answering(failure))
      expect(response.status).toBe(502)
      expect(await response.json()).toMatchObject({ error: { message: 'upstream unavailable' } })
    }
  })

  test('a Problem of the callback is the response', async () => {
    const response = await get(answering(() => Promise.reject(new Problem(429, 'slow down'))))
    expect([response.status, await response.text()]).toEqual([429, expect.stringContaining('slow down')])
  })

  test('only routes of the plugin that uses it have `relay`', async () => {
    const third = new Elysia().use(sseRelay()).get('/third', ({ relay }) => relay(async () => events(['data: 3\n\n'])))
    const app = new Elysia().use(third).get('/beside', (context) => 'relay' in context)
    expect(await (await get(app, '/third')).text()).toBe('data: 3\n\n')
    expect(await (await get(app, '/beside')).text()).toBe('false')
  })

  test('several instances in one app use their own options', async () => {
    const marking = (mark: string) => sseRelay({ onEnd: () => bytesOf(`: ${mark}\n`) })
    const beside = (path: string, mark: string) =>
      new Elysia().use(marking(mark)).get(path, ({ relay }) => relay(async () => events(['data: 1\n\n'])))
    const app = new Elysia().use(beside('/one', 'first')).use(beside('/two', 'second'))
    const after = new Elysia()
      .use(marking('first'))
      .get('/one', ({ relay }) => relay(async () => events(['data: 1\n\n'])))
      .use(marking('second'))
      .get('/two', ({ relay }) => relay(async () => events(['data: 1\n\n'])))
    for (const either of [app, after]) {
      expect(await (await get(either, '/one')).text()).toBe('data: 1\n\n: first\n')
      expect(await (await get(either, '/two')).text()).toBe('data: 1\n\n: second\n')
    }
  })

  test('a call may override the options', async () => {
    const app = new Elysia()
      .use(sseRelay({ maxEventBytes: 4, onEnd: ({ kind }) => bytesOf(`: ${kind}\n`) }))
      .get('/plugin', ({ relay }) => relay(async () => events(['data: 1\n\n'])))
      .get('/call', ({ relay }) =>
        relay(async () => events(['data: 1\n\n']), { maxEventBytes: 9, onFrame: () => bytesOf('data: x\n\n') }),
      )
    expect(await (await get(app, '/plugin')).text()).toBe(': broken\n')
    expect(await (await get(app, '/call')).text()).toBe('data: x\n\n: complete\n')
  })

  test('invalid durations throw in the factory', () => {
    for (const ms of [0, -1, Number.NaN]) {
      expect(() => sseRelay({ heartbeatMs: ms })).toThrow(TypeError)
      expect(() => sseRelay({ maxSilenceMs: ms })).toThrow(TypeError)
      expect(() => relayFrames(readFrames(null), { heartbeatMs: ms })).toThrow(TypeError)
    }
  })
})

describe('the signal of the callback is aborted', () => {
  const startRelay = (options?: SseRelayOptions) => {
    const requestSignal = Promise.withResolvers<AbortSignal>()
    const upstreamResponse = Promise.withResolvers<Response>()
    const app = new Elysia().use(sseRelay(options)).get('/', ({ relay }) =>
      relay((signal) => {
        requestSignal.resolve(signal)
        return upstreamResponse.promise
      }),
    )
    return { requestSignal: requestSignal.promise, upstreamResponse, app }
  }
  const stream = (body: ControlledBody) => new Response(body.body, { headers: { 'content-type': 'text/event-stream' } })

  test('when the client disconnects before the response; a late response is cancelled', async () => {
    const { requestSignal, upstreamResponse, app } = startRelay()
    const caller = new AbortController()
    const response = get(app, '/', caller.signal)
    const signal = await requestSignal
    expect(signal.aborted).toBe(false)
    caller.abort()
    expect(signal.aborted).toBe(true)
    expect((await response).status).toBe(502)
    const body = new ControlledBody()
    upstreamResponse.resolve(stream(body))
    await settled()
    expect(body.cancelled).toHaveLength(1)
  })

  test('when the client disconnects during a stream, by signal or by cancelling the body', async () => {
    for (const way of ['signal', 'body']) {
      const { requestSignal, upstreamResponse, app } = startRelay()
      const caller = new AbortController()
      const body = new ControlledBody()
      upstreamResponse.resolve(stream(body))
      const response = await get(app, '/', caller.signal)
      if (way === 'signal') caller.abort()
      else await response.body?.cancel()
      expect((await requestSignal).aborted).toBe(true)
      await settled()
      expect(body.cancelled).toHaveLength(1)
    }
  })

  test('when the upstream is silent for too long', async () => {
    const clock = new VirtualClock()
    const { requestSignal, upstreamResponse, app } = startRelay({ maxSilenceMs: 1000, clock })
    upstreamResponse.resolve(stream(new ControlledBody()))
    const response = await get(app)
    const text = response.text()
    text.catch(() => {})
    await clock.pass(1000)
    await expect(text).rejects.toThrow('1000 ms')
    expect((await requestSignal).aborted).toBe(true)
  })

  test('but not after a complete response', async () => {
    const { requestSignal, upstreamResponse, app } = startRelay()
    upstreamResponse.resolve(events(['data: 1\n\n']))
    await (await get(app)).text()
    expect((await requestSignal).aborted).toBe(false)
  })

  test('but the callback is not called when the client has already disconnected', async () => {
    let requestSignal = 0
    const opening = openStream(
      async () => {
        requestSignal++
        return new Response()
      },
      { signal: AbortSignal.abort(new Error('gone')) },
    )
    await expect(opening).rejects.toThrow('upstream unavailable')
    expect(requestSignal).toBe(0)
  })
})

describe('openStream', () => {
  test('returns the response and its frames', async () => {
    const { response, reader } = await openStream(async () => events(['data: 1\n\n'], { 'x-a': 'b' }))
    expect(response.headers.get('x-a')).toBe('b')
    expect((await reader?.next())?.map(({ event }) => event?.data)).toEqual(['1'])
    expect(await reader?.next()).toBeUndefined()
  })

  test('does not read another body', async () => {
    const { response, reader } = await openStream(async () => Response.json(1))
    expect(reader).toBeUndefined()
    expect(await response.json()).toBe(1)
  })

  test('can be cancelled repeatedly', async () => {
    const body = new ControlledBody()
    let signal: AbortSignal | undefined
    const { reader, abort } = await openStream(async (given) => {
      signal = given
      return new Response(body.body, { headers: { 'content-type': 'text/event-stream' } })
    })
    const next = reader?.next()
    await abort('enough')
    await abort()
    await reader?.cancel()
    expect([await next, signal?.aborted, body.cancelled]).toEqual([undefined, true, ['enough']])
  })
})

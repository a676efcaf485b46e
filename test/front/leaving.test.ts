import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { front, host, json } from './wire.ts'

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

const bytes = (text: string) => new TextEncoder().encode(text)
const events = { headers: { 'content-type': 'text/event-stream' } }
const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })

describe('a caller who leaves is noticed', () => {
  test('before there is an answer', async () => {
    const left = Promise.withResolvers<void>()
    const wire = Promise.withResolvers<{ socket: { destroy(): void } }>()
    await using served = await front(async ({ signal }) => {
      ;(await wire.promise).socket.destroy()
      await aborted(signal)
      left.resolve()
      return new Response('too late')
    })
    const dialled = served.dial()
    dialled.write(`GET / HTTP/1.1\r\n${host}\r\n`)
    wire.resolve(dialled)
    await left.promise
  })

  test('in the middle of a stream, even one that is silent', async () => {
    const left = Promise.withResolvers<void>()
    await using served = await front(({ signal }) => {
      aborted(signal).then(left.resolve)
      return new Response(
        new ReadableStream({ start: (controller) => controller.enqueue(bytes('data: 1\n\n')) }),
        events,
      )
    })
    const wire = served.dial()
    wire.write(`GET / HTTP/1.1\r\n${host}\r\n`)
    await wire.until('data: 1')
    wire.socket.destroy()
    await left.promise
  })

  test('a stream that goes on is cancelled', async () => {
    const cancelled = Promise.withResolvers<void>()
    await using served = await front(
      () =>
        new Response(
          new ReadableStream({
            async pull(controller) {
              await new Promise<void>((resolve) => setImmediate(resolve))
              controller.enqueue(bytes('data: 1\n\n'))
            },
            cancel: () => cancelled.resolve(),
          }),
          events,
        ),
    )
    const wire = served.dial()
    wire.write(`GET / HTTP/1.1\r\n${host}\r\n`)
    await wire.until('data: 1')
    wire.socket.destroy()
    await cancelled.promise
  })

  /** A response with a stream that goes on for as long as it is read. */
  const endless = (cancelled: () => void) =>
    new Response(
      new ReadableStream({
        async pull(controller) {
          await new Promise<void>((resolve) => setImmediate(resolve))
          controller.enqueue(bytes('data: 1\n\n'))
        },
        cancel: cancelled,
      }),
      events,
    )

  test('before its stream began: the stream is cancelled', async () => {
    const cancelled = Promise.withResolvers<void>()
    const asked = Promise.withResolvers<void>()
    await using served = await front(async ({ signal }) => {
      asked.resolve()
      await aborted(signal)
      return endless(cancelled.resolve)
    })
    const wire = served.dial()
    wire.write(`GET / HTTP/1.1\r\n${host}\r\n`)
    await asked.promise
    wire.socket.destroy()
    await cancelled.promise
  })

  test('with the head of a stream, when that is all it asked for: the stream is cancelled', async () => {
    const cancelled = Promise.withResolvers<void>()
    await using served = await front(() => endless(cancelled.resolve))
    const wire = served.dial()
    wire.write(`HEAD / HTTP/1.1\r\n${host}\r\n`)
    await wire.until('text/event-stream')
    await cancelled.promise
  })

  test('in the middle of its own request: the app reads an error, or is not asked', async () => {
    const failed = Promise.withResolvers<unknown>()
    await using served = await front(async (request) => {
      await request.text().catch(failed.resolve)
      return new Response('whatever')
    })
    const posting = served.dial()
    posting.write(`POST / HTTP/1.1\r\n${host}Content-Length: 100\r\n\r\nhalf`)
    const getting = served.dial()
    getting.write(`GET / HTTP/1.1\r\n${host}${json}Content-Length: 100\r\n\r\n{`)
    await new Promise<void>((resolve) => setTimeout(resolve, 20))
    posting.socket.destroy()
    getting.socket.destroy()
    expect(await failed.promise).toBeInstanceOf(Error)
  })

  test('who stays is told nothing of the sort', async () => {
    const signals: AbortSignal[] = []
    await using served = await front((request) => {
      signals.push(request.signal)
      return Response.json(1)
    })
    const wire = served.dial()
    for (let request = 0; request < 20; request++) {
      wire.write(`GET / HTTP/1.1\r\n${host}\r\n`)
      await wire.answer()
    }
    wire.socket.destroy()
    await wire.closed
    expect(signals.filter(({ aborted }) => aborted)).toEqual([])
  })
})

describe('an answer that fails is cut off, never ended as if it were whole', () => {
  test('a stream that breaks', async () => {
    await using served = await front(
      () =>
        new Response(
          new ReadableStream({
            start: (controller) => controller.enqueue(bytes('data: 1\n\n')),
            pull: () => Promise.reject(new Error('upstream died')),
          }),
          events,
        ),
    )
    const wire = served.dial()
    wire.write(`GET / HTTP/1.1\r\n${host}\r\n`)
    await wire.until('data: 1')
    await wire.closed
    expect(wire.until('0\r\n\r\n')).rejects.toThrow('ended')
  })

  test('a handler that throws', async () => {
    await using served = await front(() => Promise.reject(new Error('secret')))
    const wire = served.dial()
    wire.write(`GET / HTTP/1.1\r\n${host}\r\n`)
    await wire.closed
  })

  test('none of all this was left unhandled', async () => {
    await new Promise<void>((resolve) => setTimeout(resolve, 20))
    expect(unhandled).toEqual([])
  })
})

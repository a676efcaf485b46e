import { describe, expect, test } from 'bun:test'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { waitForEvent } from '../../src/node-server/wait-until-sent.ts'
import { recordUnhandledRejections } from '../support/unhandled-rejections.ts'
import { host, json, startTestServer } from './raw-connection.ts'

const unhandled = recordUnhandledRejections()

const bytes = (text: string) => new TextEncoder().encode(text)
const events = { headers: { 'content-type': 'text/event-stream' } }
const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })

describe('a disconnect of the caller', () => {
  test('before the response aborts the signal', async () => {
    const left = Promise.withResolvers<void>()
    const connection = Promise.withResolvers<{ socket: { destroy(): void } }>()
    await using served = await startTestServer(async ({ signal }) => {
      ;(await connection.promise).socket.destroy()
      await aborted(signal)
      left.resolve()
      return new Response('too late')
    })
    const dialled = served.dial()
    dialled.write(`GET / HTTP/1.1\r\n${host}\r\n`)
    connection.resolve(dialled)
    await left.promise
  })

  test('during a stream aborts the signal, also while the stream is silent', async () => {
    const left = Promise.withResolvers<void>()
    await using served = await startTestServer(({ signal }) => {
      aborted(signal).then(left.resolve)
      return new Response(
        new ReadableStream({ start: (controller) => controller.enqueue(bytes('data: 1\n\n')) }),
        events,
      )
    })
    const connection = served.dial()
    connection.write(`GET / HTTP/1.1\r\n${host}\r\n`)
    await connection.until('data: 1')
    connection.socket.destroy()
    await left.promise
  })

  test('cancels a running stream', async () => {
    const cancelled = Promise.withResolvers<void>()
    await using served = await startTestServer(
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
    const connection = served.dial()
    connection.write(`GET / HTTP/1.1\r\n${host}\r\n`)
    await connection.until('data: 1')
    connection.socket.destroy()
    await cancelled.promise
  })

  /** A response with an endless stream. */
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

  test('before the start of the stream cancels the stream', async () => {
    const cancelled = Promise.withResolvers<void>()
    const asked = Promise.withResolvers<void>()
    await using served = await startTestServer(async ({ signal }) => {
      asked.resolve()
      await aborted(signal)
      return endless(cancelled.resolve)
    })
    const connection = served.dial()
    connection.write(`GET / HTTP/1.1\r\n${host}\r\n`)
    await asked.promise
    connection.socket.destroy()
    await cancelled.promise
  })

  test('a HEAD request cancels the stream', async () => {
    const cancelled = Promise.withResolvers<void>()
    await using served = await startTestServer(() => endless(cancelled.resolve))
    const connection = served.dial()
    connection.write(`HEAD / HTTP/1.1\r\n${host}\r\n`)
    await connection.until('text/event-stream')
    await cancelled.promise
  })

  test('during the request body makes the app’s read fail, or the app is not called', async () => {
    const failed = Promise.withResolvers<unknown>()
    await using served = await startTestServer(async (request) => {
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

  test.each(['Content-Length: 100\r\n\r\nhalf', 'Transfer-Encoding: chunked\r\n\r\nff\r\nhalf'])(
    'before the app reads the request body makes the read fail: %j',
    async (head) => {
      const asked = Promise.withResolvers<void>()
      const failed = Promise.withResolvers<unknown>()
      await using served = await startTestServer(async (request) => {
        asked.resolve()
        await aborted(request.signal)
        await request.text().catch(failed.resolve)
        return new Response('whatever')
      })
      const connection = served.dial()
      connection.write(`POST / HTTP/1.1\r\n${host}${head}`)
      await asked.promise
      connection.socket.destroy()
      expect(await failed.promise).toBeInstanceOf(Error)
    },
  )

  test('is not reported for completed requests', async () => {
    const signals: AbortSignal[] = []
    await using served = await startTestServer((request) => {
      signals.push(request.signal)
      return Response.json(1)
    })
    const connection = served.dial()
    for (let request = 0; request < 20; request++) {
      connection.write(`GET / HTTP/1.1\r\n${host}\r\n`)
      await connection.readResponse()
    }
    connection.socket.destroy()
    await connection.closed
    expect(signals.filter(({ aborted }) => aborted)).toEqual([])
  })
})

describe('a failed response is aborted and never looks complete', () => {
  test('a stream that breaks', async () => {
    await using served = await startTestServer(
      () =>
        new Response(
          new ReadableStream({
            start: (controller) => controller.enqueue(bytes('data: 1\n\n')),
            pull: () => Promise.reject(new Error('upstream died')),
          }),
          events,
        ),
    )
    const connection = served.dial()
    connection.write(`GET / HTTP/1.1\r\n${host}\r\n`)
    await connection.until('data: 1')
    await connection.closed
    await expect(connection.until('0\r\n\r\n')).rejects.toThrow('ended')
  })

  test('a handler that throws', async () => {
    await using served = await startTestServer(() => Promise.reject(new Error('secret')))
    const connection = served.dial()
    connection.write(`GET / HTTP/1.1\r\n${host}\r\n`)
    await connection.closed
  })

  test('there are no unhandled rejections', async () => {
    await new Promise<void>((resolve) => setTimeout(resolve, 20))
    expect(unhandled).toEqual([])
  })
})

test('waiting for a response ends at once if the caller has disconnected before, when no event follows', async () => {
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  response.destroy()
  await new Promise<void>((resolve) => void setImmediate(resolve))
  for (const event of ['drain', 'close'] as const) await waitForEvent(response, event)
})

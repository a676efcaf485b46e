import { describe, expect, test } from 'bun:test'
import { disconnectionOf } from '../../plugins/shared/http/disconnection.ts'
import { textGeneration } from '../../plugins/text-generation/index.ts'
import { callerOf, createUpstream, rest } from '../../plugins/upstream-proxy/index.ts'
import { host, startTestServer } from './raw-connection.ts'

/** A `fetch` without a response until its signal aborts. */
const silentUpstream = () => {
  const asked = Promise.withResolvers<void>()
  const aborted = Promise.withResolvers<unknown>()
  const fetch = (_url: string, { signal }: RequestInit) =>
    new Promise<Response>((_, reject) => {
      signal?.addEventListener('abort', () => {
        aborted.resolve(signal.reason)
        reject(signal.reason)
      })
      asked.resolve()
    })
  return { asked: asked.promise, aborted: aborted.promise, fetch }
}

const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] })
const chat = `POST /v1/chat/completions HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`

describe('the disconnection of a caller is told without a signal', () => {
  test('once, and not to listeners that were removed', async () => {
    const [arrived, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const told: string[] = []
    const seen: unknown[] = []
    await using served = await startTestServer((request) => {
      const disconnection = disconnectionOf(request)
      seen.push(disconnection === disconnectionOf(request), disconnection.aborted, disconnection.reason)
      const removed = { handleEvent: () => void told.push('removed') }
      const once = { handleEvent: () => void told.push('once') }
      for (const listener of [removed, once, once]) disconnection.addEventListener('abort', listener)
      disconnection.removeEventListener('abort', removed)
      disconnection.addEventListener('abort', {
        handleEvent() {
          seen.push(disconnection.aborted, String(disconnection.reason), request.signal.aborted)
          left.resolve()
        },
      })
      arrived.resolve()
      return new Promise<Response>(() => {})
    })
    const connection = served.dial()
    connection.write(`GET / HTTP/1.1\r\n${host}\r\n`)
    await arrived.promise
    connection.socket.destroy()
    await left.promise
    expect(told).toEqual(['once'])
    expect(seen).toEqual([true, false, undefined, true, 'AbortError: The operation was aborted.', true])
  })

  test('also to code that asks for it afterwards, and not after a completed response', async () => {
    const [arrived, left, asked] = [0, 0, 0].map(() => Promise.withResolvers<void>())
    const completed: boolean[] = []
    await using served = await startTestServer(async (request) => {
      if (request.url.endsWith('/completed')) {
        disconnectionOf(request).addEventListener('abort', { handleEvent: () => void completed.push(true) })
        return new Response('completed')
      }
      arrived?.resolve()
      request.signal.addEventListener('abort', () => left?.resolve())
      await left?.promise
      expect(disconnectionOf(request).aborted).toBe(true)
      asked?.resolve()
      return new Response('too late')
    })
    const connection = served.dial()
    connection.write(`GET /completed HTTP/1.1\r\n${host}\r\n`)
    await connection.readResponse()
    connection.write(`GET / HTTP/1.1\r\n${host}\r\n`)
    await arrived?.promise
    connection.socket.destroy()
    await asked?.promise
    expect(completed).toEqual([])
  })

  test('by the signal of a request of the runtime', () => {
    const request = new Request('http://localhost/')
    expect(disconnectionOf(request)).toBe(request.signal)
  })
})

describe('the upstream call ends when the caller disconnects', () => {
  test('of a chat completion without a stream', async () => {
    const upstream = silentUpstream()
    const upstreams = [{ url: 'http://upstream.invalid/v1' }]
    const app = textGeneration({ upstreams, identify: () => ({ user: 'ann' }), fetch: upstream.fetch })
    await using served = await startTestServer((request) => app.fetch(request))
    const connection = served.dial()
    connection.write(chat)
    await upstream.asked
    connection.socket.destroy()
    expect(String(await upstream.aborted)).toStartWith('AbortError')
  })

  // Lists and writes: test/routes/disconnect.test.ts.
  test('of a read of an asset', async () => {
    const upstream = silentUpstream()
    const kind = rest({ url: 'http://upstream.invalid', key: 'the-upstream-key' })
    const { send } = createUpstream({ kind, fetch: upstream.fetch })
    await using served = await startTestServer((request) =>
      send({ action: 'GetAsset', id: 'a' }, callerOf(request)).then(
        () => new Response('ok'),
        () => new Response('failed'),
      ),
    )
    const connection = served.dial()
    connection.write(`GET / HTTP/1.1\r\n${host}\r\n`)
    await upstream.asked
    connection.socket.destroy()
    expect(String(await upstream.aborted)).toStartWith('AbortError')
  })
})

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createServer, type Server, type Socket } from 'node:net'
import { noLog } from '../../plugins/shared/problem.ts'
import { connectionLost, fetchPooledPost } from '../../plugins/shared/upstream/fetch.ts'
import { createUpstreamClient } from '../../plugins/text-generation/upstream/client.ts'

let server: Server
let url: string
/** The number of the connection that each request came over. */
let seen: number[]
/** The requests that the server answers with a reset connection, by their number from 0. */
let lost: ReadonlySet<number>

beforeEach(async () => {
  seen = []
  lost = new Set()
  let connections = 0
  server = createServer((socket: Socket) => {
    const connection = ++connections
    socket.on('error', () => undefined)
    socket.on('data', () => {
      const number = seen.push(connection) - 1
      if (lost.has(number)) return void socket.resetAndDestroy()
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/v1`
})
afterEach(() => void server.close())

const post = async (): Promise<string> => {
  try {
    return await (await fetchPooledPost(url, { method: 'POST', body: '{}', keepalive: false })).text()
  } catch (error) {
    connectionLost(url, error)
    return String((error as { code?: string }).code)
  }
}
const posts = async (count: number): Promise<string[]> => {
  const results: string[] = []
  for (let number = 0; number < count; number++) results.push(await post())
  return results
}

test('requests share a connection until one is lost; then each has its own', async () => {
  lost = new Set([2])
  expect(await posts(6)).toEqual(['ok', 'ok', 'ECONNRESET', 'ok', 'ok', 'ok'])
  expect(seen).toEqual([1, 1, 1, 2, 3, 4])
})

test('the client of text generation does so, too', async () => {
  lost = new Set([1])
  const client = createUpstreamClient({ maxResponseBytes: 1_000, log: noLog })
  const { signal } = new AbortController()
  const request = { action: 'CreateChatCompletion', path: '', body: '{}', stream: false, signal } as const
  for (let number = 0; number < 5; number++) {
    const { response } = await client({ ...request, upstream: { url }, headers: new Headers() }).catch(() => ({
      response: undefined,
    }))
    await response?.text()
  }
  expect(seen).toEqual([1, 1, 2, 3, 4])
})

test('after a thousand of them, requests share a connection again', async () => {
  lost = new Set([0])
  await posts(1003)
  expect(new Set(seen.slice(1, 1001)).size).toBe(1000)
  expect(new Set(seen.slice(1001)).size).toBe(1)
})

test('a request that fails in another way changes nothing', async () => {
  connectionLost(url, new DOMException('the caller left', 'AbortError'))
  connectionLost(url, Object.assign(new Error('refused'), { code: 'ConnectionRefused' }))
  expect(await posts(3)).toEqual(['ok', 'ok', 'ok'])
  expect(seen).toEqual([1, 1, 1])
})

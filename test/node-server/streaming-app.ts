/** An app whose responses wait for other requests. As a program it listens on any runtime, and prints its port. */
import { Elysia, sse } from 'elysia'
import { createNodeServer } from '../../src/node-server.ts'

const encoder = new TextEncoder()
const nextTurn = () => new Promise<void>((resolve) => setTimeout(resolve, 0))

/** Resolves at the next `POST /next`. */
let next = Promise.withResolvers<void>()
let producedBytes = 0
let cancelled = 0
let aborted = 0

/** A stream of two lines. The second one waits for `POST /next`. */
async function* twoLines() {
  yield '{"line":1}\n'
  await next.promise
  yield '{"line":2}\n'
}

const bytesOf = (lines: AsyncIterable<string>): ReadableStream<Uint8Array> => {
  const iterator = lines[Symbol.asyncIterator]()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await iterator.next()
      if (done) controller.close()
      else controller.enqueue(encoder.encode(value))
    },
    cancel() {
      cancelled++
    },
  })
}

/** A stream of zeros in chunks of 64 KiB. */
const zeros = (bytes: number): ReadableStream<Uint8Array> => {
  let rest = bytes
  return new ReadableStream(
    {
      async pull(controller) {
        if (rest <= 0) return controller.close()
        await nextTurn()
        const chunk = new Uint8Array(Math.min(rest, 65_536))
        rest -= chunk.length
        producedBytes += chunk.length
        controller.enqueue(chunk)
      },
      cancel() {
        cancelled++
      },
    },
    { highWaterMark: 0 },
  )
}

const ndjson = { headers: { 'content-type': 'application/x-ndjson' } }

export const app = new Elysia()
  .post('/next', () => {
    next.resolve()
    next = Promise.withResolvers()
    return 'ok'
  })
  .get('/counts', () => ({ producedBytes, cancelled, aborted, memory: process.memoryUsage().rss }))
  .onRequest(({ request }) => request.signal.addEventListener('abort', () => aborted++))
  .get('/lines', () => new Response(bytesOf(twoLines()), ndjson))
  .get('/silent', async function* () {
    await next.promise
    yield 'late'
  })
  .get('/generator', twoLines)
  .get('/events', async function* () {
    yield sse({ data: '{"line":1}\n' })
    await next.promise
    yield sse({ data: '{"line":2}\n' })
  })
  .get('/quick-generator', async function* () {
    yield 'a'
    yield 'b'
  })
  .get('/failing', () => {
    const failing = async function* () {
      yield 'first\n'
      await next.promise
      throw new Error('a broken source')
    }
    return new Response(bytesOf(failing()), ndjson)
  })
  .get('/zeros/:length', ({ params }) => new Response(zeros(Number(params.length))))
  .get('/announced/:length/:actual', ({ params }) => {
    return new Response(zeros(Number(params.actual)), { headers: { 'content-length': params.length } })
  })
  // Without a route for HEAD, Elysia reads the body of GET to its end, to count its bytes.
  .head('/unknown-length', () => new Response(zeros(1_000_000)))
  .head('/known-length', () => new Response(zeros(1_000_000), { headers: { 'content-length': '1000000' } }))
  .get('/in-memory/:length', ({ params }) => new Response('x'.repeat(Number(params.length))))
  .get('/nothing', () => new Response(null, { status: 204, headers: { 'content-length': '5' } }))
  .post('/echo', ({ request }) => new Response(request.body as ReadableStream, ndjson), { parse: 'none' })
  .get('/fast-zeros', () => {
    const chunk = new Uint8Array(65_536)
    let chunks = 0
    return new Response(
      new ReadableStream({
        pull(controller) {
          producedBytes += chunk.length
          if (++chunks === 6_400) controller.close()
          else controller.enqueue(chunk)
        },
        cancel() {
          cancelled++
        },
      }),
    )
  })

if (import.meta.main) {
  const server = await createNodeServer(app, { timeouts: { responseStallMs: 1_000 } }).listen()
  console.log(`listening on ${server.port}`)
}

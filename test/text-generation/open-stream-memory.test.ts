import { expect, test } from 'bun:test'
import { textGeneration } from '../../plugins/text-generation/index.ts'

const event = (text: string) => `data: {"id":"c","choices":[{"index":0,"delta":{"content":"${text}"}}]}\n\n`

test('an open stream does not keep the body of its request in memory', async () => {
  const bodies: WeakRef<object>[] = []
  const app = textGeneration({
    upstreams: [{ url: 'http://upstream.invalid/v1', key: 'the-upstream-key' }],
    identify: () => ({ user: 'ann' }),
    fetch: async (_url, { body }) => {
      bodies.push(new WeakRef(body as object))
      const stream = new ReadableStream({
        start(controller) {
          for (const text of ['a', 'b', 'c']) controller.enqueue(Buffer.from(event(text)))
        },
      })
      return new Response(stream, { headers: { 'content-type': 'text/event-stream' } })
    },
  })
  // The gateway changes nothing in this request, so it sends the received bytes.
  const asked = { model: 'm', stream: true, max_tokens: 9, stream_options: { include_usage: true } }
  const open = async () => {
    const body = JSON.stringify({ ...asked, messages: [{ role: 'user', content: 'x'.repeat(100_000) }] })
    const headers = { authorization: 'Bearer x', 'content-type': 'application/json' }
    const request = new Request('http://localhost/v1/chat/completions', { method: 'POST', headers, body })
    const response = await app.handle(request)
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    for (let read = 0; read < 3; read++) await reader.read()
    return reader
  }
  const readers = await Promise.all(Array.from({ length: 20 }, open))
  for (let round = 0; round < 3; round++) {
    await new Promise<void>((resolve) => setTimeout(resolve, 1))
    Bun.gc(true)
  }
  // A conservative garbage collector may keep a few of them.
  expect(bodies.filter((body) => body.deref() !== undefined).length).toBeLessThan(5)
  for (const reader of readers) await reader.cancel()
})

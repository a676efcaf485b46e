import { expect, test } from 'bun:test'
import { attachBody } from '../../plugins/shared/http/body/body.ts'
import { textGeneration } from '../../plugins/text-generation/index.ts'

const event = (delta: object) => `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta }] })}\n\n`

/** A conservative garbage collector may keep a few bodies. */
const few = 5

/** Of 20 open streams, the number whose request body is in memory. */
const keptBodies = async (path: string, asked: object, chatOnly = false): Promise<number> => {
  const bodies: WeakRef<object>[] = []
  const app = textGeneration({
    upstreams: [{ url: 'http://upstream.invalid/v1', key: 'the-upstream-key', chatOnly }],
    identify: () => ({ user: 'ann' }),
    fetch: async () => {
      const stream = new ReadableStream({
        start(controller) {
          const call = { tool_calls: [{ index: 0, id: 'a', function: { name: 'n__f', arguments: '{' } }] }
          for (const delta of [{ content: 'a' }, { reasoning_content: 'b' }, call])
            controller.enqueue(Buffer.from(event(delta)))
        },
      })
      return new Response(stream, { headers: { 'content-type': 'text/event-stream' } })
    },
  })
  const open = async () => {
    let bytes: Uint8Array<ArrayBuffer> | undefined = new TextEncoder().encode(JSON.stringify(asked))
    bodies.push(new WeakRef(bytes.buffer))
    const headers = { 'content-type': 'application/json', 'content-length': String(bytes.length) }
    const request = new Request(`http://localhost/v1${path}`, { method: 'POST', headers })
    attachBody(request, async () => {
      const taken = bytes as Uint8Array<ArrayBuffer>
      bytes = undefined
      return taken
    })
    const reader = ((await app.handle(request)).body as ReadableStream<Uint8Array>).getReader()
    for (let read = 0; read < 3; read++) await reader.read()
    return reader
  }
  const readers = await Promise.all(Array.from({ length: 20 }, open))
  const keptNow = () => bodies.filter((body) => body.deref() !== undefined).length
  for (let round = 0; round < 20 && keptNow() >= few; round++) {
    await new Promise<void>((resolve) => setTimeout(resolve, 1))
    Bun.gc(true)
  }
  const kept = keptNow()
  for (const reader of readers) await reader.cancel()
  return kept
}

const content = 'x'.repeat(100_000)
const f = { type: 'function', name: 'f', parameters: {} }
test('an open stream does not keep the body of its request in memory', async () => {
  // The gateway changes nothing in this request, so it sends the received bytes.
  const unchanged = { model: 'm', stream: true, max_tokens: 9, stream_options: { include_usage: true } }
  expect(await keptBodies('/chat/completions', { ...unchanged, messages: [{ role: 'user', content }] })).toBeLessThan(
    few,
  )
  expect(await keptBodies('/responses', { model: 'm', stream: true, input: content })).toBeLessThan(few)
})

test('a bridged stream does not, either', async () => {
  const request = {
    model: 'm',
    stream: true,
    store: false,
    include: ['reasoning.encrypted_content'],
    tools: [{ type: 'namespace', name: 'n', description: '', tools: [f] }],
    input: [{ role: 'user', content }],
  }
  expect(await keptBodies('/responses', request, true)).toBeLessThan(few)
})

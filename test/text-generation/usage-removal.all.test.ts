/** Runs with `--all`: every split of a stream. chat-relay.test.ts removes usage from whole events. */
import { describe, expect, test } from 'bun:test'
import { chunk, openApp, usageChunk } from './fixture.ts'

const ask = { model: 'm', messages: [{ role: 'user', content: 'hi' }], stream: true }

describe('unrequested usage is removed completely, with every split of the stream', () => {
  for (const [name, end] of [
    ['LF', '\n'],
    ['CR', '\r'],
    ['CRLF', '\r\n'],
  ] as const) {
    test(name, async () => {
      const event = (data: object | string) =>
        `data: ${typeof data === 'string' ? data : JSON.stringify(data)}${end}${end}`
      const before = event(chunk({ role: 'assistant', content: 'x' })) + event(chunk({}, 'stop'))
      const dropped = event(usageChunk)
      const after = event('[DONE]')
      const bytes = new TextEncoder().encode(before + dropped + after)
      let body: ReadableStream<Uint8Array> | undefined
      const app = openApp(() => new Response(body, { headers: { 'content-type': 'text/event-stream' } }))
      let asked = 0
      // Every split around the dropped event with its last line end.
      for (let at = before.length - 3; at <= before.length + dropped.length + 3; at++) {
        const pieces = [bytes.subarray(0, at), bytes.subarray(at)]
        body = new ReadableStream<Uint8Array>({
          pull(controller) {
            const piece = pieces.shift()
            if (piece) controller.enqueue(piece)
            else controller.close()
          },
        })
        expect(await (await app.post('/chat/completions', ask)).text()).toBe(before + after)
        expect(app.usage).toHaveLength(++asked)
        expect(app.usage.at(-1)?.tokens).toMatchObject({ input: 3, output: 2 })
      }
    })
  }
})

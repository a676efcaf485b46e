import { describe, expect, test } from 'bun:test'
import type { TextObject, TextObjectStore } from '../../plugins/text-generation/index.ts'
import { settled, VirtualClock } from '../support/virtual-clock.ts'
import { chunk, dataOf, openApp, streaming, usageChunk } from './fixture.ts'
import { memoryLimits } from './limits-fixture.ts'

const messages = [{ role: 'user', content: 'hi' }]
const completion = [chunk({ role: 'assistant', content: 'Hi' }), chunk({}, 'stop')]
const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [] }
const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', status: 'in_progress', output: [] }
/** The final event has no output: only the event before it has the id of the item. */
const events = [
  { type: 'response.created', sequence_number: 0, response },
  { type: 'response.output_item.done', sequence_number: 1, output_index: 0, item },
  { type: 'response.completed', sequence_number: 2, response: { ...response, status: 'completed' } },
]
const chatOnly = [{ url: 'http://upstream.invalid/v1', chatOnly: true }]

describe('a stream ends after its last event, if the upstream keeps the connection open', () => {
  for (const [name, path, body, sent, last, options] of [
    ['chat', '/chat/completions', { messages }, [...completion, usageChunk, '[DONE]'], '[DONE]', {}],
    ['messages', '/messages', { messages, max_tokens: 9 }, [...completion, '[DONE]'], '{"type":"message_stop"}', {}],
    ['responses', '/responses', { input: 'hi' }, events, '[DONE]', {}],
    ['bridged', '/responses', { input: 'hi' }, [...completion, '[DONE]'], '[DONE]', { upstreams: chatOnly }],
    ['an error', '/chat/completions', { messages }, [completion[0], { error: { message: 'no' } }], undefined, {}],
  ] as const) {
    test(name, async () => {
      const clock = new VirtualClock()
      let cancelled = false
      const app = openApp(
        ({ signal }) => {
          const { body: stream, headers } = streaming(sent as (object | string)[], 'stall', signal)
          const reader = stream?.getReader()
          const kept = new ReadableStream<Uint8Array>({
            async pull(controller) {
              const read = await reader?.read()
              if (read?.value) controller.enqueue(read.value)
            },
            cancel: () => {
              cancelled = true
            },
          })
          return new Response(kept, { headers })
        },
        { clock, ...options },
      )
      const text = await (await app.post(path, { model: 'm', stream: true, ...body })).text()
      expect(dataOf(text).at(-1)).toBe(last ?? '{"error":{"message":"no"}}')
      expect(app.usage).toHaveLength(1)
      await clock.pass(1_000)
      await settled()
      expect(cancelled).toBe(true)
    })
  }

  test('and the ids of its items are recorded before', async () => {
    const recorded: string[] = []
    const objects: TextObjectStore = {
      async recordTextObjects(given: readonly TextObject[]) {
        recorded.push(...given.map(({ id }) => id))
        return []
      },
      findTextObject: async () => undefined,
      dueTextResponses: async () => [],
      deferTextResponse: async () => false,
      markUsageRecorded: async () => false,
      removeTextObject: async () => {},
      sweepTextObjects: async () => 0,
    }
    const app = openApp(({ signal }) => streaming(events, 'stall', signal), { objects })
    const { body } = await app.post('/responses', { model: 'm', input: 'hi', stream: true })
    const reader = body?.getReader()
    let text = ''
    while (!text.includes('[DONE]')) text += new TextDecoder().decode((await reader?.read())?.value)
    expect(recorded).toEqual(['resp_1', 'msg_1'])
  })

  for (const stream of [true, false]) {
    test(`what a limit books is what arrived (${stream ? 'stream' : 'no stream'})`, async () => {
      const used = async (ending: 'close' | 'stall') => {
        const limits = memoryLimits({ tokens: 10_000 })
        const app = openApp(({ signal }) => streaming([...completion, '[DONE]'], ending, signal), { limits })
        await (await app.post('/chat/completions', { model: 'm', messages, stream })).text()
        return limits.used.tokens
      }
      const [closed = 0, open] = [await used('close'), await used('stall')]
      expect(closed).toBeLessThan(32)
      expect(open).toBe(closed)
    })
  }
})

test('nothing passes after [DONE], and no part of an event', async () => {
  const done = [...completion, '[DONE]'].map((each) => (typeof each === 'string' ? each : JSON.stringify(each)))
  const sent = done.map((data) => `data: ${data}\n\n`).join('')
  for (const path of ['/chat/completions', '/messages']) {
    const rest = ': comment\n\ndata: more\n\ngarbage'
    const app = openApp(() => new Response(sent + rest, { headers: { 'content-type': 'text/event-stream' } }))
    const text = await (await app.post(path, { model: 'm', messages, max_tokens: 9, stream: true })).text()
    expect(text).not.toMatch(/comment|more|garbage/)
    expect(text).toEndWith('\n\n')
  }
})

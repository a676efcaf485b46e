import { describe, expect, test } from 'bun:test'
import { settled, VirtualClock } from '../support/virtual-clock.ts'
import { openApp, streaming } from './fixture.ts'

// What llama.cpp's server 0.7.0 sends. Its Responses API has events without `output_index`, `content_index` and
// `sequence_number`, its streams begin with `content: null`, and the codes of its errors are numbers.

const frame = { created: 1, id: 'chatcmpl-1', model: 'tiny', object: 'chat.completion.chunk' }
const chunk = (delta: object, finish: string | null = null) => ({
  choices: [{ finish_reason: finish, index: 0, delta }],
  ...frame,
})
const messages = [{ role: 'user', content: 'hi' }]
const started = { id: 'resp_1', object: 'response', status: 'in_progress' }
const message = { content: [], id: 'msg_1', role: 'assistant', status: 'in_progress', type: 'message' }
const call = { id: 'fc_1', call_id: 'call_1', name: 'ls', type: 'function_call' }
const part = { type: 'output_text', text: 'Hello there' }
const done = { type: 'output_text', annotations: [], logprobs: [], text: 'Hello there' }

const events = [
  { type: 'response.created', response: started },
  { type: 'response.in_progress', response: started },
  { type: 'response.output_item.added', item: message },
  { type: 'response.content_part.added', item_id: 'msg_1', part: { ...part, text: '' } },
  { type: 'response.output_text.delta', item_id: 'msg_1', delta: 'Hello' },
  { type: 'response.output_text.delta', item_id: 'msg_1', delta: ' there' },
  { type: 'response.output_item.added', item: { ...call, arguments: '', status: 'in_progress' } },
  { type: 'response.function_call_arguments.delta', delta: '{"n"', item_id: 'fc_1' },
  { type: 'response.function_call_arguments.delta', delta: ':6}', item_id: 'fc_1' },
  { type: 'response.output_text.done', item_id: 'msg_1', text: part.text },
  { type: 'response.content_part.done', item_id: 'msg_1', part: done },
  { type: 'response.output_item.done', item: { ...message, status: 'completed', content: [done] } },
  { type: 'response.output_item.done', item: { ...call, arguments: '{"n":6}', status: 'completed' } },
]

describe("llama.cpp's server", () => {
  test('its events without indexes give the same partial response at the time limit', async () => {
    for (const [count, types] of [
      [6, ['message']],
      // its calls are complete only at the end
      [9, ['message']],
      [13, ['message', 'function_call']],
    ] as const) {
      const clock = new VirtualClock()
      const app = openApp(({ signal }) => streaming(events.slice(0, count), 'stall', signal), { clock })
      const answering = app.post('/responses', { model: 'tiny', input: 'hi' })
      // bodies arrive in real time, independent of the virtual clock
      for (let turn = 0; turn < 20; turn++) await settled()
      await clock.pass(200_000)
      const json = (await (await answering).json()) as {
        output: readonly { type: string; content?: readonly object[] }[]
      }
      expect(json).toMatchObject({ id: 'resp_1', status: 'incomplete', model: 'tiny' })
      expect(json.output.map(({ type }) => type)).toEqual([...types])
      expect(json.output[0]?.content).toMatchObject([{ type: 'output_text', text: 'Hello there' }])
    }
  })

  test('its usage without details of the output is recorded', async () => {
    const usage = { input_tokens: 31, output_tokens: 3, total_tokens: 34, input_tokens_details: { cached_tokens: 30 } }
    const response = { ...started, created_at: 1, status: 'completed', model: 'tiny', output: [], usage }
    const app = openApp(() =>
      streaming([...events, { type: 'response.completed', response, timings: { cache_n: 30 } }]),
    )
    const { output: _, ...rest } = response
    expect(await (await app.post('/responses', { model: 'tiny', input: 'hi' })).json()).toMatchObject(rest)
    expect(app.usage[0]?.tokens).toMatchObject({ input: 31, cachedInput: 30, output: 3 })
  })

  test('its chat stream, which begins with null, gives a whole completion with its timings', async () => {
    const usage = { completion_tokens: 2, prompt_tokens: 31, total_tokens: 33 }
    const timings = { cache_n: 30, prompt_ms: 1.82 }
    const app = openApp(() =>
      streaming([
        chunk({ role: 'assistant', content: null }),
        chunk({ content: 'Hello' }),
        chunk({ content: ' there' }),
        chunk({}, 'length'),
        { choices: [], ...frame, usage, timings },
        '[DONE]',
      ]),
    )
    expect(await (await app.post('/chat/completions', { model: 'tiny', messages })).json()).toMatchObject({
      choices: [{ message: { role: 'assistant', content: 'Hello there' }, finish_reason: 'length' }],
      ...{ usage, timings },
    })
  })

  test('its errors pass with their number as code', async () => {
    const error = {
      code: 400,
      message: "llama.cpp does not support 'previous_response_id'.",
      type: 'invalid_request_error',
    }
    const app = openApp(() => Response.json({ error }, { status: 400 }))
    const response = await app.post('/chat/completions', { model: 'tiny', messages })
    expect([response.status, await response.json()]).toEqual([400, { error }])
  })
})

import { describe, expect, test } from 'bun:test'
import type { MessageStreamEvent } from '@anthropic-ai/sdk/resources/messages'
import { settled, VirtualClock } from '../support/virtual-clock.ts'
import { chunk, dataOf, streaming, usageChunk } from './fixture.ts'
import { minimal, openMessages } from './messages-fixture.ts'

const call = (index: number, name: string, args: string, id = `call_${index}`) => ({
  tool_calls: [{ index, id, type: 'function', function: { name, arguments: args } }],
})
const more = (index: number, args: string) => ({ tool_calls: [{ index, function: { arguments: args } }] })

/** The message that the client gets, without and with streaming; the two have to be equal. */
const message = async (chunks: readonly object[], request: object = {}) => {
  const { client } = openMessages(() => streaming([...chunks, '[DONE]']))
  const whole = await client.messages.create({ ...minimal, ...request })
  const streamed = await client.messages.stream({ ...minimal, ...request }).finalMessage()
  const { id, ...rest } = JSON.parse(JSON.stringify(streamed))
  expect(id).toStartWith('msg_')
  expect(rest).toMatchObject(withoutRandom(whole))
  return whole
}

/** Without the id, and with the signatures replaced: both are random. */
const withoutRandom = (value: object) =>
  JSON.parse(JSON.stringify(value), (key, member) => {
    if (key === 'signature') return expect.stringMatching(/^sluice-reasoning-1\./)
    return key === 'id' && String(member).startsWith('msg_') ? undefined : member
  })

/** The types of the events of a stream, with the index of the block. */
const eventsOf = async (chunks: readonly (object | string)[], request: object = {}) => {
  const app = openMessages(() => streaming(chunks))
  const text = await (await app.post('/messages', { ...minimal, stream: true, ...request })).text()
  const names = text.split('\n').flatMap((line) => (line.startsWith('event: ') ? [line.slice(7)] : []))
  const events = dataOf(text).map((data) => JSON.parse(data) as MessageStreamEvent & { error?: object })
  expect(events.map(({ type }) => type as string)).toEqual(names)
  return events
}

describe('A chat response becomes a message:', () => {
  test('text, with usage', async () => {
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 20,
      prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
      completion_tokens_details: { reasoning_tokens: 5 },
    }
    const chunks = [
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: 'Hel' }),
      chunk({ content: 'lo' }, 'stop'),
    ]
    const { content, usage: tokens, ...rest } = await message([...chunks, { ...usageChunk, usage }])
    expect(content).toEqual([{ type: 'text', text: 'Hello', citations: null }])
    expect(rest).toMatchObject({ type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn' })
    expect(tokens).toMatchObject({
      input_tokens: 30,
      cache_read_input_tokens: 60,
      cache_creation_input_tokens: 10,
      output_tokens: 20,
      output_tokens_details: { thinking_tokens: 5 },
    })
  })

  test('tool calls beside text', async () => {
    const chunks = [
      chunk({ content: 'I look' }),
      chunk(call(0, 'weather', '{"ci')),
      chunk(more(0, 'ty":"Rome"}'), 'tool_calls'),
    ]
    const { content, stop_reason } = await message(chunks)
    expect(content).toMatchObject([
      { type: 'text', text: 'I look' },
      { type: 'tool_use', id: 'call_0', name: 'weather', input: { city: 'Rome' } },
    ])
    expect(stop_reason).toBe('tool_use')
  })

  test('interleaved calls, a call without arguments and text among them', async () => {
    const chunks = [
      chunk(call(0, 'a', '{"x')),
      chunk(call(1, 'b', '')),
      chunk(more(1, '{"y":"}"')),
      chunk({ content: 'mean' }),
      chunk(more(0, '":[{}]}')),
      chunk({ content: 'while' }),
      chunk(more(1, '}')),
      chunk(call(2, 'c', '')),
      chunk({}, 'tool_calls'),
    ]
    const { content } = await message(chunks)
    expect(content).toMatchObject([
      { name: 'a', input: { x: [{}] } },
      { name: 'b', input: { y: '}' } },
      { type: 'text', text: 'meanwhile' },
      { name: 'c', input: {} },
    ])
  })

  test('reasoning, if the request asks for thinking', async () => {
    const chunks = [
      chunk({ reasoning_content: 'Let me' }),
      chunk({ reasoning: ' see' }),
      chunk({ content: 'Yes' }, 'stop'),
    ]
    const shown = await message(chunks, { thinking: { type: 'adaptive' } })
    expect(shown.content).toMatchObject([
      { type: 'thinking', thinking: 'Let me see', signature: expect.stringMatching(/^sluice/) },
      { type: 'text', text: 'Yes' },
    ])
    const omitted = await message(chunks, { thinking: { type: 'enabled', budget_tokens: 50, display: 'omitted' } })
    expect(omitted.content[0]).toMatchObject({ type: 'thinking', thinking: '' })
    for (const request of [{}, { thinking: { type: 'disabled' } }])
      expect((await message(chunks, request)).content).toMatchObject([{ type: 'text', text: 'Yes' }])
  })

  test('why it ended', async () => {
    const reason = async (finish: string, delta: object = { content: 'a' }, extra = {}) => {
      const end = chunk(delta, finish) as { choices: [object] }
      const { stop_reason, stop_sequence, stop_details } = await message(
        [{ ...end, choices: [{ ...end.choices[0], ...extra }] }],
        { stop_sequences: ['END'] },
      )
      return [stop_reason, stop_sequence, stop_details?.type]
    }
    expect(await reason('stop')).toEqual(['end_turn', null, undefined])
    expect(await reason('length')).toEqual(['max_tokens', null, undefined])
    expect(await reason('content_filter')).toEqual(['refusal', null, 'refusal'])
    expect(await reason('stop', { refusal: 'No' })).toEqual(['refusal', null, 'refusal'])
    expect(await reason('stop', call(0, 'a', '{}'))).toEqual(['tool_use', null, undefined])
    expect(await reason('tool_calls')).toEqual(['end_turn', null, undefined])
    expect(await reason('stop', undefined, { stop_reason: 'END' })).toEqual(['stop_sequence', 'END', undefined])
    expect(await reason('stop', undefined, { stop_reason: 'of the server' })).toEqual(['end_turn', null, undefined])
    expect(await reason('stop', undefined, { matched_stop: 151_645 })).toEqual(['end_turn', null, undefined])
  })

  test('a response without a stream', async () => {
    const completion = {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model: 'big',
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hello' } }],
      usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
    }
    const { client, usage } = openMessages(() => Response.json(completion))
    for (const whole of [await client.messages.create(minimal), await client.messages.stream(minimal).finalMessage()]) {
      expect(whole).toMatchObject({
        model: 'big',
        content: [{ text: 'Hello' }],
        usage: { input_tokens: 3, output_tokens: 2 },
      })
    }
    expect(usage).toMatchObject([{ model: 'm', tokens: { input: 3, output: 2 } }, { tokens: { input: 3 } }])
  })

  test('a call without id gets one, and so does the second of two calls with one id', async () => {
    const calls = [
      { index: 0, function: { name: 'a', arguments: '{}' } },
      { ...call(1, 'b', '{}', 'x').tool_calls[0] },
      { ...call(2, 'c', '{}', 'x').tool_calls[0] },
    ]
    const { client } = openMessages(() => streaming([chunk({ tool_calls: calls }, 'stop')]))
    const { content } = await client.messages.create(minimal)
    expect(content).toMatchObject([
      { name: 'a', id: expect.stringMatching(/^toolu_\w{32}$/) },
      { name: 'b', id: 'x' },
      { name: 'c', id: expect.stringMatching(/^toolu_\w{32}$/) },
    ])
  })

  test('arguments nested deeper than 200 are an error, also in one piece', async () => {
    const nested = (depth: number) => `${'{"a":'.repeat(depth - 1)}{}${'}'.repeat(depth - 1)}`
    const statusOf = async (args: string) => {
      const app = openMessages(() => streaming([chunk(call(0, 'f', args)), chunk({}, 'tool_calls'), '[DONE]']))
      return (await app.post('/messages', minimal)).status
    }
    expect(await statusOf(nested(200))).toBe(200)
    expect(await statusOf(nested(201))).toBe(502)
  })

  test('what follows the complete arguments of an earlier call is ignored', async () => {
    const { content } = await message([
      ...[chunk(call(0, 'f', '{"a":1}')), chunk(call(1, 'g', '{}')), chunk(more(0, ' x')), chunk({}, 'tool_calls')],
    ])
    expect(content).toMatchObject([
      { name: 'f', input: { a: 1 } },
      { name: 'g', input: {} },
    ])
  })

  test('arguments that are no JSON object are an error, unless the message was cut off', async () => {
    const half = [chunk({ content: 'a' }), chunk(call(0, 'f', '{"x":')), chunk(call(1, 'g', '{}'))]
    const answer = (finish: string) => openMessages(() => streaming([...half, chunk({}, finish)])).client
    const cut = await answer('length').messages.create(minimal)
    expect(cut).toMatchObject({ stop_reason: 'max_tokens', content: [{ text: 'a' }, { name: 'g' }] })
    const error = await answer('tool_calls')
      .messages.create(minimal)
      .catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ status: 502, type: 'api_error' })
  })
})

describe('The stream of a message', () => {
  test('has the events of the protocol in their order, and no [DONE]', async () => {
    const chunks = [
      chunk({ reasoning_content: 'hm' }),
      chunk({ content: 'a' }),
      chunk(call(0, 'f', '{}')),
      chunk({}, 'tool_calls'),
      usageChunk,
      '[DONE]',
    ]
    const events = await eventsOf(chunks, { thinking: { type: 'adaptive' } })
    expect(events.map((event) => ('index' in event ? `${event.type} ${event.index}` : event.type) as string)).toEqual([
      'message_start',
      'ping',
      'content_block_start 0',
      'content_block_delta 0',
      'content_block_delta 0',
      'content_block_stop 0',
      'content_block_start 1',
      'content_block_delta 1',
      'content_block_stop 1',
      'content_block_start 2',
      'content_block_delta 2',
      'content_block_stop 2',
      'message_delta',
      'message_stop',
    ])
    expect(events.at(-2)).toMatchObject({
      delta: { stop_reason: 'tool_use' },
      usage: { input_tokens: 3, output_tokens: 2 },
    })
  })

  test('sends text as it comes', async () => {
    const events = await eventsOf([chunk({ content: 'a' }), chunk({ content: 'b' }), chunk({}, 'stop')])
    const deltas = events.flatMap((event) => (event.type === 'content_block_delta' ? [event.delta] : []))
    expect(deltas).toEqual([
      { type: 'text_delta', text: 'a' },
      { type: 'text_delta', text: 'b' },
    ])
  })

  test('has a ping after each silence, also before its first event', async () => {
    const clock = new VirtualClock()
    const app = openMessages(({ signal }) => streaming([chunk({ reasoning_content: 'hidden' })], 'stall', signal), {
      clock,
      heartbeatMs: 1000,
    })
    const [response] = await Promise.all([
      app.post('/messages', { ...minimal, stream: true }),
      settled().then(() => clock.pass(1000)),
    ])
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    const read = async () => new TextDecoder().decode((await reader.read()).value)
    expect(await read()).toStartWith('event: message_start')
    for (let silence = 0; silence < 2; silence++) {
      const next = read()
      await clock.pass(1000)
      expect(await next).toBe('event: ping\ndata: {"type":"ping"}\n\n')
    }
    await reader.cancel()
  })

  test('that breaks off ends with an error event', async () => {
    const broken = {
      type: 'error',
      error: { type: 'api_error', message: 'upstream broke off its answer' },
      request_id: null,
    }
    for (const end of [[], ['[DONE]']])
      expect((await eventsOf([chunk({ content: 'a' }), ...end])).at(-1) as object).toEqual(broken)
  })

  test('ends with the error that the upstream sends', async () => {
    const error = { error: { message: 'too many', type: 'rate_limit_error', code: '429' } }
    const events = await eventsOf([chunk({ content: 'a' }), error, '[DONE]'])
    expect(events.at(-1) as object).toMatchObject({
      type: 'error',
      error: { type: 'rate_limit_error', message: 'too many' },
    })
    expect(events.some(({ type }) => type === 'message_stop')).toBe(false)
  })

  test('is the same however its bytes are split', async () => {
    const all = [chunk({ content: 'ä🌊' }), chunk(call(0, 'f', '{"a":"ü"}')), chunk({}, 'tool_calls'), usageChunk]
    const bytes = new TextEncoder().encode(all.map((data) => `data: ${JSON.stringify(data)}\r\n\r\n`).join(''))
    const texts = new Set<string>()
    for (const size of [1, 2, 3, 7, 64, bytes.length]) {
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
        bytes.slice(at * size, (at + 1) * size),
      )
      const body = new ReadableStream({ pull: (c) => (pieces.length > 0 ? c.enqueue(pieces.shift()) : c.close()) })
      const app = openMessages(() => new Response(body, { headers: { 'content-type': 'text/event-stream' } }))
      const text = await (await app.post('/messages', { ...minimal, stream: true })).text()
      texts.add(text.replaceAll(/msg_\w+/g, 'msg_'))
    }
    expect(texts.size).toBe(1)
  })
})

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { zodTextFormat } from 'openai/helpers/zod'
import { z } from 'zod'
import { type Emulator, startEmulator } from '../../src/emulator/index.ts'
import { clientOf, dataOf, MODEL, post } from './text-client.ts'

let emulator: Emulator
let client: ReturnType<typeof clientOf>

beforeAll(async () => {
  emulator = await startEmulator()
  client = clientOf(emulator)
})
afterAll(() => emulator.stop())

const WEATHER = {
  type: 'function',
  name: 'weather',
  strict: false,
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
} as const
const SEARCH = { type: 'web_search' } as const

const bodyOf = (input: unknown, more: object = {}) => ({ model: MODEL, input, ...more })
const send = (body: object) => post(emulator, '/responses', body)
const events = async (body: object) => dataOf((await send({ ...body, stream: true })).text)
/** Removes ids, which differ between calls. */
const bare = (value: unknown) => JSON.parse(JSON.stringify(value).replaceAll(/_[0-9a-f]{24}/g, ''))

const CASES: Readonly<Record<string, object>> = {
  'a message': bodyOf('hello 世界'),
  'a truncated message': bodyOf('hello', { max_output_tokens: 6 }),
  'reasoning and a message': bodyOf('hello', { reasoning: { effort: 'low' } }),
  'truncated reasoning': bodyOf('hello', { reasoning: { effort: 'low' }, max_output_tokens: 3 }),
  'a web search and a message': bodyOf('news', { tools: [SEARCH], reasoning: { effort: 'low' } }),
  'a refusal': bodyOf('refuse to answer'),
  'two tool calls': bodyOf('call weather, call weather', { tools: [WEATHER] }),
  'a truncated tool call': bodyOf('call weather', { tools: [WEATHER], max_output_tokens: 2 }),
  'a custom tool': bodyOf('call shell', { tools: [{ type: 'custom', name: 'shell' }] }),
  'log probabilities': bodyOf('hello', { include: ['message.output_text.logprobs'], top_logprobs: 2 }),
}

describe('responses', () => {
  for (const [name, body] of Object.entries(CASES)) {
    test(`the events of a stream add up to the non-streaming response: ${name}`, async () => {
      const plain = (await send(body)).json
      const seen = await events(body)
      expect(seen.map((event) => event.sequence_number)).toEqual(seen.map((_, index) => index))
      expect(seen.slice(0, 2).map((event) => event.type)).toEqual(['response.created', 'response.in_progress'])
      expect(seen[0].response).toMatchObject({ status: 'in_progress', output: [], usage: null })
      const { response, type } = seen.at(-1)
      expect(type).toBe(`response.${response.status}`)
      expect(bare({ ...response, created_at: 0 })).toEqual(bare({ ...plain, created_at: 0 }))
      expect(bare(assembled(seen))).toEqual(bare(plain.output))
      expect(seen.filter((event) => event.type.endsWith('.delta')).length).toBe(plain.usage.output_tokens)
    })

    test(`the helper of the official client assembles the stream: ${name}`, async () => {
      const made = await client.responses.stream(body as Parameters<typeof client.responses.stream>[0]).finalResponse()
      const plain = (await send(body)).json
      expect([made.status, made.usage?.total_tokens]).toEqual([plain.status, plain.usage.total_tokens])
      expect(made.output.map((item) => item.type)).toEqual(plain.output.map((item: { type: string }) => item.type))
    })
  }

  test('the events of a stream have names, and [DONE] is sent only with doneOnResponses', async () => {
    const { text, headers } = await send(bodyOf('hi', { stream: true }))
    expect(headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(text).toStartWith('event: response.created\ndata: {"type":"response.created","sequence_number":0,')
    expect(text).not.toContain('[DONE]')
    const other = await startEmulator({ text: { doneOnResponses: true } })
    expect((await post(other, '/responses', bodyOf('hi', { stream: true }))).text).toEndWith('data: [DONE]\n\n')
    await other.stop()
  })

  test('a response quotes the input: a string, messages, or messages with a `text` field', async () => {
    const said = async (input: unknown) => (await send(bodyOf(input))).json.output[0].content[0].text
    expect(await said('你好')).toContain('“你好”')
    const parts = [
      { type: 'input_text', text: 'one' },
      { type: 'input_image', image_url: 'https://a.example/b.png' },
    ]
    expect(
      await said([
        { role: 'system', content: 'x' },
        { role: 'user', content: parts },
      ]),
    ).toContain('“one”')
    expect(await said([{ role: 'user', text: 'short' }])).toContain('“short”')
  })

  test('a truncated response is incomplete and has the reason', async () => {
    const { json } = await send(bodyOf('hello', { max_output_tokens: 6 }))
    expect(json).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } })
    expect(json.output).toMatchObject([{ type: 'message', status: 'incomplete' }])
    expect(json.usage.output_tokens).toBe(6)
    const [call] = (await send(bodyOf('call weather', { tools: [WEATHER], max_output_tokens: 2 }))).json.output
    expect([call.status, call.arguments]).toEqual(['incomplete', '{"'])
  })

  test('a web search call precedes its message, which cites the result', async () => {
    const include = ['web_search_call.action.sources']
    const seen = await events(bodyOf('news', { tools: [SEARCH], include }))
    const states = seen.map((event) => event.type).filter((type) => type.includes('web_search'))
    expect(states).toEqual(
      ['in_progress', 'searching', 'completed'].map((state) => `response.web_search_call.${state}`),
    )
    const [search, message] = seen.at(-1).response.output
    expect(search).toMatchObject({ type: 'web_search_call', status: 'completed', action: { query: 'news' } })
    const [{ text, annotations }] = message.content
    const [{ start_index, end_index, ...cited }] = annotations
    expect(cited).toMatchObject({ type: 'url_citation', url: search.action.sources[0].url })
    expect(text.slice(start_index, end_index)).toBe('(emulated.example)')
  })

  test('the output of a tool call is quoted, in the same input and across responses', async () => {
    const first = await client.responses.create({ model: MODEL, input: 'call weather', tools: [WEATHER] })
    const [call] = first.output
    const call_id = call?.type === 'function_call' ? call.call_id : ''
    expect(call?.id).not.toBe(call_id)
    const output = { type: 'function_call_output', call_id, output: 'rain ☔' } as const
    const next = await client.responses.create({ model: MODEL, previous_response_id: first.id, input: [output] })
    expect(next.output_text).toContain('The tool answered: “rain ☔”. You wrote: “call weather”.')
    const given = { type: 'function_call', call_id: 'c', name: 'weather', arguments: '{}' }
    const whole = [{ role: 'user', content: 'hm' }, given, { ...output, call_id: 'c' }]
    expect((await send(bodyOf(whole))).json.output[0].content[0].text).toContain('“rain ☔”. You wrote: “hm”')
  })

  test('an unstored response cannot be continued', async () => {
    const first = (await send(bodyOf('hi', { store: false }))).json
    expect(await send(bodyOf('more', { previous_response_id: first.id }))).toMatchObject({
      ...{ status: 400 },
      json: { error: { param: 'previous_response_id', code: 'previous_response_not_found' } },
    })
  })

  test('tool calls and their outputs must match', async () => {
    const output = { type: 'function_call_output', call_id: 'nobody', output: 'x' }
    expect((await send(bodyOf([output]))).json.error.message).toBe(
      'No tool call found for function call output with call_id nobody.',
    )
    const first = (await send(bodyOf('call weather', { tools: [WEATHER] }))).json
    expect((await send(bodyOf('well?', { previous_response_id: first.id }))).json.error.message).toBe(
      `No tool output found for function call ${first.output[0].call_id}.`,
    )
  })

  test('structured output satisfies its schema', async () => {
    const format = zodTextFormat(
      z.object({ n: z.number().min(2), tag: z.literal('x'), list: z.array(z.string()).min(2) }),
      'a',
    )
    const made = await client.responses.parse({ model: MODEL, input: 'hi', text: { format } })
    expect(made.output_parsed).toMatchObject({ n: 2, tag: 'x' })
    expect(made.output_parsed?.list.length).toBe(2)
  })

  test('the response object has the parameters of the request', async () => {
    const given = {
      ...{ instructions: 'Be kind.', temperature: 0.5, metadata: { a: 'b' }, tools: [WEATHER], tool_choice: 'none' },
      ...{ parallel_tool_calls: false, max_output_tokens: 900, store: false, service_tier: 'flex' },
    }
    expect((await send(bodyOf('call weather', given))).json).toMatchObject({ ...given, status: 'completed' })
  })
})

/** Assembles the output from the events. It uses the `done` events only for fields without deltas. */
// biome-ignore lint/suspicious/noExplicitAny: it must not know the forms that it puts together
const assembled = (seen: readonly any[]) => {
  // biome-ignore lint/suspicious/noExplicitAny: as above
  const items: any[] = []
  for (const event of seen) {
    const item = items[event.output_index]
    if (item && event.item_id) expect(event.item_id).toBe(item.id)
    const [, name, what] = event.type.match(/^response\.(\w+)\.(\w+)$/) ?? []
    if (name === 'output_item' && what === 'added') items[event.output_index] = { ...event.item }
    else if (name === 'output_item') Object.assign(item, { ...event.item, ...ownOf(item) })
    else if (name === 'content_part' && what === 'added') item.content[event.content_index] = event.part
    else if (name === 'reasoning_summary_part' && what === 'added') item.summary[event.summary_index] = event.part
    else if (name === 'reasoning_summary_text' && what === 'delta')
      item.summary[event.summary_index].text += event.delta
    else if (name === 'refusal' && what === 'delta') item.content[event.content_index].refusal += event.delta
    else if (name === 'function_call_arguments' && what === 'delta') item.arguments += event.delta
    else if (name === 'custom_tool_call_input' && what === 'delta') item.input += event.delta
    else if (event.type === 'response.output_text.annotation.added') {
      item.content[event.content_index].annotations[event.annotation_index] = event.annotation
    } else if (name === 'output_text' && what === 'delta') {
      item.content[event.content_index].text += event.delta
      item.content[event.content_index].logprobs.push(...event.logprobs)
    } else if (what === 'done' && name === 'output_text') {
      expect(event.text).toBe(item.content[event.content_index].text)
    }
  }
  return items
}

// biome-ignore lint/suspicious/noExplicitAny: as above
const ownOf = ({ content, summary, arguments: args, input }: any) =>
  Object.fromEntries(
    Object.entries({ content, summary, arguments: args, input }).filter(([, value]) => value !== undefined),
  )

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

const ask = (input: unknown, more: object = {}) => ({ model: MODEL, input, ...more })
const asked = (body: object) => post(emulator, '/responses', body)
const events = async (body: object) => dataOf((await asked({ ...body, stream: true })).text)
/** Without what differs from call to call. */
const bare = (value: unknown) => JSON.parse(JSON.stringify(value).replaceAll(/_[0-9a-f]{24}/g, ''))

const CASES: Readonly<Record<string, object>> = {
  'a message': ask('hello 世界'),
  'a message cut off': ask('hello', { max_output_tokens: 6 }),
  'a thought and a message': ask('hello', { reasoning: { effort: 'low' } }),
  'a thought cut off': ask('hello', { reasoning: { effort: 'low' }, max_output_tokens: 3 }),
  'a search and a message': ask('news', { tools: [SEARCH], reasoning: { effort: 'low' } }),
  'a refusal': ask('refuse to answer'),
  'two calls': ask('call weather, call weather', { tools: [WEATHER] }),
  'a call cut off': ask('call weather', { tools: [WEATHER], max_output_tokens: 2 }),
  'a custom tool': ask('call shell', { tools: [{ type: 'custom', name: 'shell' }] }),
  probabilities: ask('hello', { include: ['message.output_text.logprobs'], top_logprobs: 2 }),
}

describe('responses', () => {
  for (const [name, body] of Object.entries(CASES)) {
    test(`a stream adds up to the plain answer: ${name}`, async () => {
      const plain = (await asked(body)).json
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

    test(`the helper of the official client takes it: ${name}`, async () => {
      const made = await client.responses.stream(body as Parameters<typeof client.responses.stream>[0]).finalResponse()
      const plain = (await asked(body)).json
      expect([made.status, made.usage?.total_tokens]).toEqual([plain.status, plain.usage.total_tokens])
      expect(made.output.map((item) => item.type)).toEqual(plain.output.map((item: { type: string }) => item.type))
    })
  }

  test('a stream names its events, and ends with [DONE] only where that is set', async () => {
    const { text, headers } = await asked(ask('hi', { stream: true }))
    expect(headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(text).toStartWith('event: response.created\ndata: {"type":"response.created","sequence_number":0,')
    expect(text).not.toContain('[DONE]')
    const other = await startEmulator({ text: { doneOnResponses: true } })
    expect((await post(other, '/responses', ask('hi', { stream: true }))).text).toEndWith('data: [DONE]\n\n')
    await other.stop()
  })

  test('an answer repeats the input, be it text, messages or short messages', async () => {
    const said = async (input: unknown) => (await asked(ask(input))).json.output[0].content[0].text
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

  test('what is cut off is incomplete and says why', async () => {
    const { json } = await asked(ask('hello', { max_output_tokens: 6 }))
    expect(json).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } })
    expect(json.output).toMatchObject([{ type: 'message', status: 'incomplete' }])
    expect(json.usage.output_tokens).toBe(6)
    const [call] = (await asked(ask('call weather', { tools: [WEATHER], max_output_tokens: 2 }))).json.output
    expect([call.status, call.arguments]).toEqual(['incomplete', '{"'])
  })

  test('a search comes before its message, which cites what was found', async () => {
    const include = ['web_search_call.action.sources']
    const seen = await events(ask('news', { tools: [SEARCH], include }))
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

  test('an output of a call is quoted, in one input and across responses', async () => {
    const first = await client.responses.create({ model: MODEL, input: 'call weather', tools: [WEATHER] })
    const [call] = first.output
    const call_id = call?.type === 'function_call' ? call.call_id : ''
    expect(call?.id).not.toBe(call_id)
    const output = { type: 'function_call_output', call_id, output: 'rain ☔' } as const
    const next = await client.responses.create({ model: MODEL, previous_response_id: first.id, input: [output] })
    expect(next.output_text).toContain('The tool answered: “rain ☔”. You wrote: “call weather”.')
    const given = { type: 'function_call', call_id: 'c', name: 'weather', arguments: '{}' }
    const whole = [{ role: 'user', content: 'hm' }, given, { ...output, call_id: 'c' }]
    expect((await asked(ask(whole))).json.output[0].content[0].text).toContain('“rain ☔”. You wrote: “hm”')
  })

  test('a response that was not stored cannot be continued', async () => {
    const first = (await asked(ask('hi', { store: false }))).json
    expect(await asked(ask('more', { previous_response_id: first.id }))).toMatchObject({
      ...{ status: 400 },
      json: { error: { param: 'previous_response_id', code: 'previous_response_not_found' } },
    })
  })

  test('calls and outputs must match', async () => {
    const output = { type: 'function_call_output', call_id: 'nobody', output: 'x' }
    expect((await asked(ask([output]))).json.error.message).toBe(
      'No tool call found for function call output with call_id nobody.',
    )
    const first = (await asked(ask('call weather', { tools: [WEATHER] }))).json
    expect((await asked(ask('well?', { previous_response_id: first.id }))).json.error.message).toBe(
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

  test('what the request said stands in the response', async () => {
    const given = {
      ...{ instructions: 'Be kind.', temperature: 0.5, metadata: { a: 'b' }, tools: [WEATHER], tool_choice: 'none' },
      ...{ parallel_tool_calls: false, max_output_tokens: 900, store: false, service_tier: 'flex' },
    }
    expect((await asked(ask('call weather', given))).json).toMatchObject({ ...given, status: 'completed' })
  })
})

/** Puts the output together from deltas, opening and closing items and parts, and trusts the closing ones only in what has no delta. */
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

import { describe, expect, test } from 'bun:test'
import { chunk, openApp, streaming } from './fixture.ts'

const upstreams = [{ url: 'http://upstream.invalid/v1', chatOnly: true }]
const summarizing = (text: string) => () =>
  streaming([chunk({ role: 'assistant', content: text }), chunk({}, 'stop'), { ...usage }, '[DONE]'])
const usage = {
  ...{ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [] },
  usage: { prompt_tokens: 30, completion_tokens: 5, total_tokens: 35 },
}

const input = [
  { role: 'developer', content: 'be brief' },
  { role: 'user', content: [{ type: 'input_text', text: 'what is in a.txt?' }] },
  { type: 'function_call', call_id: 'c1', name: 'read', arguments: '{"file":"a.txt"}' },
  { type: 'function_call_output', call_id: 'c1', output: 'a poem' },
  { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'A poem.' }] },
]

/** A compacted conversation, or an error. */
interface CompactionJson {
  readonly output: readonly [message: object, compaction: { readonly encrypted_content: string }]
  readonly error: { readonly param: string }
}

const open = (text = 'They read a poem.', options = {}) => {
  const app = openApp(summarizing(text), { upstreams, secrets: ['a secret of the test suite'], ...options })
  const post = async (path: string, body: object, headers = {}) => {
    const response = await app.post(path, body, { headers })
    const json: CompactionJson = JSON.parse(await response.text())
    return { status: response.status, json }
  }
  return { app, post, compact: (more: object = {}) => post('/responses/compact', { model: 'm', input, ...more }) }
}

describe('a conversation before an upstream with chat completions only', () => {
  test('is compacted to the messages of the user and an encrypted summary of the model', async () => {
    const { app, compact } = open()
    const { status, json } = await compact({
      instructions: 'You are a clerk.',
      tools: [{ type: 'function', name: 'read' }],
    })
    expect<unknown>([status, json]).toEqual([
      200,
      {
        id: expect.stringMatching(/^resp_/),
        object: 'response.compaction',
        created_at: expect.any(Number),
        output: [
          input[1],
          {
            id: expect.stringMatching(/^cmp_/),
            type: 'compaction',
            encrypted_content: expect.stringMatching(/^[\w.-]+$/),
          },
        ],
        usage: expect.objectContaining({ input_tokens: 30, output_tokens: 5, total_tokens: 35 }),
      },
    ])
    expect(JSON.stringify(json)).not.toContain('They read')
    const { messages, tools } = app.asked[0]?.json ?? {}
    expect(tools).toBeUndefined()
    expect(messages.map(({ role }: { role: string }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
    ])
    expect(messages[0].content).toContain('You are a clerk.')
    expect(messages.at(-1).content).toStartWith('Summarize this conversation.')
    expect(app.usage).toMatchObject([{ model: 'm', tokens: { input: 30, output: 5 } }])
  })

  test('continues with the summary in place of the rest', async () => {
    const { app, post, compact } = open()
    const { output } = (await compact()).json
    const { status } = await post('/responses', {
      model: 'm',
      input: [...output, { role: 'user', content: 'and b.txt?' }],
    })
    expect(status).toBe(200)
    expect(app.asked[1]?.json.messages).toEqual([
      { role: 'user', content: 'what is in a.txt?' },
      { role: 'user', content: 'Summary of the conversation so far:\n\nThey read a poem.' },
      { role: 'user', content: 'and b.txt?' },
    ])
    const again = (await post('/responses/compact', { model: 'm', input: output })).json
    expect(again.output).toHaveLength(2)
    expect(JSON.stringify(app.asked[2]?.json.messages)).toContain('They read a poem.')
  })

  test('may be a single text', async () => {
    const { compact } = open()
    const { output } = (await compact({ input: 'hello' })).json
    expect(output).toMatchObject([{ type: 'message', role: 'user', content: 'hello' }, { type: 'compaction' }])
  })

  test('is no conversation of another user, and its summary cannot be changed', async () => {
    const identify = ({ headers }: Request) => ({ user: headers.get('x-user') ?? 'ann' })
    const { app, post, compact } = open(undefined, { identify })
    const { output } = (await compact()).json
    const [message, item] = output
    const changed = { ...item, encrypted_content: `${item.encrypted_content.slice(0, -4)}AAAA` }
    for (const [compaction, headers] of [
      [item, { 'x-user': 'bob' }],
      [changed, {}],
      [{ ...item, encrypted_content: 'gAAAA-of-another-service' }, {}],
      [{ type: 'compaction' }, {}],
    ] as const) {
      const { status, json } = await post('/responses', { model: 'm', input: [message, compaction] }, headers)
      expect([status, json.error.param]).toEqual([400, 'input[1].encrypted_content'])
    }
    expect(app.asked).toHaveLength(1)
  })

  test('without a summary of the model is a 502', async () => {
    expect((await open(' ').compact()).status).toBe(502)
  })

  test('is checked as a request for a response is', async () => {
    for (const more of [
      { model: undefined },
      { input: 7 },
      { previous_response_id: 'resp_1' },
      { input: [{ type: 'odd' }] },
    ])
      expect([more, (await open().compact(more)).status]).toEqual([more, 400])
  })
})

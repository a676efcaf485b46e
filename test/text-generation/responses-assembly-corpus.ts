import { type Event, eventsOf, type Members, type StreamOptions, wire } from './responses-assembly-streams.ts'

/** A stream and its response. */
export interface Sample {
  readonly name: string
  readonly events: readonly Event[]
  readonly text: string
  readonly response: Members
  /** Why the result of OpenAI's client differs or is missing. */
  readonly official?: { readonly reason: string; readonly outcome: 'throws' | 'differs' }
}

/** A response with all members that strict clients require. */
export const response = (output: readonly Members[], more: Members = {}): Members => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1_700_000_000,
  status: 'completed',
  background: false,
  completed_at: 1_700_000_009,
  error: null,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  metadata: {},
  model: 'm-1',
  output,
  parallel_tool_calls: true,
  previous_response_id: null,
  reasoning: { effort: 'low', summary: null },
  store: true,
  temperature: 1,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_p: 1,
  truncation: 'disabled',
  usage: {
    input_tokens: 11,
    input_tokens_details: { cached_tokens: 2, cache_write_tokens: 0 },
    output_tokens: 7,
    output_tokens_details: { reasoning_tokens: 3 },
    total_tokens: 18,
  },
  user: null,
  ...more,
})

export const text = (words: string, more: Members = {}): Members => ({
  type: 'output_text',
  text: words,
  annotations: [],
  logprobs: [],
  ...more,
})

export const message = (content: readonly Members[], more: Members = {}): Members => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content,
  ...more,
})

export const call = (id: string, args: string, more: Members = {}): Members => ({
  id: `fc_${id}`,
  type: 'function_call',
  status: 'completed',
  call_id: `call_${id}`,
  name: 'look_up',
  arguments: args,
  ...more,
})

const logprob = (token: string) => ({
  token,
  logprob: -0.25,
  bytes: [...new TextEncoder().encode(token)],
  top_logprobs: [],
})
const hello = message([text('Hello there, you two.')])
const reasoning = {
  id: 'rs_1',
  type: 'reasoning',
  summary: [
    { type: 'summary_text', text: 'First I looked. ' },
    { type: 'summary_text', text: 'Then I leapt.' },
  ],
}
const mcp = (more: Members = {}) => ({
  id: 'mcp_1',
  type: 'mcp_call',
  status: 'completed',
  server_label: 'docs',
  name: 'search',
  arguments: '{"q": "a b"}',
  output: 'found it',
  error: null,
  approval_request_id: null,
  ...more,
})
const search = {
  id: 'ws_1',
  type: 'web_search_call',
  status: 'completed',
  action: { type: 'search', query: 'weather', queries: ['weather'] },
}
const files = {
  id: 'fs_1',
  type: 'file_search_call',
  status: 'completed',
  queries: ['a', 'b'],
  results: [{ file_id: 'f', filename: 'n', score: 0.5, text: 't', attributes: { a: 1 } }],
}
const code = {
  id: 'ci_1',
  type: 'code_interpreter_call',
  status: 'completed',
  container_id: 'cntr_1',
  code: 'print(1 + 1)\nprint("two words")',
  outputs: [{ type: 'logs', logs: '2\ntwo words\n' }],
}
const image = { id: 'ig_1', type: 'image_generation_call', status: 'completed', result: 'd2hvbGU=', size: '1024x1024' }
const shell = [
  {
    id: 'sh_1',
    type: 'shell_call',
    status: 'completed',
    call_id: 'call_sh',
    action: { commands: ['ls -l /', 'echo one two'], timeout_ms: 1000, max_output_length: null },
    environment: null,
  },
  {
    id: 'sho_1',
    type: 'shell_call_output',
    status: 'completed',
    call_id: 'call_sh',
    max_output_length: null,
    output: [
      { stdout: 'bin etc usr', stderr: '', outcome: { type: 'exit', exit_code: 0 } },
      { stdout: 'one two', stderr: 'oh no', outcome: { type: 'timeout' } },
    ],
  },
]
const tools = (more: Members = {}) => ({
  id: 'mcpl_1',
  type: 'mcp_list_tools',
  server_label: 'docs',
  tools: [{ name: 'search', input_schema: { type: 'object' } }],
  ...more,
})
const others = [
  {
    id: 'cc_1',
    type: 'computer_call',
    status: 'completed',
    call_id: 'call_cc',
    action: { type: 'click', button: 'left', x: 1, y: 2 },
    pending_safety_checks: [],
  },
  {
    id: 'ap_1',
    type: 'apply_patch_call',
    status: 'completed',
    call_id: 'call_ap',
    operation: { type: 'delete_file', path: 'a.txt' },
  },
  { id: 'mcpr_1', type: 'mcp_approval_request', server_label: 'docs', name: 'erase', arguments: '{}' },
]

const responses: readonly [name: string, response: Members, options?: StreamOptions][] = [
  ['a message', response([hello])],
  ['a message without text', response([message([text('')])])],
  ['a response without items', response([])],
  ['a message of several parts', response([message([text('One. '), text('Two.')])])],
  [
    'logprobs and annotations',
    response([
      message([
        text('Hi you', {
          logprobs: [logprob('Hi'), logprob(' you')],
          annotations: [
            { type: 'url_citation', url: 'https://a.example/', title: 'A', start_index: 0, end_index: 2 },
            { type: 'file_citation', file_id: 'f', filename: 'n', index: 1 },
          ],
        }),
      ]),
    ]),
  ],
  ['a refusal', response([message([{ type: 'refusal', refusal: 'I will not do that.' }])])],
  [
    'reasoning, in summary and in full, before a message',
    response([{ ...reasoning, content: [{ type: 'reasoning_text', text: 'Hm, well then.' }] }, hello]),
  ],
  ['reasoning, encrypted', response([{ ...reasoning, summary: [], encrypted_content: 'xyz' }, hello])],
  ['parallel calls', response([call('1', '{"a": 1, "b": "two words"}'), call('2', '{}'), call('3', '{"c": [1, 2]}')])],
  [
    'a custom tool',
    response([{ id: 'ctc_1', type: 'custom_tool_call', call_id: 'call_c', name: 'run', input: 'echo "a b"' }]),
  ],
  ['a call by MCP', response([tools(), mcp(), hello])],
  [
    'failed calls by MCP',
    response([tools({ tools: [], error: 'gone' }), mcp({ status: 'failed', output: null, error: 'no' })]),
  ],
  ['a web search', response([search, hello])],
  ['a file search', response([files, hello])],
  ['a code interpreter', response([code, hello])],
  ['an image', response([image])],
  ['a shell', response([...shell, hello])],
  ['a compaction', response([{ id: 'cmp_1', type: 'compaction', encrypted_content: 'abc' }, hello])],
  ['items with two events only', response(others)],
  [
    'the limit of tokens',
    response([message([text('As far as')], { status: 'incomplete' })], {
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      completed_at: null,
    }),
  ],
  [
    'a failure',
    response([message([text('Well')], { status: 'incomplete' })], {
      status: 'failed',
      error: { code: 'server_error', message: 'The model tripped.' },
      completed_at: null,
      usage: null,
    }),
  ],
  ['unknown members', response([{ ...hello, mood: { good: true } }], { vendor: { a: [1, { b: null }] } })],
]

const told: readonly Sample[] = responses.map(([name, response]) => sampleOf(name, eventsOf(response), response))

const untold: readonly Sample[] = responses
  .filter(([, { output }]) => (output as readonly unknown[]).length > 0)
  .map(([name, response]) => ({
    ...sampleOf(`${name}, its output not repeated at the end`, eventsOf(response, { withoutOutput: true }), response),
    official: {
      outcome: 'differs',
      reason: 'the client believes an empty output and forgets the items; it rebuilds only where the member is missing',
    },
  }))

function sampleOf(name: string, events: readonly Event[], response: Members): Sample {
  return { name, events, text: wire(events, 'data: [DONE]\n\n'), response }
}

const plain = response([hello])
const [created, working, ...rest] = eventsOf(plain) as [Event, Event, ...Event[]]
const without = (...types: readonly string[]) => eventsOf(plain).filter(({ type }) => !types.includes(type))

const odd: readonly Sample[] = [
  sampleOf(
    'queued, with keep-alive events',
    [
      created,
      { type: 'response.queued', response: { ...(created.response as Members), status: 'queued' } },
      { type: 'keepalive' },
      working,
      { type: 'keepalive' },
      ...rest,
    ],
    plain,
  ),
  {
    ...sampleOf('a queue at the very beginning', [{ ...created, type: 'response.queued' }, working, ...rest], plain),
    official: { outcome: 'throws', reason: 'the client requires response.created first' },
  },
  sampleOf(
    'audio and its transcript',
    [
      created,
      working,
      { type: 'response.audio.delta', delta: 'AAAA' },
      { type: 'response.audio.transcript.delta', delta: 'Hello ' },
      { type: 'response.audio.transcript.done' },
      { type: 'response.audio.done' },
      ...rest,
    ],
    plain,
  ),
  {
    ...sampleOf('an event of tomorrow', [created, { type: 'response.telepathy.delta', delta: '?' }, ...rest], plain),
    official: { outcome: 'throws', reason: 'the client stops at an unknown event type' },
  },
  {
    ...sampleOf('an item that was never announced', without('response.output_item.added'), plain),
    official: { outcome: 'throws', reason: 'the client requires every item announced' },
  },
  {
    ...sampleOf('a part that was never announced', without('response.content_part.added'), plain),
    official: { outcome: 'throws', reason: 'the client requires every part announced' },
  },
  sampleOf('nothing but the beginning and the end', [created, rest.at(-1) as Event], plain),
  {
    ...sampleOf('nothing but the end', [rest.at(-1) as Event], plain),
    official: { outcome: 'throws', reason: 'the client requires response.created first' },
  },
  {
    ...sampleOf(
      'another item_id in every event',
      eventsOf(plain).map((event, at) => ('item_id' in event ? { ...event, item_id: `other_${at}` } : event)),
      plain,
    ),
    official: { outcome: 'throws', reason: 'the client requires the id of the item that was announced' },
  },
  sampleOf(
    'events without numbers',
    eventsOf(plain).map((event) => ({ ...event, sequence_number: undefined })),
    plain,
  ),
  {
    ...sampleOf('names that are not the types', eventsOf(plain), plain),
    text: wire(eventsOf(plain), 'data: [DONE]\n\n').replaceAll(/^event: .*$/gm, 'event: message'),
  },
  {
    ...sampleOf('types that stand in the name alone', eventsOf(plain), plain),
    text: eventsOf(plain)
      .map(({ type, ...event }) => `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`)
      .join(''),
    official: { outcome: 'throws', reason: 'the client reads the type from the data only' },
  },
]

/** Streams with every event of the protocol, and invalid variants. */
export const corpus: readonly Sample[] = [...told, ...untold, ...odd]

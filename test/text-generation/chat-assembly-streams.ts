/** A stream of an upstream and its completion. */
export interface Recorded {
  /** Chunks as objects, or as JSON text where the spelling matters. Each is one event. `[DONE]` follows. */
  readonly chunks: readonly (object | string)[]
  /** The non-streaming completion, as an object or as JSON text. */
  readonly response: object | string
  /** Why the result of OpenAI's client differs. */
  readonly official?: string
}

const head = { id: 'chatcmpl-1', created: 1_700_000_000, model: 'doubao-1' }

const chunk = (choices: readonly object[], more: object = {}) => ({
  ...head,
  object: 'chat.completion.chunk',
  choices,
  ...more,
})

/** A chunk with one delta. */
const say = (
  delta: unknown,
  { index = 0, ...more }: { readonly index?: number; readonly [key: string]: unknown } = {},
) => chunk([{ index, delta, logprobs: null, finish_reason: null, ...more }])

const finish = (reason = 'stop', index = 0) => chunk([{ index, delta: {}, logprobs: null, finish_reason: reason }])

const start = say({ role: 'assistant', content: '', refusal: null })

const usage = {
  prompt_tokens: 9,
  completion_tokens: 12,
  total_tokens: 21,
  prompt_tokens_details: { cached_tokens: 4, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 5, audio_tokens: 0, accepted_prediction_tokens: 0 },
}

const response = (choices: readonly object[], more: object = {}) => ({
  ...head,
  object: 'chat.completion',
  choices,
  ...more,
})

const choice = (message: object, reason = 'stop', more: object = {}) => ({
  index: 0,
  message: { role: 'assistant', content: null, refusal: null, ...message },
  logprobs: null,
  finish_reason: reason,
  ...more,
})

/** A completion with one choice. */
const completionWith = (message: object, reason = 'stop', more: object = {}) =>
  response([choice(message, reason)], more)

const call = (id: string, name: string, text: string) => ({ id, type: 'function', function: { name, arguments: text } })

/** Deltas of tool calls. */
const calls = (...deltas: readonly object[]) => say({ tool_calls: deltas })

const token = (text: string, logprob: number) => ({
  token: text,
  logprob,
  bytes: [...new TextEncoder().encode(text)],
  top_logprobs: [{ token: text, logprob, bytes: null }],
})

const lastWins = 'it lets the last delta of a key that it does not know win'
const noIndex = 'it refuses deltas without an index'
const wholeText = 'it takes the text of pieces for the text of the whole'

export const streams: Readonly<Record<string, Recorded>> = {
  'plain text': {
    chunks: [start, say({ content: 'Hel' }), say({ content: 'lo' }), say({ content: ' world' }), finish()],
    response: completionWith({ content: 'Hello world' }),
  },
  'everything in one chunk': {
    chunks: [say({ role: 'assistant', content: 'Hi' }, { finish_reason: 'stop' })],
    response: completionWith({ content: 'Hi' }),
  },
  'an empty completion': { chunks: [start, finish()], response: completionWith({ content: '' }) },
  'a completion without content': {
    chunks: [say({ role: 'assistant' }), finish()],
    response: completionWith({ content: null }),
  },
  'three choices interleaved, the last one first': {
    chunks: [
      say({ role: 'assistant', content: 'c' }, { index: 2 }),
      say({ role: 'assistant', content: 'a' }),
      chunk([
        { index: 1, delta: { role: 'assistant', content: 'b' }, finish_reason: null },
        { index: 2, delta: { content: 'C' }, finish_reason: null },
      ]),
      finish('length', 1),
      say({ content: 'A' }),
      finish('stop', 2),
      finish('content_filter', 0),
    ],
    response: response([
      choice({ content: 'aA' }, 'content_filter'),
      { ...choice({ content: 'b' }, 'length'), index: 1 },
      { ...choice({ content: 'cC' }), index: 2 },
    ]),
  },
  'one tool call': {
    chunks: [
      say({ role: 'assistant', content: null }),
      calls({ index: 0, id: 'call_a', type: 'function', function: { name: 'weather', arguments: '' } }),
      calls({ index: 0, function: { arguments: '{"city":' } }),
      calls({ index: 0, function: { arguments: '"Paris"}' } }),
      finish('tool_calls'),
    ],
    response: completionWith({ tool_calls: [call('call_a', 'weather', '{"city":"Paris"}')] }, 'tool_calls'),
  },
  'parallel tool calls interleaved, beside text': {
    chunks: [
      start,
      say({ content: 'Let me see.' }),
      calls({ index: 1, id: 'call_b', type: 'function', function: { name: 'time', arguments: '{' } }),
      calls({ index: 0, id: 'call_a', type: 'function', function: { name: 'weather', arguments: '{"a":' } }),
      calls({ index: 1, function: { arguments: '"z":1}' } }, { index: 0, function: { arguments: '[1,' } }),
      calls({ index: 0, function: { arguments: '2]}' } }),
      finish('tool_calls'),
    ],
    response: completionWith(
      {
        content: 'Let me see.',
        tool_calls: [call('call_a', 'weather', '{"a":[1,2]}'), call('call_b', 'time', '{"z":1}')],
      },
      'tool_calls',
    ),
  },
  'tool calls in two choices': {
    chunks: [
      chunk([
        { index: 0, delta: { role: 'assistant', tool_calls: [{ index: 0, ...call('call_a', 'f', '{"n":') }] } },
        { index: 1, delta: { role: 'assistant', tool_calls: [{ index: 0, ...call('call_b', 'g', '{"m":') }] } },
      ]),
      chunk([
        { index: 1, delta: { tool_calls: [{ index: 0, function: { arguments: '2}' } }] }, finish_reason: 'tool_calls' },
        { index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: '1}' } }] }, finish_reason: 'tool_calls' },
      ]),
    ],
    response: response([
      choice({ tool_calls: [call('call_a', 'f', '{"n":1}')] }, 'tool_calls'),
      { ...choice({ tool_calls: [call('call_b', 'g', '{"m":2}')] }, 'tool_calls'), index: 1 },
    ]),
  },
  'later empty names and ids': {
    chunks: [
      say({ role: 'assistant', content: null }),
      calls({ index: 0, id: 'call_a', type: 'function', function: { name: 'f', arguments: '{"a"' } }),
      calls({ index: 0, id: '', type: '', function: { name: '', arguments: ':1' } }),
      calls({ index: 0, id: null, type: null, function: { name: null, arguments: '}' } }),
      calls({ index: 0, function: { arguments: null } }),
      finish('tool_calls'),
    ],
    response: completionWith({ tool_calls: [call('call_a', 'f', '{"a":1}')] }, 'tool_calls'),
  },
  'tool calls without an index, in pieces': {
    chunks: [
      say({ role: 'assistant', content: null }),
      calls({ id: 'call_a', type: 'function', function: { name: 'f', arguments: '{"a"' } }),
      calls({ function: { arguments: ':1}' } }),
      calls({ id: 'call_b', type: 'function', function: { name: 'g', arguments: '{"b"' } }),
      calls({ function: { arguments: ':2' } }),
      calls({ id: 'call_b', function: { arguments: '}' } }),
      calls({ id: 'call_a', function: { arguments: ' ' } }),
      finish('tool_calls'),
    ],
    response: completionWith(
      { tool_calls: [call('call_a', 'f', '{"a":1} '), call('call_b', 'g', '{"b":2}')] },
      'tool_calls',
    ),
    official: noIndex,
  },
  'tool calls without an index, whole and of the same function': {
    chunks: [
      say({ role: 'assistant', content: null }),
      calls(call('call_a', 'f', '{"a":1}'), call('call_b', 'f', '{"a":2}')),
      finish('tool_calls'),
    ],
    response: completionWith(
      { tool_calls: [call('call_a', 'f', '{"a":1}'), call('call_b', 'f', '{"a":2}')] },
      'tool_calls',
    ),
    official: noIndex,
  },
  'a tool call without an index, with another id in each delta': {
    chunks: [
      say({ role: 'assistant', content: null }),
      calls({ id: 'call_a', type: 'function', function: { name: 'f', arguments: '{"a"' } }),
      calls({ id: 'call_b', type: 'function', function: { arguments: ':1}' } }),
      finish('tool_calls'),
    ],
    response: completionWith({ tool_calls: [call('call_b', 'f', '{"a":1}')] }, 'tool_calls'),
    official: noIndex,
  },
  'tool calls that all have the first index': {
    chunks: [
      say({ role: 'assistant', content: null }),
      calls({ index: 0, ...call('call_a', 'f', '{"a":1}') }),
      calls({ index: 0, ...call('call_b', 'f', '{"a":') }),
      calls({ index: 0, function: { arguments: '2}' } }),
      finish('tool_calls'),
    ],
    response: completionWith(
      { tool_calls: [call('call_a', 'f', '{"a":1}'), call('call_b', 'f', '{"a":2}')] },
      'tool_calls',
    ),
    official: 'it makes one call of them, whose arguments are two objects',
  },
  'a tool call with its name in every delta, and braces in its text': {
    chunks: [
      say({ role: 'assistant', content: null }),
      calls({ index: 0, ...call('call_a', 'f', '{"a":"}') }),
      calls({ index: 0, ...call('call_a', 'f', '{"}') }),
      finish('tool_calls'),
    ],
    response: completionWith({ tool_calls: [call('call_a', 'f', '{"a":"}{"}')] }, 'tool_calls'),
  },
  'a tool call with an object as arguments': {
    chunks: [
      say({ role: 'assistant', content: null }),
      calls({ index: 0, id: 'call_a', type: 'function', function: { name: 'f', arguments: { a: [1] } } }),
      finish('tool_calls'),
    ],
    response: completionWith({ tool_calls: [call('call_a', 'f', '{"a":[1]}')] }, 'tool_calls'),
    official: 'it writes [object Object]',
  },
  'a custom tool': {
    chunks: [
      say({ role: 'assistant', content: null }),
      calls({ index: 0, id: 'call_a', type: 'custom', custom: { name: 'shell', input: '' } }),
      calls({ index: 0, custom: { input: 'ls -l ' } }),
      calls({ index: 0, custom: { name: '', input: '"$HOME"' } }),
      calls({ index: 1, ...call('call_b', 'f', '{}') }),
      finish('tool_calls'),
    ],
    response: completionWith(
      {
        tool_calls: [
          { id: 'call_a', type: 'custom', custom: { name: 'shell', input: 'ls -l "$HOME"' } },
          call('call_b', 'f', '{}'),
        ],
      },
      'tool_calls',
    ),
  },
  'a tool call with unknown members': {
    chunks: [
      say({ role: 'assistant', content: null }),
      calls({ index: 0, ...call('call_a', 'f', '{}'), extra_content: { google: { thought_signature: 'c2ln' } } }),
      calls({ index: 0, extra_content: null }),
      finish('tool_calls'),
    ],
    response: completionWith(
      {
        tool_calls: [{ ...call('call_a', 'f', '{}'), extra_content: { google: { thought_signature: 'c2ln' } } }],
      },
      'tool_calls',
    ),
    official: 'it lets null erase what it does not know',
  },
  'a deprecated function_call': {
    chunks: [
      say({ role: 'assistant', content: null, function_call: { name: 'f', arguments: '' } }),
      say({ function_call: { arguments: '{"a":' } }),
      say({ function_call: { name: '', arguments: '1}' } }),
      finish('function_call'),
    ],
    response: completionWith({ function_call: { name: 'f', arguments: '{"a":1}' } }, 'function_call'),
  },
  'log probabilities': {
    chunks: [
      start,
      say({ content: 'é' }, { logprobs: { content: [token('é', -0.25)], refusal: null } }),
      say({ content: 'ab' }, { logprobs: { content: [token('a', -1.5), token('b', -0.000001)], refusal: null } }),
      say({}, { logprobs: { content: [], refusal: null } }),
      finish(),
    ],
    response: response([
      choice({ content: 'éab' }, 'stop', {
        logprobs: { content: [token('é', -0.25), token('a', -1.5), token('b', -0.000001)], refusal: null },
      }),
    ]),
  },
  'a refusal with log probabilities': {
    chunks: [
      say({ role: 'assistant', refusal: '' }),
      say({ refusal: "I can't " }, { logprobs: { content: null, refusal: [token("I can't ", -0.5)] } }),
      say({ refusal: 'help.' }, { logprobs: { content: null, refusal: [token('help.', -0.75)] } }),
      finish(),
    ],
    response: response([
      choice({ refusal: "I can't help." }, 'stop', {
        logprobs: { content: null, refusal: [token("I can't ", -0.5), token('help.', -0.75)] },
      }),
    ]),
  },
  'structured output': {
    chunks: [start, say({ content: '{"name":' }), say({ content: '"Ann",' }), say({ content: '"age":7}' }), finish()],
    response: completionWith({ content: '{"name":"Ann","age":7}' }),
  },
  'reasoning before content': {
    chunks: [
      say({ role: 'assistant', content: null, reasoning_content: '' }),
      say({ reasoning_content: 'First ' }),
      say({ reasoning_content: 'think.', content: null }),
      say({ reasoning_content: null, content: 'Then ' }),
      say({ content: 'speak.' }),
      finish(),
    ],
    response: completionWith({ content: 'Then speak.', reasoning_content: 'First think.' }),
    official: lastWins,
  },
  'reasoning and content in one chunk': {
    chunks: [
      say({ role: 'assistant', reasoning: 'Hm', content: '' }),
      say({ reasoning: 'm.', content: 'Yes' }),
      say({ content: '.' }),
      finish(),
    ],
    response: completionWith({ content: 'Yes.', reasoning: 'Hmm.' }),
    official: lastWins,
  },
  'reasoning in one delta': {
    chunks: [say({ role: 'assistant', reasoning_content: 'All.' }), say({ content: 'Yes' }), finish()],
    response: completionWith({ content: 'Yes', reasoning_content: 'All.' }),
  },
  'audio split at groups of four': {
    chunks: [
      say({ role: 'assistant', audio: { id: 'audio_1', transcript: '' } }),
      say({ audio: { data: 'AQID' } }),
      say({ audio: { data: 'BAUGBwgJ', transcript: 'Good ' } }),
      say({ audio: { data: 'Cg==', transcript: 'day' } }),
      say({ audio: { expires_at: 1_700_003_600 } }),
      finish(),
    ],
    response: completionWith({
      audio: { id: 'audio_1', data: 'AQIDBAUGBwgJCg==', transcript: 'Good day', expires_at: 1_700_003_600 },
    }),
  },
  'audio split anywhere': {
    chunks: [
      say({ role: 'assistant', audio: { id: 'audio_1', data: 'A' } }),
      say({ audio: { data: 'QIDBA' } }),
      say({ audio: { data: '=', transcript: 'Hm' } }),
      say({ audio: { data: '=', expires_at: 1_700_003_600 } }),
      finish(),
    ],
    response: completionWith({
      audio: { id: 'audio_1', data: 'AQIDBA==', transcript: 'Hm', expires_at: 1_700_003_600 },
    }),
  },
  'audio in padded pieces': {
    chunks: [
      say({ role: 'assistant', audio: { id: 'audio_1', data: 'AQ==' } }),
      say({ audio: { data: 'AgM=' } }),
      say({ audio: { data: 'BAUG', transcript: 'Hm' } }),
      say({ audio: { data: 'B+8=', expires_at: 1_700_003_600 } }),
      finish(),
    ],
    response: completionWith({
      audio: { id: 'audio_1', data: 'AQIDBAUGB+8=', transcript: 'Hm', expires_at: 1_700_003_600 },
    }),
    official: wholeText,
  },
  'audio with expires_at at the end': {
    chunks: [
      say({ role: 'assistant', audio: { id: 'audio_1', data: 'AQID', transcript: 'Hm' } }),
      say({ audio: { expires_at: 1_700_003_600 } }),
      chunk([], { usage }),
    ],
    response: completionWith(
      { audio: { id: 'audio_1', data: 'AQID', transcript: 'Hm', expires_at: 1_700_003_600 } },
      'stop',
      {
        usage,
      },
    ),
  },
  'annotations in one delta': {
    chunks: [
      start,
      say({ content: 'See.' }),
      say({ annotations: [{ type: 'url_citation', url_citation: { url: 'https://a.example/' } }] }),
      finish(),
    ],
    response: completionWith({
      content: 'See.',
      annotations: [{ type: 'url_citation', url_citation: { url: 'https://a.example/' } }],
    }),
  },
  'annotations in several deltas': {
    chunks: [
      say({ role: 'assistant', content: 'See', annotations: [] }),
      say({ annotations: [{ type: 'url_citation', url_citation: { url: 'https://a.example/' } }] }),
      say({ content: '.', annotations: [{ type: 'url_citation', url_citation: { url: 'https://b.example/' } }] }),
      finish(),
    ],
    response: completionWith({
      content: 'See.',
      annotations: [
        { type: 'url_citation', url_citation: { url: 'https://a.example/' } },
        { type: 'url_citation', url_citation: { url: 'https://b.example/' } },
      ],
    }),
    official: lastWins,
  },
  'usage in a last chunk without choices': {
    chunks: [
      { ...start, usage: null },
      { ...say({ content: 'Hi' }), usage: null },
      { ...finish(), usage: null },
      chunk([], { usage }),
    ],
    response: completionWith({ content: 'Hi' }, 'stop', { usage }),
  },
  'growing usage in every chunk': {
    chunks: [1, 2, 3]
      .map((count) => ({ ...say({ role: 'assistant', content: 'x' }), usage: { ...usage, completion_tokens: count } }))
      .concat({ ...finish(), usage: { ...usage, completion_tokens: 3 } }),
    response: completionWith({ content: 'xxx' }, 'stop', { usage: { ...usage, completion_tokens: 3 } }),
  },
  'usage, followed by chunks with null usage': {
    chunks: [start, { ...finish(), usage }, chunk([], { usage: null })],
    response: completionWith({ content: '' }, 'stop', { usage }),
    official: 'it lets null erase usage',
  },
  'service tier, fingerprint and padding': {
    chunks: [
      { ...start, service_tier: 'auto', system_fingerprint: 'fp_1', obfuscation: 'aX' },
      { ...say({ content: 'Hi' }), service_tier: 'default', system_fingerprint: 'fp_1', obfuscation: 'b' },
      { ...finish(), service_tier: 'default', system_fingerprint: 'fp_2', obfuscation: 'c7Hq' },
    ],
    response: completionWith({ content: 'Hi' }, 'stop', { service_tier: 'default', system_fingerprint: 'fp_2' }),
  },
  'a fingerprint that becomes null': {
    chunks: [
      { ...start, system_fingerprint: 'fp_1' },
      { ...finish(), system_fingerprint: null },
    ],
    response: completionWith({ content: '' }, 'stop', { system_fingerprint: 'fp_1' }),
    official: 'it lets null erase the fingerprint',
  },
  'unknown members of chunks and choices': {
    chunks: [
      { ...start, citations: ['https://a.example/'], moderation: null },
      { ...say({ content: 'Hi' }, { matched_stop: null, content_filter_results: { hate: { filtered: false } } }) },
      { ...finish(), moderation: { input: { type: 'moderation_results', results: [] } }, x_vendor: { region: 'eu' } },
      chunk([{ index: 0, delta: {}, finish_reason: null, native_finish_reason: 'END' }]),
    ],
    response: response(
      [
        choice({ content: 'Hi' }, 'stop', {
          matched_stop: null,
          content_filter_results: { hate: { filtered: false } },
          native_finish_reason: 'END',
        }),
      ],
      {
        citations: ['https://a.example/'],
        moderation: { input: { type: 'moderation_results', results: [] } },
        x_vendor: { region: 'eu' },
      },
    ),
  },
  'unknown members of deltas': {
    chunks: [
      say({ role: 'assistant', note: 'a', list: [1], flag: false, thing: { a: 1 }, empty: null }),
      say({ note: 'b', list: [{ b: 2 }, 'c'], flag: true, thing: { b: 2 }, content: 'Hi' }),
      say({ note: null, list: null, flag: null, thing: null }),
      finish(),
    ],
    response: completionWith({
      content: 'Hi',
      note: 'ab',
      list: [1, { b: 2 }, 'c'],
      flag: true,
      thing: { b: 2 },
      empty: null,
    }),
    official: lastWins,
  },
  'members with names such as __proto__': {
    chunks: [
      `{"id":"chatcmpl-1","created":1700000000,"model":"doubao-1","__proto__":{"polluted":1},"toString":"top","choices":[{"index":0,"__proto__":{"polluted":2},"constructor":"choice","delta":{"role":"assistant","content":"Hi","__proto__":"mess","constructor":"con","hasOwnProperty":[1]}}]}`,
      `{"choices":[{"index":0,"delta":{"__proto__":"age","constructor":"structor","hasOwnProperty":[2],"tool_calls":[{"index":0,"id":"call_a","type":"function","__proto__":{"polluted":3},"function":{"name":"f","arguments":"{}","__proto__":"fn"}}]},"finish_reason":"stop"}]}`,
    ],
    response: `{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"doubao-1","choices":[{"index":0,"message":{"role":"assistant","content":"Hi","refusal":null,"__proto__":"message","constructor":"constructor","hasOwnProperty":[1,2],"tool_calls":[{"id":"call_a","type":"function","function":{"name":"f","arguments":"{}","__proto__":"fn"},"__proto__":{"polluted":3}}]},"logprobs":null,"finish_reason":"stop","__proto__":{"polluted":2},"constructor":"choice"}],"__proto__":{"polluted":1},"toString":"top"}`,
    official: lastWins,
  },
  'a split surrogate pair': {
    chunks: [start, say({ content: 'ok \ud83d' }), say({ content: '\ude00!' }), finish()],
    response: completionWith({ content: 'ok 😀!' }),
  },
  'a split surrogate pair in arguments': {
    chunks: [
      say({ role: 'assistant', content: null }),
      calls({ index: 0, ...call('call_a', 'f', '{"a":"\ud83d') }),
      calls({ index: 0, function: { arguments: '\ude00"}' } }),
      finish('tool_calls'),
    ],
    response: completionWith({ tool_calls: [call('call_a', 'f', '{"a":"😀"}')] }, 'tool_calls'),
  },
  'numbers beyond the precision of JavaScript': {
    chunks: [
      '{"id":"chatcmpl-1","created":1700000000,"model":"doubao-1","seed":12345678901234567890,"choices":[{"index":0,"delta":{"role":"assistant","content":"Hi","scores":[1.0]},"logprobs":{"content":[{"token":"Hi","logprob":-1.50}],"refusal":null},"finish_reason":null,"weight":1e-400}]}',
      '{"id":"chatcmpl-1","choices":[{"index":0,"delta":{"scores":[-0,0.1000000000000000055511151231257827]},"finish_reason":"stop"}],"usage":{"prompt_tokens":98765432109876543210,"total_tokens":1.0}}',
    ],
    response:
      '{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"doubao-1","choices":[{"index":0,"message":{"role":"assistant","content":"Hi","refusal":null,"scores":[1.0,-0,0.1000000000000000055511151231257827]},"logprobs":{"content":[{"token":"Hi","logprob":-1.50}],"refusal":null},"finish_reason":"stop","weight":1e-400}],"usage":{"prompt_tokens":98765432109876543210,"total_tokens":1.0},"seed":12345678901234567890}',
    official: lastWins,
  },
  'filter results before and after the chunks': {
    chunks: [
      {
        id: '',
        object: '',
        created: 0,
        model: '',
        choices: [],
        prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }],
      },
      start,
      say({ content: 'Hi' }),
      finish(),
      { id: '', object: '', created: 0, model: '', choices: [{ index: 0, content_filter_offsets: { end: 2 } }] },
    ],
    response: response([choice({ content: 'Hi' }, 'stop', { content_filter_offsets: { end: 2 } })], {
      prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }],
    }),
  },
  'nulls and gaps': {
    chunks: [
      { ...head, object: 'chat.completion.chunk' },
      { ...head, choices: null },
      chunk([]),
      say(null),
      chunk([{ index: 0 }]),
      say({ role: null, content: null, tool_calls: null, function_call: null, audio: null, refusal: null }),
      say({ role: 'assistant', content: 'Hi' }, { finish_reason: '' }),
      finish(),
      say(null),
    ],
    response: completionWith({ content: 'Hi' }),
    official: 'it throws for a chunk without choices',
  },
  'a repeated finish reason': {
    chunks: [start, finish('stop'), finish('length'), say({})],
    response: completionWith({ content: '' }, 'length'),
  },
  'an unknown finish reason': {
    chunks: [start, say({ content: 'Hi' }), finish('eos')],
    response: completionWith({ content: 'Hi' }, 'eos'),
  },
  'a role in every delta': {
    chunks: [say({ role: 'assistant', content: 'H' }), say({ role: 'assistant', content: 'i' }), finish()],
    response: completionWith({ content: 'Hi' }),
  },
  'no role': {
    chunks: [say({ content: 'Hi' }), finish()],
    response: completionWith({ content: 'Hi' }),
    official: 'it throws for a missing role',
  },
  'no index': {
    chunks: [
      chunk([{ delta: { role: 'assistant', content: 'H' } }]),
      chunk([{ delta: { content: 'i' }, finish_reason: 'stop' }]),
    ],
    response: completionWith({ content: 'Hi' }),
    official: noIndex,
  },
  'a complete completion in one event': {
    chunks: [
      response(
        [
          choice(
            { content: 'Hi', tool_calls: [call('call_a', 'f', '{"a":1}'), call('call_b', 'f', '{"a":2}')] },
            'tool_calls',
            { logprobs: { content: [token('Hi', -1)], refusal: null } },
          ),
        ],
        { usage },
      ),
    ],
    response: response(
      [
        choice(
          { content: 'Hi', tool_calls: [call('call_a', 'f', '{"a":1}'), call('call_b', 'f', '{"a":2}')] },
          'tool_calls',
          { logprobs: { content: [token('Hi', -1)], refusal: null } },
        ),
      ],
      { usage },
    ),
  },
  'a complete completion after its deltas': {
    chunks: [
      start,
      say({ content: 'Hel' }),
      say({ content: 'lo' }),
      finish(),
      completionWith({ content: 'Hello' }, 'stop', { usage }),
    ],
    response: completionWith({ content: 'Hello' }, 'stop', { usage }),
  },
  'messages in place of deltas': {
    chunks: [
      chunk([{ index: 0, message: { role: 'assistant', content: 'Hel' } }]),
      chunk([{ index: 0, message: { content: 'lo' }, finish_reason: 'stop' }]),
    ],
    response: completionWith({ content: 'Hello' }),
    official: 'it lets the last message win',
  },
  'reasoning in parts, then text': {
    chunks: [
      say({ role: 'assistant', content: '' }),
      say({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }] }),
      say({ content: 'Yes' }),
      finish(),
    ],
    response: completionWith({
      content: [
        { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] },
        { type: 'text', text: 'Yes' },
      ],
    }),
    official: 'it writes [object Object]',
  },
}

/** The event of a chunk. */
export const eventOf = (chunk: object | string): { readonly type: string; readonly data: string } => ({
  type: 'message',
  data: typeof chunk === 'string' ? chunk : JSON.stringify(chunk),
})

/** The bytes of a stream with `[DONE]`. */
export const bytesOf = (chunks: Recorded['chunks']): Uint8Array =>
  new TextEncoder().encode(
    [...chunks.map((chunk) => eventOf(chunk).data), '[DONE]'].map((data) => `data: ${data}\n\n`).join(''),
  )

import {
  choice,
  chunk,
  completionWith,
  finish,
  lastWins,
  type Recorded,
  response,
  say,
  start,
  usage,
} from './chat-assembly-chunks.ts'

/** Streams with usage and other members of chunks, choices and deltas. */
export const memberStreams: Readonly<Record<string, Recorded>> = {
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
}

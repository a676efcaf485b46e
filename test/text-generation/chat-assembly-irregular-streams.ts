import {
  call,
  calls,
  choice,
  chunk,
  completionWith,
  finish,
  head,
  lastWins,
  noIndex,
  type Recorded,
  response,
  say,
  start,
  token,
  usage,
} from './chat-assembly-chunks.ts'

/** Streams that are cut, incomplete or not in chunks as OpenAI sends them. */
export const irregularStreams: Readonly<Record<string, Recorded>> = {
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

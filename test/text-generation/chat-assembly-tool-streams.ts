import {
  call,
  calls,
  choice,
  chunk,
  completionWith,
  finish,
  noIndex,
  type Recorded,
  response,
  say,
  start,
} from './chat-assembly-chunks.ts'

/** Streams with tool calls. */
export const toolStreams: Readonly<Record<string, Recorded>> = {
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
  'tool calls that all have the first index, with arguments in deltas of their own': {
    chunks: [
      say({ role: 'assistant', content: null }),
      calls({ index: 0, ...call('call_a', 'f', '') }),
      calls({ index: 0, function: { arguments: '{"a":1}' } }),
      calls({ index: 0, ...call('call_b', 'g', '') }),
      calls({ index: 0, function: { arguments: '{"a":2}' } }),
      finish('tool_calls'),
    ],
    response: completionWith(
      { tool_calls: [call('call_a', 'f', '{"a":1}'), call('call_b', 'g', '{"a":2}')] },
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
}

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
  token,
  usage,
  wholeText,
} from './chat-assembly-chunks.ts'

/** Streams of text, reasoning, audio and annotations. */
export const textStreams: Readonly<Record<string, Recorded>> = {
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
}

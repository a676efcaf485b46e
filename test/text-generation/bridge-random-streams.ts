import fc from 'fast-check'
import { type Chunk, chunk, finish, token, usageChunk } from './bridge-fixture.ts'

const parameters = { type: 'object', properties: {} }

/** Tools of every kind that the bridge knows. */
export const allTools = [
  { type: 'function', name: 'weather', parameters, strict: false },
  { type: 'custom', name: 'sql' },
  {
    type: 'namespace',
    name: 'agents',
    description: 'Other agents.',
    tools: [
      { type: 'function', name: 'spawn', parameters },
      { type: 'custom', name: 'patch', format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' } },
    ],
  },
  { type: 'local_shell' },
  { type: 'tool_search', execution: 'client', description: 'Finds tools.', parameters },
]

const text = fc.string({ unit: 'grapheme', maxLength: 20 })
const shortText = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 })

/** The function names of the tools, each with arguments as a model sends them. */
const functionCall: fc.Arbitrary<readonly [name: string, args: string]> = fc.oneof(
  fc.tuple(
    fc.constantFrom('weather', 'agents__spawn'),
    fc.dictionary(shortText, fc.oneof(text, fc.integer(), fc.boolean())).map((args) => JSON.stringify(args)),
  ),
  fc.tuple(
    fc.constantFrom('sql', 'agents__patch'),
    text.map((input) => JSON.stringify({ input })),
  ),
  fc.tuple(
    fc.constant('local_shell'),
    fc
      .record(
        { command: fc.array(shortText, { minLength: 1 }), timeout_ms: fc.nat(), env: fc.constant({ A: 'b' }) },
        { requiredKeys: ['command'] },
      )
      .map((args) => JSON.stringify(args)),
  ),
  fc.tuple(
    fc.constant('tool_search'),
    text.map((query) => JSON.stringify({ query })),
  ),
)

/** A turn of the model, as a chat completion holds it. */
export interface Turn {
  readonly reasoning: string
  readonly content: string
  readonly calls: readonly (readonly [name: string, args: string])[]
}

export const turn: fc.Arbitrary<Turn> = fc.record({
  reasoning: text,
  content: text,
  calls: fc.array(functionCall, { maxLength: 4 }),
})

/** Splits a text into pieces, at any code units. */
const pieces = (whole: string, positions: readonly number[]): string[] => {
  const ends = [...new Set(positions.map((at) => at % (whole.length + 1)))].sort((one, other) => one - other)
  return [0, ...ends].map((from, nth) => whole.slice(from, ends[nth] ?? whole.length))
}

/** The chunks of a turn, split at any place. Calls have the ids `prefix0`, `prefix1`, … */
export const chunksOf = ({ reasoning, content, calls }: Turn, positions: readonly number[], prefix = 'call_') => {
  const call = (index: number, fields: object, id?: string) =>
    chunk({ tool_calls: [{ index, ...(id === undefined ? {} : { id, type: 'function' }), function: fields }] })
  return [
    chunk({ role: 'assistant', content: '' }),
    ...pieces(reasoning, positions).map((delta) => chunk({ reasoning_content: delta })),
    ...pieces(content, positions).map((delta) => chunk({ content: delta })),
    ...calls.flatMap(([name, args], index) => [
      call(index, { name, arguments: '' }, `${prefix}${index}`),
      ...pieces(args, positions).map((delta) => call(index, { arguments: delta })),
    ]),
    finish(calls.length > 0 ? 'tool_calls' : 'stop'),
  ]
}

const toolDelta = fc
  .record({
    index: fc.option(fc.nat({ max: 3 }), { nil: undefined }),
    id: fc.option(fc.constantFrom('', 'call_a', 'call_b'), { nil: undefined }),
    name: fc.option(fc.constantFrom('', 'weather', 'sql', 'agents__patch', 'local_shell', 'tool_search', 'unknown'), {
      nil: undefined,
    }),
    args: fc.constantFrom(
      '',
      '{',
      '}',
      '{}',
      '"input"',
      ':',
      '"a\\',
      'n"',
      '{"input":"',
      '{"command":["ls",1]}',
      '{"command":3,"env":[1],"timeout_ms":"x","user":{}}',
      '{"env":{"A":1}}',
      '[1]',
      'x',
      '\\ud83d',
    ),
    custom: fc.boolean(),
  })
  .map(({ index, id, name, args, custom }) => ({
    tool_calls: [
      custom
        ? { index, id, type: 'custom', custom: { name, input: args } }
        : { index, id, type: 'function', function: { name, arguments: args } },
    ],
  }))

const delta: fc.Arbitrary<object> = fc.oneof(
  text.map((content) => ({ content })),
  text.map((reasoning_content) => ({ reasoning_content })),
  fc.tuple(text, text).map(([reasoning, content]) => ({ reasoning, content })),
  text.map((refusal) => ({ refusal })),
  fc.constant({ annotations: [{ type: 'url_citation', url_citation: { url: 'https://a', title: 'A' } }] }),
  fc.constant({ content: null, role: 'assistant' }),
  fc.constant({ function_call: { name: 'weather', arguments: '{}' } }),
  toolDelta,
)

const logprobs = fc.option(fc.constantFrom({ content: [token('x')], refusal: null }, { content: [token('y')] }), {
  freq: 4,
  nil: undefined,
})

/** Any chat stream: deltas of all kinds in any order, with and without an end. */
export const anyChunks: fc.Arbitrary<readonly Chunk[]> = fc
  .tuple(
    fc.array(
      fc
        .tuple(delta, logprobs)
        .map(([each, probabilities]) => chunk(each, probabilities ? { logprobs: probabilities } : {})),
      { maxLength: 30 },
    ),
    fc.constantFrom('stop', 'tool_calls', 'length', 'content_filter', 'other', undefined),
    fc.boolean(),
  )
  .map(([chunks, reason, usage]) => [
    ...chunks,
    ...(reason === undefined ? [] : [finish(reason)]),
    ...(usage ? [usageChunk] : []),
  ])

/** Requests that change the form of the events. */
export const anyRequest: fc.Arbitrary<object> = fc
  .record({
    summary: fc.constantFrom(undefined, 'auto', 'detailed'),
    encrypted: fc.boolean(),
    tools: fc.boolean(),
  })
  .map(({ summary, encrypted, tools }) => ({
    reasoning: { summary },
    include: encrypted ? ['reasoning.encrypted_content'] : [],
    tools: tools ? allTools : [],
  }))

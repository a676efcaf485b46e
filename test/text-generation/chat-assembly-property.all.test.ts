/** Runs with `--all`: random completions, split at random places into deltas and bytes. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createFrameSplitter } from '../../plugins/sse-relay/index.ts'
import { createChatAssembly } from '../../plugins/text-generation/chat/assembly.ts'
import { anyCharacter } from '../support/any-character.ts'
import { bytesOf } from './chat-assembly-streams.ts'

type Members = Record<string, unknown>

const text = fc.string({ unit: anyCharacter, maxLength: 12 })
const someText = fc.string({ unit: anyCharacter, minLength: 1, maxLength: 12 })
const name = fc.stringMatching(/^[a-z_]{1,8}$/)
const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown)
const list = fc.array(json, { maxLength: 4 })
const plain = json.filter((value) => typeof value !== 'string' && !Array.isArray(value) && value !== null)
const sometimes = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined })

const toolCall = fc.oneof(
  fc.record({
    id: someText,
    type: fc.constant('function'),
    function: fc.record({
      name,
      arguments: fc.oneof(
        text,
        json.map((value) => JSON.stringify(value)),
      ),
    }),
  }),
  fc.record({ id: someText, type: fc.constant('custom'), custom: fc.record({ name, input: text }) }),
)

const message = fc.record({
  role: fc.constant('assistant'),
  content: fc.option(text),
  refusal: fc.option(someText),
  reasoning_content: sometimes(text),
  annotations: sometimes(list),
  x_text: sometimes(text),
  x_list: sometimes(list),
  x_plain: sometimes(plain),
  ['__proto__']: sometimes(text),
  tool_calls: sometimes(fc.uniqueArray(toolCall, { minLength: 1, maxLength: 4, selector: ({ id }) => id })),
  function_call: sometimes(fc.record({ name, arguments: text })),
  audio: sometimes(
    fc.record({
      id: someText,
      data: fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes).toString('base64')),
      transcript: text,
      expires_at: fc.nat(),
    }),
  ),
})

const completion = fc.record({
  id: someText,
  object: fc.constant('chat.completion'),
  created: fc.integer({ min: 1 }),
  model: someText,
  service_tier: sometimes(fc.constantFrom('default', null)),
  usage: sometimes(fc.record({ prompt_tokens: fc.nat(), completion_tokens: fc.nat(), details: json })),
  x_plain: sometimes(plain),
  choices: fc.uniqueArray(
    fc.record({
      index: fc.nat({ max: 127 }),
      message,
      logprobs: fc.option(fc.record({ content: fc.option(list), refusal: fc.option(list) })),
      finish_reason: fc.constantFrom('stop', 'length', 'tool_calls', 'eos'),
      x_choice: sometimes(plain),
    }),
    { minLength: 1, maxLength: 4, selector: ({ index }) => index },
  ),
})

/** Removes undefined members. */
const settle = (value: unknown): Members => JSON.parse(JSON.stringify(value))

/** Pseudo-random integers below a bound (linear congruential generator). */
const createDice = (seed: number) => {
  let state = seed >>> 0
  return (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}
type Dice = ReturnType<typeof createDice>

/** Splits a text or a list into at least one part. Parts may be empty. */
const cut = <Whole extends { readonly length: number; slice(from: number, to: number): Whole }>(
  whole: Whole,
  dice: Dice,
): Whole[] => {
  const marks = Array.from({ length: dice(5) }, () => dice(whole.length + 1)).sort((one, other) => one - other)
  return [0, ...marks].map((from, at) => whole.slice(from, marks[at] ?? whole.length))
}

/** Splits base64: its text, or its bytes with each part encoded separately. */
const cutBase64 = (data: string, dice: Dice): string[] =>
  dice(2) === 0
    ? cut(data, dice)
    : cut(Buffer.from(data, 'base64'), dice).map((bytes) => Buffer.from(bytes).toString('base64'))

/** The deltas of one member. */
const deltasOf = (key: string, value: unknown, dice: Dice): readonly Members[] => {
  const delta = (part: unknown): Members => ({ [key]: part })
  if (typeof value === 'string') return cut(value, dice).map(delta)
  if (Array.isArray(value)) return cut(value, dice).map(delta)
  // Only the last value counts.
  return value === null || dice(2) === 0 ? [delta(value)] : [delta(dice(100)), delta(null), delta(value), delta(null)]
}

/** The deltas of a call: name and id first, then the arguments. Name and id may be repeated or empty. */
const callDeltas = (call: Members, kind: 'function' | 'custom', key: string, dice: Dice): readonly Members[] => {
  const { [kind]: called, ...around } = call
  const { name: called_name, [key]: whole } = called as Members
  const again = { ...around, [kind]: { name: called_name } }
  const empty = { id: '', type: '', [kind]: { name: '' } }
  return [
    { ...around, [kind]: { name: called_name, [key]: '' } },
    ...cut(String(whole), dice).map((part) => {
      const first = [{}, again, empty][dice(3)] as Members
      return { ...first, [kind]: { ...(first[kind] as Members), [key]: part } }
    }),
  ]
}

/** The deltas of a choice as sequences. The order within a sequence is fixed; sequences may be interleaved. */
const strandsOf = (choice: Members, dice: Dice): (readonly Members[])[] => {
  const { index, message: whole, logprobs, finish_reason, ...more } = choice
  const { tool_calls: calls, function_call: called, audio, role, ...rest } = whole as Members
  const deltas: (readonly Members[])[] = [[{ role }]]
  for (const [key, value] of Object.entries(rest)) deltas.push(deltasOf(key, value, dice))
  for (const [at, call] of ((calls ?? []) as Members[]).entries()) {
    const parts =
      call.type === 'custom'
        ? callDeltas(call, 'custom', 'input', dice)
        : callDeltas(call, 'function', 'arguments', dice)
    deltas.push(parts.map((part) => ({ tool_calls: [{ index: at, ...part }] })))
  }
  if (called) {
    deltas.push(
      callDeltas({ function: called }, 'function', 'arguments', dice).map((part) => ({ function_call: part.function })),
    )
  }
  if (audio) {
    const { id, data, transcript, expires_at } = audio as Record<'id' | 'data' | 'transcript' | 'expires_at', string>
    deltas.push(
      cutBase64(data, dice).map((part) => ({ audio: { data: part } })),
      cut(transcript, dice).map((part) => ({ audio: { transcript: part } })),
      [{ audio: { id } }, { audio: { expires_at } }],
    )
  }
  const tokens = Object.entries((logprobs ?? {}) as Members).map(([key, value]) =>
    (Array.isArray(value) ? cut(value, dice) : [null]).map((part) => ({ logprobs: { [key]: part } })),
  )
  return [
    ...deltas.map((strand) => strand.map((delta) => ({ index, delta, finish_reason: null }))),
    ...tokens.map((strand) => strand.map((part) => ({ index, delta: {}, ...part }))),
    [{ index, delta: {}, finish_reason }],
    ...Object.entries(more).map(([key, value]) => [{ index, delta: {}, [key]: value }]),
  ]
}

/** Interleaves sequences at random. */
const mix = (strands: readonly (readonly Members[])[], dice: Dice): readonly Members[] => {
  const left = strands.map((strand) => [...strand]).filter((strand) => strand.length > 0)
  const mixed: Members[] = []
  while (left.length > 0) {
    const at = dice(left.length)
    const next = left[at]?.shift()
    if (next) mixed.push(next)
    if (left[at]?.length === 0) left.splice(at, 1)
  }
  return mixed
}

/** A random stream of a completion. */
const chunksOf = ({ choices, ...top }: Members, dice: Dice): readonly object[] => {
  const { usage, ...around } = top
  const parts = [
    ...mix(
      (choices as Members[]).flatMap((choice) => strandsOf(choice, dice)),
      dice,
    ),
  ]
  const chunks: object[] = []
  while (parts.length > 0) {
    chunks.push({
      ...around,
      object: 'chat.completion.chunk',
      choices: parts.splice(0, 1 + dice(3)),
      usage: null,
      obfuscation: 'xx',
    })
  }
  return usage ? [...chunks, { ...around, choices: [], usage }] : chunks
}

/** A value with sorted members, including all own ones. */
const orderless = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(orderless)
  if (typeof value !== 'object' || value === null) return value
  return {
    members: Object.entries(value)
      .map(([key, inner]) => [key, orderless(inner)] as const)
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  }
}

const property = fc.property(completion, fc.nat(), (random, seed) => {
  const whole = settle(random)
  const dice = createDice(seed)
  const assembly = createChatAssembly({ model: 'asked', clock: { now: () => 0 } })
  const frames = createFrameSplitter()
  const bytes = bytesOf(chunksOf(whole, dice))
  for (let from = 0; from < bytes.length; ) {
    const to = Math.min(bytes.length, from + 1 + dice(200))
    for (const { event } of frames.push(bytes.subarray(from, to))) if (event) assembly.push(event)
    from = to
  }
  expect(assembly.complete).toBe(true)
  const choices = (whole.choices as { index: number }[]).toSorted((one, other) => one.index - other.index)
  expect(orderless(JSON.parse(assembly.result()))).toEqual(orderless({ ...whole, choices }))
})

test('any completion, split into any deltas and bytes, is assembled again', () => {
  fc.assert(property, { seed: 4_007, numRuns: 400 })
})

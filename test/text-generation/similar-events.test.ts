import { describe, expect, spyOn, test } from 'bun:test'
import fc from 'fast-check'
import { createFrameSplitter, type Frame, type FrameSplitterOptions } from '../../plugins/sse-relay/index.ts'
import { relayChat } from '../../plugins/text-generation/chat/relay.ts'
import { EventReader, type TextEvent } from '../../plugins/text-generation/events/event.ts'
import { createResponsesAssembly } from '../../plugins/text-generation/responses/assembly.ts'
import { relayResponses } from '../../plugins/text-generation/responses/responses.ts'
import { createStreamCredentialCheck } from '../../plugins/text-generation/upstream/credentials.ts'
import { anyCharacter } from '../support/any-character.ts'

const key = 'text-key-123456'

/** Texts of deltas, as JSON, valid or not. */
const piece = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom('word ', 'a', '', 'é🦉', ' the') },
  {
    weight: 2,
    arbitrary: fc.constantFrom('text-', 'key-', '123456', 'text-key', key, 'dGV4dC1rZXktMTIzNDU2', 't\\u0065xt-'),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '\\n',
      '\\"',
      '\\\\',
      '\\u0065',
      '\\',
      '\\x',
      '\\\\\\"',
      '\u0001',
      '\t',
      '"',
      '","x":"',
      '\\u0000',
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '\n',
      '\r',
      '\r\ndata: x',
      '\ndata: ',
      '\nevent: error\ndata: ',
      '\n: text-key-\n',
      '","finish_reason":"stop","x":"',
    ),
  },
  { weight: 1, arbitrary: fc.string({ unit: anyCharacter, maxLength: 6 }) },
)
/** Sequences of deltas. Some contain the credential, split over several deltas. */
const pieces = fc.oneof(
  { weight: 8, arbitrary: fc.array(piece, { minLength: 2, maxLength: 8 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ['a', 'b', 'text-', 'key-1', '2345', '6'],
      ['a', 'b', 'c', 't\\u0065', 'xt-', 'key-', '123456'],
    ),
  },
)
const one = <Value>(...values: readonly Value[]) => fc.constantFrom(...values)
/** Mostly the first value. */
const mostly = <Value>(usual: Value, ...others: readonly Value[]) =>
  fc.oneof({ weight: 12, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...others) })

const chatEvent = fc
  .record({
    index: mostly('0', '1', '"0"', '130'),
    member: mostly('content', 'reasoning_content', 'c\\u006fntent', 'error'),
    reason: mostly('null', '"stop"', '""'),
    tail: one(
      '',
      ',"usage":null',
      ',"usage":null',
      ',"usage":{"prompt_tokens":1,"text":"a"}',
      ',"\\u0065rror":{"message":"m"}',
      ',"obfuscation":"text-key-1234567"',
      ',"content":"twice"',
    ),
    head: mostly('', 'event: error', ': text-key-123456', 'id: 1', 'event: x', 'data: {"a":'),
    space: mostly('', ' '),
  })
  .map(
    ({ index, member, reason, tail, head, space }) =>
      (piece: string) =>
        `${head && `${head}\n`}data: {"id":"c",${space}"choices":[{"index":${index},"delta":{"${member}":"${piece}"},"finish_reason":${reason}}]${tail}}\n\n`,
  )
const responsesEvent = fc
  .record({
    count: one('1', '12', '345', '99999', '123456', '007', '-1', '1.5', 'null'),
    type: mostly('response.output_text.delta', 'error', 'response.completed'),
    item: mostly('a', 'b'),
    tail: one(
      '',
      '',
      ',"obfuscation":"x"',
      ',"obfuscation":"text-key-123456"',
      ',"response":{"id":"r","usage":{"input_tokens":1}}',
      ',"error":{"message":"m"}',
    ),
  })
  .map(
    ({ count, type, item, tail }) =>
      (piece: string) =>
        `event: ${type}\ndata: {"type":"${type}","sequence_number":${count},"item_id":"${item}","output_index":0,"content_index":0,"delta":"${piece}"${tail}}\n\n`,
  )
const other = one(
  ': comment\n\n',
  'data: [DONE]\n\n',
  'data: {"choices":[],"usage":{"total_tokens":3}}\n\n',
  'data: x\n\n',
  '\uFEFF',
  'data: {}\r\n\r\n',
  '\n',
).map((text) => () => text)

/** An event without its generated text. */
type Shape = (piece: string) => string

/** A stream with runs of similar events, split anywhere. */
const streams = (event: fc.Arbitrary<Shape>) =>
  fc.record({
    text: fc
      .array(
        fc.oneof(
          { weight: 5, arbitrary: fc.tuple(event, pieces) },
          { weight: 1, arbitrary: fc.tuple(other, fc.constant([''])) },
        ),
        { maxLength: 8 },
      )
      .map((kinds) => kinds.map(([shape, pieces]) => pieces.map(shape).join('')).join('')),
    ends: one('\n', '\n', '\r\n', '\r'),
    sizes: fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 8 }),
  })

const chunksOf = (bytes: Uint8Array, sizes: readonly number[]) => {
  const chunks: Uint8Array[] = []
  for (let at = 0, nth = 0; at < bytes.length; nth++) {
    const size = sizes[nth % sizes.length] as number
    chunks.push(bytes.subarray(at, at + size))
    at += size
  }
  return chunks
}

interface Handler {
  readonly onFrame: (frame: Frame) => Uint8Array | null | undefined
  readonly outcome: () => unknown
}

/** The relayed pieces of a stream, and the state at its end. */
const relayed = (chunks: readonly Uint8Array[], events: FrameSplitterOptions, handler: Handler) => {
  const frames = createFrameSplitter(events)
  const watch = createStreamCredentialCheck({ url: 'http://upstream', key })
  const results: unknown[] = []
  try {
    const all = [...chunks.flatMap((chunk) => frames.push(chunk)), frames.end()]
    for (const frame of all) {
      if (!frame) continue
      watch(frame)
      const instead = handler.onFrame(frame)
      results.push(instead === undefined ? 'as it came' : instead && new TextDecoder().decode(instead))
    }
  } catch (error) {
    results.push(String(error))
  }
  return [results, handler.outcome()]
}

const protocols: Readonly<Record<string, { readonly event: fc.Arbitrary<Shape>; readonly handler: () => Handler }>> = {
  'chat, with usage': { event: chatEvent, handler: () => chatWay(true) },
  'chat, without usage': { event: chatEvent, handler: () => chatWay(false) },
  responses: {
    event: responsesEvent,
    handler: () => {
      const known = createResponsesAssembly({ request: {}, clock: { now: () => 0 }, newId: () => 'x' })
      const relaying = relayResponses(known)
      return {
        onFrame: (frame) => relaying.onFrame(frame),
        outcome: () => [relaying.complete, relaying.usage, known.snapshot, relaying.onEnd(true)],
      }
    },
  },
}
const chatWay = (wantsUsage: boolean): Handler => {
  const relaying = relayChat(wantsUsage)
  return {
    onFrame: (frame) => relaying.onFrame(frame),
    outcome: () => [relaying.complete, relaying.usage, relaying.onEnd(false)],
  }
}

/** Reads events one by one, as `createFrameSplitter` does. */
const reading = () => {
  const events = new EventReader()
  return (text: string): TextEvent | undefined => events.recognise(new TextEncoder().encode(text)) ?? events.parse(text)
}

describe('an event that resembles an earlier one', () => {
  for (const [name, { event, handler }] of Object.entries(protocols)) {
    test(`is handled as if each were parsed separately: ${name}`, () => {
      fc.assert(
        fc.property(streams(event), ({ text, ends, sizes }) => {
          const bytes = new TextEncoder().encode(ends === '\n' ? text : text.replaceAll('\n', ends))
          const chunks = chunksOf(bytes, sizes)
          expect(relayed(chunks, new EventReader(), handler())).toEqual(relayed(chunks, {}, handler()))
        }),
        { numRuns: 400 },
      )
    })
  }

  test('is parsed once per kind, and has its own data and JSON', () => {
    const read = reading()
    const line = (text: string) => `data: {"choices":[{"index":0,"delta":{"content":"${text}"}}]}\n\n`
    const events = ['first', 'a', 'b', 'c"]', 'd\\n'].map((text) => read(line(text)))
    expect(events.map((event) => event?.template !== undefined)).toEqual([false, false, true, false, true])
    expect(events[2]?.data).toBe('{"choices":[{"index":0,"delta":{"content":"b"}}]}')
    expect(events[4]?.json).toEqual({ choices: [{ index: 0, delta: { content: 'd\n' } }] })
  })

  test('is not looked for after a long one, whose JSON is not parsed before its turn', () => {
    const read = reading()
    const line = (text: string) => `data: {"choices":[{"index":0,"delta":{"content":"${text}"}}]}\n\n`
    const long = 'x'.repeat(2 ** 16)
    const events = ['first', long, 'a', long, 'b'].map((text) => read(line(text)))
    expect(events.map((event) => event?.template !== undefined)).toEqual([false, false, false, true, true])
    const longOnly = reading()
    expect(['first', long, long].map((text) => longOnly(line(text))?.template)).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })

  test('is recognized among a limited number of kinds; the oldest is evicted, and the recognition stops after too many misses', () => {
    const read = reading()
    const line = (index: number, text = 'x') =>
      `data: {"choices":[{"index":${index},"delta":{"content":"${text}"}}]}\n\n`
    const isKnown = (index: number) => read(line(index, 'y'))?.template !== undefined
    read('data: {}\n\n')
    for (let index = 0; index < 9; index++) read(line(index))
    expect([8, 7, 2, 1].map(isKnown)).toEqual([true, true, true, true])
    expect(isKnown(0)).toBe(false)
    for (let index = 10; index < 100; index++) read(line(index))
    expect([99, 99].map(isKnown)).toEqual([false, false])
  })

  test('reuses the result of the earlier one where only text differs; numbers are too short to contain a credential', () => {
    const read = reading()
    const line = (count: number) => `data: {"sequence_number":${count},"delta":"x"}\n\n`
    for (const count of [1, 2]) read(line(count))
    const likeness = (count: number) => (read(line(count)) as TextEvent).template
    expect([likeness(3), likeness(99_999)].map((found) => found !== undefined)).toEqual([true, true])
    expect(likeness(100_000)).toBeUndefined()
  })
})

test('the end of a chat stream is recognized without an attempt to parse it', () => {
  const events = ['{"choices":[]}', '{"choices":[{"delta":{},"finish_reason":"stop"}]}', '[DONE]']
  const stream = new TextEncoder().encode(events.map((data) => `data: ${data}\n\n`).join(''))
  const parse = spyOn(JSON, 'parse')
  try {
    relayed([stream], new EventReader(), chatWay(true))
    expect(parse.mock.calls.map(([source]) => source)).toEqual(events.slice(0, 2))
  } finally {
    parse.mockRestore()
  }
})

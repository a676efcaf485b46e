import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createFrameSplitter, type Frame, readFrames, relayFrames } from '../../plugins/sse-relay/index.ts'
import { bodyOf, collected, joined } from './bodies.ts'
import { parsedElsewhere } from './reference-parser.ts'
import { chop, cuts, vectors } from './vectors.ts'

const split = (pieces: readonly Uint8Array[]): { frames: Frame[]; rest: Frame | undefined } => {
  const splitter = createFrameSplitter()
  const frames = pieces.flatMap((piece) => splitter.push(piece))
  return { frames, rest: splitter.end() }
}

const eventsOf = (frames: readonly Frame[]) => frames.flatMap(({ event }) => (event ? [event] : []))

describe('with every split the frames are the whole stream, and the events equal those of eventsource-parser', () => {
  for (const { name, bytes } of vectors) {
    test(name, () => {
      const expected = parsedElsewhere(bytes)
      for (const pieces of cuts(bytes, 200)) {
        const { frames, rest } = split(pieces)
        expect(joined([...frames, ...(rest ? [rest] : [])].map((frame) => frame.bytes))).toEqual(bytes)
        expect(eventsOf(frames)).toEqual(expected)
      }
    })
  }

  test('a last event without a blank line is the same for every split', () => {
    for (const { bytes } of vectors) {
      const { rest } = split([bytes])
      for (const pieces of cuts(bytes, 20)) expect(split(pieces).rest).toEqual(rest)
    }
  })

  test('for random lines', () => {
    const part = fc.constantFrom(
      'data',
      'event',
      'id',
      'retry',
      ':',
      ': ',
      ' ',
      'x',
      'é',
      '🦉',
      '\0',
      '\uFEFF',
      'data: y\n',
    )
    const end = fc.constantFrom('\n', '\r', '\r\n', '')
    const text = fc.array(fc.tuple(fc.array(part, { maxLength: 4 }), end), { maxLength: 12 })
    fc.assert(
      fc.property(text, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 9 }), (lines, sizes) => {
        const bytes = new TextEncoder().encode(lines.map(([parts, ended]) => parts.join('') + ended).join(''))
        const { frames, rest } = split(chop(bytes, sizes))
        expect(joined([...frames, ...(rest ? [rest] : [])].map((frame) => frame.bytes))).toEqual(bytes)
        expect(eventsOf(frames)).toEqual(parsedElsewhere(bytes))
      }),
      { seed: 4, numRuns: 3000 },
    )
  })

  test('eventsource-parser treats a Latin-1 BOM as a BOM, unlike the standard', () => {
    const bytes = new TextEncoder().encode('ï»¿data: lost\ndata: kept\n\n')
    expect(parsedElsewhere(bytes)).toEqual([{ type: 'message', data: 'lost\nkept' }])
    expect(eventsOf(split([bytes]).frames)).toEqual([{ type: 'message', data: 'kept' }])
  })
})

describe('with every split a stream is relayed byte for byte', () => {
  for (const { name, bytes } of vectors) {
    test(name, async () => {
      for (const pieces of cuts(bytes, 200)) {
        expect(await collected(relayFrames(readFrames(bodyOf(pieces))))).toEqual(bytes)
      }
    })
  }

  test('for an event of ten mebibytes in uneven pieces', async () => {
    const bytes = new TextEncoder().encode(
      `: hello\n\ndata: ${'a ☃ is not ascii '.repeat(600_000)}\n\nevent: end\ndata: e\n\n`,
    )
    expect(bytes.length).toBeGreaterThan(10 * 2 ** 20)
    const pieces = chop(bytes, [65_521])
    const relayed = await collected(relayFrames(readFrames(bodyOf(pieces))))
    expect(Buffer.compare(relayed, bytes)).toBe(0)
    expect(eventsOf(split(pieces).frames)).toEqual(parsedElsewhere(bytes))
  })
})

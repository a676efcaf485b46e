import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Frame, readFrames, relayFrames } from '../../plugins/sse-relay/index.ts'
import { bodyOf, bytesOf, collected } from './bodies.ts'
import { chop } from './vectors.ts'

const text = (bytes: Uint8Array) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)

const isUnwanted = ({ event }: Frame) => event?.data.includes('unwanted') === true

/** The relayed stream, delivered in these pieces, without the events that contain `unwanted`. */
const withoutUnwanted = async (pieces: readonly Uint8Array[]): Promise<string> =>
  text(
    await collected(
      relayFrames(readFrames(bodyOf(pieces)), { onFrame: (frame) => (isUnwanted(frame) ? null : undefined) }),
    ),
  )

/** All splits of some bytes into two and three pieces. */
const allCuts = function* (bytes: Uint8Array): Generator<Uint8Array[]> {
  for (let one = 0; one <= bytes.length; one++) {
    for (let two = one; two <= bytes.length; two++) {
      yield [bytes.subarray(0, one), bytes.subarray(one, two), bytes.subarray(two)]
    }
  }
}

describe('the line ends of a dropped event are dropped, too, with every split', () => {
  for (const [name, end] of [
    ['LF', '\n'],
    ['CR', '\r'],
    ['CRLF', '\r\n'],
  ] as const) {
    const event = (data: string) => `id: 1${end}data: ${data}${end}${end}`
    const before = event('a') + event('b')
    const after = `: comment${end}${event('c')}`

    test(name, async () => {
      const bytes = bytesOf(before + event('unwanted') + after)
      for (const pieces of allCuts(bytes)) expect(await withoutUnwanted(pieces)).toBe(before + after)
    })

    test(`${name}, at the end of the stream and twice in a row`, async () => {
      const bytes = bytesOf(before + event('unwanted 1') + event('unwanted 2'))
      for (const pieces of allCuts(bytes)) expect(await withoutUnwanted(pieces)).toBe(before)
    })
  }

  test('for random sequences of events and line ends', async () => {
    const end = fc.constantFrom('\n', '\r', '\r\n')
    const event = fc.record({ end, blank: end, unwanted: fc.boolean(), comment: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(
        fc.array(event, { maxLength: 8 }),
        fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 6 }),
        async (events, sizes) => {
          // A CR before an LF is one line end, so no stream can have these as two line ends.
          const written = events.map(({ end, blank, unwanted, comment }) => ({
            unwanted,
            text: `${comment ? `: x${end}` : ''}data: ${unwanted ? 'unwanted' : 'x'}${end}${end === '\r' && blank === '\n' ? '\r' : blank}`,
            comment: comment ? `: x${end}` : '',
          }))
          const bytes = bytesOf(written.map(({ text }) => text).join(''))
          const left = written.map(({ unwanted, text, comment }) => (unwanted ? comment : text)).join('')
          expect(await withoutUnwanted(chop(bytes, sizes))).toBe(left)
        },
      ),
      { seed: 6, numRuns: 2000 },
    )
  })
})

describe('the second half of a split CRLF belongs to the first', () => {
  test('it is not a separate frame for onFrame', async () => {
    const seen: string[] = []
    const body = bodyOf(['data: a\r\n\r', '\ndata: b\r\n\r', '\n'])
    const relayed = await collected(
      relayFrames(readFrames(body), { onFrame: ({ bytes }) => void seen.push(text(bytes)) }),
    )
    expect(text(relayed)).toBe('data: a\r\n\r\ndata: b\r\n\r\n')
    expect(seen).toEqual(['data: a\r\n\r', 'data: b\r\n\r'])
  })

  test('after a replaced event it follows only a CR', async () => {
    for (const [instead, expected] of [
      ['data: z\n\n', 'data: z\n\ndata: b\n\n'],
      ['data: z\r\n\r', 'data: z\r\n\r\ndata: b\n\n'],
    ] as const) {
      const body = bodyOf(['data: a\r\n\r', '\ndata: b\n\n'])
      const relayed = relayFrames(readFrames(body), {
        onFrame: ({ event }) => (event?.data === 'a' ? bytesOf(instead) : undefined),
      })
      expect(text(await collected(relayed))).toBe(expected)
    }
  })
})

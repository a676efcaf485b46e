import { describe, expect, test } from 'bun:test'
import { ClientFrames } from '../../src/node-server/web-socket/client-frames.ts'
import { clientFrame } from './client-frame.ts'

/** What a reader has reported, in order. */
const readerOf = (maxMessageBytes = 100_000) => {
  const heard: unknown[] = []
  const reader = new ClientFrames(maxMessageBytes, {
    onMessage: (message, isText) => heard.push([isText ? 'text' : 'binary', message.join()]),
    onPart: (bytes) => heard.push(bytes),
    onPing: (payload) => heard.push(['ping', payload.toString()]),
    onPong: () => heard.push('pong'),
    onClose: (code) => heard.push(['close', code]),
    onError: (code) => heard.push(['error', code]),
  })
  return { reader, heard }
}

const lengths = [0, 1, 2, 3, 4, 5, 125, 126, 127, 65_535, 65_536]
const payloadOf = (length: number) => Buffer.from(Array.from({ length }, (_, index) => (index * 7) % 128))

describe('frames of a client are read', () => {
  for (const step of [1, 3, 7, 4_096, 1_000_000]) {
    test(`in pieces of ${step} bytes, of every length, in fragments and with control frames between them`, () => {
      const { reader, heard } = readerOf(140_000)
      const bytes = Buffer.concat(
        lengths.flatMap((length) => [
          clientFrame(0x81, payloadOf(length)),
          clientFrame(0x02, payloadOf(length)),
          clientFrame(0x89, Buffer.from('hello')),
          clientFrame(0x00, Buffer.alloc(0)),
          clientFrame(0x80, payloadOf(length)),
        ]),
      )
      for (let at = 0; at < bytes.length; at += step) reader.push(bytes.subarray(at, at + step))
      const messages = heard.filter((each) => typeof each !== 'number')
      expect(messages).toHaveLength(3 * lengths.length)
      for (const [index, length] of lengths.entries()) {
        const [text, ping, binary] = messages.slice(3 * index, 3 * index + 3) as [string, Uint8Array][]
        const payload = payloadOf(length)
        expect([text?.[0], Buffer.from(text?.[1] ?? '').equals(payload)]).toEqual(['text', true])
        expect([ping?.[0], String(ping?.[1])]).toEqual(['ping', 'hello'])
        expect([binary?.[0], Buffer.from(binary?.[1] ?? '').equals(Buffer.concat([payload, payload]))]).toEqual([
          'binary',
          true,
        ])
      }
    })
  }

  test('and the bytes of an unfinished message are reported', () => {
    const { reader, heard } = readerOf()
    const frame = clientFrame(0x81, payloadOf(100))
    for (const [from, to] of [
      [0, 6],
      [6, 56],
      [56, 105],
      [105, 106],
    ])
      reader.push(frame.subarray(from, to))
    expect(heard).toEqual([50, 99, 0, ['text', new Uint8Array(payloadOf(100))]])
  })

  test('up to a close frame', () => {
    for (const [payload, expected] of [
      [[], ['close', undefined]],
      [
        [0x03, 0xe8],
        ['close', 1000],
      ],
      [
        [0x0f, 0xa0, 0x61],
        ['close', 4000],
      ],
      [[0x03], ['error', 1002]],
      [
        [0x03, 0xed],
        ['error', 1002],
      ],
      [
        [0x07, 0xd0],
        ['error', 1002],
      ],
      [
        [0x03, 0xe8, 0xff],
        ['error', 1007],
      ],
    ] as const) {
      const { reader, heard } = readerOf()
      reader.push(clientFrame(0x88, Buffer.from(payload)))
      expect(heard).toEqual([expected])
    }
  })
})

describe('a frame is an error', () => {
  const a = Buffer.from('a')
  const cases: Readonly<Record<string, readonly [readonly Buffer[], number]>> = {
    'with a reserved bit': [[clientFrame(0xc1, a)], 1002],
    'with an unknown opcode': [[clientFrame(0x83, a)], 1002],
    'without a mask': [[Buffer.from([0x81, 1, 0x61])], 1002],
    'that continues no message': [[clientFrame(0x80, a)], 1002],
    'that begins a message within another': [[clientFrame(0x01, a), clientFrame(0x81, a)], 1002],
    'of control that is fragmented': [[clientFrame(0x09, a)], 1002],
    'of control that is long': [[clientFrame(0x89, Buffer.alloc(126))], 1002],
    'that is too long, before its payload': [[clientFrame(0x81, Buffer.alloc(100_001)).subarray(0, 14)], 1009],
    'with a length of 2^63': [[Buffer.from([0x81, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4])], 1009],
    'that makes its message too long': [
      [clientFrame(0x01, Buffer.alloc(60_000)), clientFrame(0x80, Buffer.alloc(60_000))],
      1009,
    ],
  }
  for (const [name, [frames, code]] of Object.entries(cases)) {
    test(`${name}, and nothing more is read`, () => {
      const { reader, heard } = readerOf()
      for (const frame of [...frames, clientFrame(0x89, a)]) reader.push(frame)
      expect(heard.filter((each) => typeof each !== 'number')).toEqual([['error', code]])
    })
  }
})

import { describe, expect, test } from 'bun:test'
import { createFrameSplitter, EventTooLargeError, type Frame } from '../../plugins/sse-relay/index.ts'
import { repeats } from '../support/repetitions.ts'
import { bytesOf } from './bodies.ts'
import { chop } from './vectors.ts'

const said = ({ bytes, event }: Frame) => [new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes), event?.data]
const framesOf = (...pieces: string[]) => {
  const splitter = createFrameSplitter()
  return pieces.map((piece) => splitter.push(bytesOf(piece)).map(said))
}

describe('a frame is delivered as soon as it is complete', () => {
  test('an event includes its blank line', () => {
    expect(framesOf('data: a\n', '\ndata: b\n\ndata:', ' c\n\n')).toEqual([
      [],
      [
        ['data: a\n\n', 'a'],
        ['data: b\n\n', 'b'],
      ],
      [['data: c\n\n', 'c']],
    ])
  })

  test('a comment outside an event is a frame; inside an event it is part of it', () => {
    expect(framesOf(': a\n', '\n', 'data: b\n', ': c\n', '\n')).toEqual([
      [[': a\n', undefined]],
      [['\n', undefined]],
      [],
      [],
      [['data: b\n: c\n\n', 'b']],
    ])
  })

  test('a CR ends a line, and a later LF belongs to the next frame', () => {
    expect(framesOf('data: a\r\r', 'data: b\r', '\n\r', '\n', ': c\r', '\ndata: d\r\n\r\n')).toEqual([
      [['data: a\r\r', 'a']],
      [],
      [['data: b\r\n\r', 'b']],
      [['\n', undefined]],
      [[': c\r', undefined]],
      [
        ['\n', undefined],
        ['data: d\r\n\r\n', 'd'],
      ],
    ])
  })

  test('the first bytes of a BOM alone are part of a line, which is neither blank nor a comment', () => {
    for (const start of [[0xef], [0xef, 0xbb]]) {
      for (const rest of ['\n', ': a\n']) {
        const splitter = createFrameSplitter()
        expect(splitter.push(Uint8Array.of(...start, ...bytesOf(rest)))).toEqual([])
        expect(splitter.push(bytesOf('data: b\n\n')).map(({ event }) => event?.data)).toEqual(['b'])
      }
    }
  })

  test('a BOM is part of the first frame, but not of its data', () => {
    expect(framesOf('\uFEFF: a\ndata: b\n\n\uFEFFdata: c\n\n')).toEqual([
      [
        ['\uFEFF: a\n', undefined],
        ['data: b\n\n', 'b'],
        ['\uFEFFdata: c\n\n', undefined],
      ],
    ])
  })
})

describe('the end of the stream', () => {
  const rest = (...pieces: string[]) => {
    const splitter = createFrameSplitter()
    for (const piece of pieces) splitter.push(bytesOf(piece))
    return splitter.end()
  }

  test('after a complete frame nothing is left', () => {
    for (const text of ['', 'data: a\n\n', ': a\n', 'data: a\r\r', '\n']) expect(rest(text)).toBeUndefined()
  })

  test('a last event without a blank line or line end is delivered, as by OpenAI’s client', () => {
    for (const text of ['data: a', 'data: a\n', 'data: a\r', 'data: a\r\n']) {
      expect(rest(text)?.event).toEqual({ type: 'message', data: 'a' })
    }
    expect(rest('event: x\nid: 1')?.event).toBeUndefined()
    expect(rest(': a')?.event).toBeUndefined()
  })

  test('reports the missing line ends of an incomplete frame exactly', () => {
    const needed = {
      'data: a': '\n\n',
      'data: a\n': '\n',
      'data: a\r': '\n\n',
      'data: a\r\n': '\n',
      'data: a\n: b': '\n\n',
      'data: a\n: b\n': '\n',
      ': a': '\n',
      '\uFEFF: a': '\n',
      '\uFEFF': '',
      x: '\n\n',
    }
    for (const [text, closing] of Object.entries(needed)) {
      expect([text, rest(text)?.missingEnd]).toEqual([text, closing])
      for (const [at] of [...text].entries()) expect(rest(text.slice(0, at), text.slice(at))?.missingEnd).toBe(closing)
      const closed = createFrameSplitter()
      closed.push(bytesOf(text + closing))
      expect(closed.end()?.bytes).toEqual(closing === '' ? bytesOf(text) : undefined)
    }
    const half = createFrameSplitter()
    half.push(Uint8Array.of(0xef, 0xbb))
    expect(half.end()?.missingEnd).toBe('\n\n')
  })
})

describe('an event above the size limit', () => {
  const maxBytes = 100
  const exactly = `data: ${'x'.repeat(maxBytes - 8)}\n\n`
  const feed = (text: string, size: number) => {
    const splitter = createFrameSplitter({ maxEventBytes: maxBytes })
    for (const piece of chop(bytesOf(text), [size])) splitter.push(piece)
    splitter.end()
  }
  const sizes = [1, 7, 64, 1000]

  test('is an error; an event of exactly the limit is not', () => {
    for (const size of sizes) {
      feed(exactly + exactly, size)
      expect(() => feed(`:${exactly}`, size)).not.toThrow()
      expect(() => feed(`x${exactly}`, size)).toThrow(EventTooLargeError)
    }
  })

  test('is detected before its end: endless lines, comments, fields without data, comments inside an event', () => {
    const endless = ['data: xx', ':', 'id: 1\nevent: y\n', 'x\n: comment\n: comment\n', 'retry: 1\r']
    for (const text of endless) {
      for (const size of sizes)
        expect(() => feed(text + text.repeat(30) + 'x'.repeat(maxBytes), size)).toThrow(EventTooLargeError)
    }
  })

  test('does not include the bytes between events', () => {
    for (const text of ['\n', ': comment\n', '\r', 'data: x\n\n'])
      for (const size of sizes) feed(text.repeat(300), size)
  })

  test('is reported after the frames before it', () => {
    const splitter = createFrameSplitter({ maxEventBytes: maxBytes })
    expect(splitter.push(bytesOf(`data: a\n\n${'x'.repeat(maxBytes + 1)}`)).map(said)).toEqual([['data: a\n\n', 'a']])
    expect(() => splitter.push(bytesOf('\n\n'))).toThrow(EventTooLargeError)
    expect(() => splitter.push(bytesOf('data: b\n\n'))).toThrow(EventTooLargeError)
    expect(() => splitter.end()).toThrow(EventTooLargeError)
  })

  test('has a default limit of 16 MiB', () => {
    const pieces = chop(new Uint8Array(2 ** 24), [2 ** 20])
    const splitter = createFrameSplitter()
    for (const piece of pieces) splitter.push(piece)
    expect(() => splitter.push(Uint8Array.of(0))).toThrow('16777216')
  })
})

describe('the time for ten mebibytes does not grow with the number of pieces', () => {
  // A quadratic algorithm would take hours.
  const count = (bytes: Uint8Array, size: number): number => {
    const splitter = createFrameSplitter()
    let frames = 0
    for (let at = 0; at < bytes.length; at += size) frames += splitter.push(bytes.subarray(at, at + size)).length
    return frames
  }
  const longEvent = (mebibytes: number) => bytesOf(`data: ${'x'.repeat(mebibytes * 2 ** 20)}\n\n`)
  const one = longEvent(10)
  const many = bytesOf('data: 0123456789 0123456789\n\n'.repeat(350_000))
  const lines = bytesOf(`${'data: 0123456789 0123456789\n'.repeat(350_000)}\n`)
  const returns = bytesOf(`${'data: 0123456789 0123456789\r'.repeat(350_000)}\r`)

  for (const size of [100, 65_536, Number.POSITIVE_INFINITY]) {
    test(`pieces of ${size}`, () => {
      expect([one, many, lines, returns].map((bytes) => count(bytes, size))).toEqual([1, 350_000, 1, 1])
    }, 300_000)
  }

  test('single bytes', () => {
    expect(count(longEvent(repeats(2, 10)), 1)).toBe(1)
  }, 300_000)
})

describe('bytes that are recognised as an event', () => {
  const known = 'data: a\n\n'
  const recognising = (texts: readonly string[]) => {
    const asked: string[] = []
    const frames = createFrameSplitter({
      parse: () => ({ type: 'message', data: 'parsed' }),
      recognise(bytes) {
        const text = new TextDecoder().decode(bytes)
        asked.push(text)
        return texts.includes(text) ? { type: 'message', data: 'recognised' } : undefined
      },
    })
    return { asked, push: (text: string) => frames.push(bytesOf(text)).map(said) }
  }

  test('are not parsed: as a chunk of their own, beside others, and in pieces', () => {
    const { push } = recognising([known])
    expect(push(`data: b\n\n${known}`)).toEqual([
      ['data: b\n\n', 'parsed'],
      [known, 'recognised'],
    ])
    expect(push(known)).toEqual([[known, 'recognised']])
    expect(push('data:')).toEqual([])
    expect(push(' a\n\n')).toEqual([[known, 'recognised']])
  })

  test('are looked for where a frame begins and ends, and nowhere else', () => {
    const { push, asked } = recognising([known, 'data: a\r\n\r'])
    expect(push('data: b\n')).toEqual([])
    expect(push(known)).toEqual([[`data: b\n${known}`, 'parsed']])
    expect(push('data: a\r\n\r')).toEqual([['data: a\r\n\r', 'recognised']])
    // What ends its line is of it, so that this is no event.
    expect(push('\n')).toEqual([['\n', undefined]])
    expect(asked).toEqual([`data: b\n${known}`, 'data: a\r\n\r'])
  })

  test('are too large where any other event would be', () => {
    const frames = createFrameSplitter({ maxEventBytes: 8, recognise: () => ({ type: 'message', data: 'recognised' }) })
    frames.push(bytesOf('data\n\n'))
    expect(() => frames.push(bytesOf('data: a\n\n'))).toThrow(EventTooLargeError)
  })
})

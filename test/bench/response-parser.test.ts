import { describe, expect, test } from 'bun:test'
import { ResponseParser } from './response-parser.ts'

const withLength = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello'
const empty = 'HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n'
const inChunks = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nA\r\n0123456789\r\n0\r\n\r\n'

/** Feeds a text in pieces of `size` bytes. Returns the number of bytes until the response is complete. */
const endOf = (parser: ResponseParser, text: string, size: number): number | undefined => {
  for (let at = 0; at < text.length; at += size) {
    if (parser.feed(Buffer.from(text.slice(at, at + size)))) return Math.min(at + size, text.length)
  }
  return undefined
}

describe('the response parser of the load generator', () => {
  for (const size of [1, 2, 3, 7, 1_000]) {
    test(`parses consecutive responses in pieces of ${size} bytes`, () => {
      const parser = new ResponseParser()
      for (const [text, status] of [
        [withLength, 200],
        [inChunks, 200],
        [empty, 401],
        [inChunks, 200],
      ] as const) {
        parser.reset()
        expect(endOf(parser, text, size)).toBe(text.length)
        expect(parser.status).toBe(status)
      }
    })
  }

  test('does not complete a truncated response', () => {
    for (const text of [withLength, inChunks, empty]) {
      expect(endOf(new ResponseParser(), text.slice(0, -1), 4)).toBeUndefined()
    }
  })

  test('counts the bytes of the body', () => {
    const parser = new ResponseParser()
    parser.feed(Buffer.from(inChunks.slice(0, inChunks.indexOf('\r\n\r\n') + 4)))
    expect(parser.bytes).toBe(0)
    parser.feed(Buffer.from('5\r\nhe'))
    expect(parser.bytes).toBeGreaterThan(0)
  })

  test('throws for a chunk without a size', () => {
    const cut = inChunks.replace('A\r\n', 'z\r\n')
    expect(() => new ResponseParser().feed(Buffer.from(cut))).toThrow('a chunk without a size')
  })
})

import { describe, expect, test } from 'bun:test'
import { Answers } from './answers.ts'

const withLength = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello'
const empty = 'HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n'
const inChunks = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nA\r\n0123456789\r\n0\r\n\r\n'

/** Feeds a text in pieces of some bytes; how many bytes it took until the answer ended. */
const endOf = (answers: Answers, text: string, size: number): number | undefined => {
  for (let at = 0; at < text.length; at += size) {
    if (answers.feed(Buffer.from(text.slice(at, at + size)))) return Math.min(at + size, text.length)
  }
  return undefined
}

describe('the load generator reads answers', () => {
  for (const size of [1, 2, 3, 7, 1_000]) {
    test(`whose bytes come ${size} at a time, one answer after the other`, () => {
      const answers = new Answers()
      for (const [text, status] of [
        [withLength, 200],
        [inChunks, 200],
        [empty, 401],
        [inChunks, 200],
      ] as const) {
        answers.reset()
        expect(endOf(answers, text, size)).toBe(text.length)
        expect(answers.status).toBe(status)
      }
    })
  }

  test('an answer that is cut off has not ended', () => {
    for (const text of [withLength, inChunks, empty]) {
      expect(endOf(new Answers(), text.slice(0, -1), 4)).toBeUndefined()
    }
  })

  test('says when the body has begun', () => {
    const answers = new Answers()
    answers.feed(Buffer.from(inChunks.slice(0, inChunks.indexOf('\r\n\r\n') + 4)))
    expect(answers.bytes).toBe(0)
    answers.feed(Buffer.from('5\r\nhe'))
    expect(answers.bytes).toBeGreaterThan(0)
  })

  test('a chunk without a size is an error', () => {
    const cut = inChunks.replace('A\r\n', 'z\r\n')
    expect(() => new Answers().feed(Buffer.from(cut))).toThrow('a chunk without a size')
  })
})

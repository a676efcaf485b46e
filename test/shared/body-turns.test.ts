import { expect, test } from 'bun:test'
import { bytesPerTurn, turns } from '../../plugins/shared/background/turns.ts'
import { Chunks } from '../../plugins/shared/http/body/read-body.ts'
import { inSteps } from '../../plugins/shared/upstream/large-body.ts'

/** @param length of each chunk */
const collected = (count: number, length: number): Chunks => {
  const chunks = new Chunks()
  for (let nth = 0; nth < count; nth++) chunks.push(new Uint8Array(length).fill(nth % 251))
  return chunks
}

test('a large body is joined over several turns of the event loop, in large and in small chunks', async () => {
  for (const length of [2 ** 16, 2 ** 12, 2 ** 9]) {
    const count = (8 * bytesPerTurn) / length
    const before = turns.count
    const bytes = await collected(count, length).join()
    expect(turns.count - before).toBe(7)
    for (let nth = 0; nth < count; nth++) expect(bytes[nth * length + length - 1]).toBe(nth % 251)
  }
})

test('no step of a body copies more than a turn may', () => {
  const { set } = Uint8Array.prototype
  for (const length of [2 ** 14, 100, 1]) {
    const chunks = new Chunks()
    let copied = 0
    Uint8Array.prototype.set = function (this: Uint8Array, source: ArrayLike<number>, at?: number) {
      copied += source.length
      return set.call(this, source, at)
    }
    try {
      for (let nth = 0; nth < 5_000; nth++) {
        copied = 0
        chunks.push(new Uint8Array(length))
        if (copied > bytesPerTurn) break
      }
    } finally {
      Uint8Array.prototype.set = set
    }
    expect(copied).toBeLessThanOrEqual(bytesPerTurn)
  }
})

test('a small body needs no turn and no promise', () => {
  const before = turns.count
  expect(collected(3, 1_000).join()).toBeInstanceOf(Uint8Array)
  expect(turns.count).toBe(before)
})

test('the large body of a request has its length, and is copied as it is read', async () => {
  const bytes = Uint8Array.from({ length: bytesPerTurn + 100_000 }, (_, nth) => nth % 251)
  const body = inSteps(bytes) as Blob
  expect(body.size).toBe(bytes.length)
  expect(body.type).toBe('')
  const read: Uint8Array[] = []
  for await (const chunk of body.stream()) read.push(chunk)
  expect(Math.max(...read.map(({ length }) => length))).toBeLessThanOrEqual(2 ** 16)
  expect(Buffer.compare(Buffer.concat(read), bytes)).toBe(0)
  expect(read.every(({ buffer }) => buffer !== bytes.buffer)).toBe(true)
})

test('any other body of a request stays as it is', () => {
  for (const body of [undefined, null, '{}', new Uint8Array(bytesPerTurn)]) expect(inSteps(body)).toBe(body as never)
})

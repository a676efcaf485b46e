import { describe, expect, test } from 'bun:test'
import {
  type ByteSource,
  byteSourceOf,
  responseFrom,
  sourceFrom,
  streamFrom,
  type Write,
} from '../../plugins/shared/http/body/byte-source.ts'
import { settled } from '../support/virtual-clock.ts'

/** A source that a test fills. */
const byHand = () => {
  const over = Promise.withResolvers<void>()
  const cancelled: unknown[] = []
  let write: Write | undefined
  const source: ByteSource = {
    writeTo(given) {
      write = given
      return over.promise
    },
    async cancel(reason) {
      cancelled.push(reason)
      over.resolve()
    },
  }
  return {
    source,
    cancelled,
    say: (text: string) => write?.(Buffer.from(text)),
    begun: () => write !== undefined,
    over,
  }
}

describe('a source as a stream', () => {
  test('starts with the first read, and applies backpressure until the next read', async () => {
    const { source, say, begun, over } = byHand()
    const reader = streamFrom(source).getReader()
    await settled()
    expect(begun()).toBe(false)
    const first = reader.read()
    await settled()
    let wanted = 0
    void say('a')?.then(() => wanted++)
    expect(Buffer.from((await first).value ?? []).toString()).toBe('a')
    await settled()
    expect(wanted).toBe(0)
    const second = reader.read()
    await settled()
    expect(wanted).toBe(1)
    say('b')
    expect(Buffer.from((await second).value ?? []).toString()).toBe('b')
    over.resolve()
    expect((await reader.read()).done).toBe(true)
  })

  test('gives two pending reads two pieces', async () => {
    const { source, say } = byHand()
    const reader = streamFrom(source).getReader()
    const readings = [reader.read(), reader.read()]
    await settled()
    await say('a')
    say('b')
    expect((await Promise.all(readings)).map(({ value }) => Buffer.from(value ?? []).toString())).toEqual(['a', 'b'])
  })

  test('breaks with the error of the source, and does not end normally', async () => {
    const { source, say, over } = byHand()
    const reader = streamFrom(source).getReader()
    const first = reader.read()
    await settled()
    say('a')
    await first
    const failure = new Error('broken')
    over.reject(failure)
    await expect(reader.read()).rejects.toBe(failure)
  })

  test('cancels the source, also under backpressure', async () => {
    const { source, say, cancelled } = byHand()
    const reader = streamFrom(source).getReader()
    const first = reader.read()
    await settled()
    const taken = say('a')
    await first
    await reader.cancel('why')
    await taken
    expect(cancelled).toEqual(['why'])
  })
})

test('a stream as a source keeps backpressure and errors', async () => {
  let pulled = 0
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        pulled++
        if (pulled === 3) throw new Error('broken')
        controller.enqueue(Uint8Array.of(pulled))
      },
    },
    { highWaterMark: 0 },
  )
  const taken = Promise.withResolvers<void>()
  const received: number[] = []
  const writing = sourceFrom(body).writeTo((bytes) => {
    received.push(...bytes)
    return taken.promise
  })
  await settled()
  expect([received, pulled]).toEqual([[1], 1])
  taken.resolve()
  await expect(writing).rejects.toThrow('broken')
  expect(received).toEqual([1, 2])
})

test('a response provides its source, and is also a normal response', async () => {
  const response = responseFrom(sourceFrom(new Blob(['abc']).stream()), { status: 201, headers: { a: 'b' } })
  expect(byteSourceOf(response)).toBeDefined()
  expect(byteSourceOf(new Response('abc'))).toBeUndefined()
  expect([response.status, response.headers.get('a'), await response.text()]).toEqual([201, 'b', 'abc'])
})

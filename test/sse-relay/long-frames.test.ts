import { expect, test } from 'bun:test'
import { turns } from '../../plugins/shared/background/turns.ts'
import { readFrames } from '../../plugins/sse-relay/reader.ts'

const frame = (name: string, length = 0) => `data: ${name}${'x'.repeat(length)}\n\n`
const long = 2 ** 17

const bodyOf = (...chunks: readonly string[]) => {
  const pieces = chunks.map((chunk) => new TextEncoder().encode(chunk))
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = pieces.shift()
      if (piece) controller.enqueue(piece)
      else controller.close()
    },
  })
}

/** The first letter of each frame, by the calls that have returned them. */
const callsOf = async (body: ReadableStream<Uint8Array>) => {
  const reader = readFrames(body)
  const calls: string[] = []
  for (let frames = await reader.next(); frames; frames = await reader.next())
    calls.push(frames.map(({ event }) => event?.data[0]).join(''))
  return calls
}

test('each long frame is returned in a turn of its own, after the short ones before it', async () => {
  const text = [frame('a'), frame('B', long), frame('C', long), frame('d'), frame('e'), frame('F', long), frame('g')]
  const before = turns.count
  expect(await callsOf(bodyOf(text.join('')))).toEqual(['aB', 'C', 'deF', 'g'])
  expect(turns.count - before).toBe(4)
})

test('short frames wait for no turn, and a long one may be the last, without its end', async () => {
  const before = turns.count
  expect(await callsOf(bodyOf(frame('a') + frame('b'), frame('c')))).toEqual(['ab', 'c'])
  expect(turns.count).toBe(before)
  expect(await callsOf(bodyOf(frame('a'), frame('B', long).trimEnd()))).toEqual(['a', '', 'B'])
  expect(turns.count).toBe(before + 1)
})

test('frames that wait are dropped when the reader is cancelled, and returned before the error of the body', async () => {
  const twoLong = frame('A', long) + frame('B', long)
  const cancelled = readFrames(bodyOf(twoLong))
  expect(await cancelled.next()).toHaveLength(1)
  const next = cancelled.next()
  await cancelled.cancel()
  expect(await next).toBeUndefined()

  const tooLong = readFrames(bodyOf(twoLong + frame('C', 2 * long)), { maxEventBytes: long + 100 })
  expect(await tooLong.next()).toHaveLength(1)
  expect(await tooLong.next()).toHaveLength(1)
  await expect(tooLong.next()).rejects.toThrow('event')
})

import { describe, expect, test } from 'bun:test'
import { StreamError } from '../../plugins/text-generation/protocol/assembly.ts'
import { response, text } from './responses-assembly-corpus.ts'
import { delta, ending, plain, stream } from './responses-assembly-plain-text.ts'
import { assembled, eventsOf, read, resultOf, wire, written } from './responses-assembly-streams.ts'

/** The error for invalid events. */
const refusal = (...events: readonly string[]): StreamError => {
  try {
    assembled(events.flatMap(read))
  } catch (error) {
    if (error instanceof StreamError) return error
    throw error
  }
  throw new Error('nothing was rejected')
}

describe('whether a response is complete', () => {
  test('only a terminal event completes it', () => {
    const before = wire(eventsOf(plain).slice(0, -1), 'data: [DONE]\n\n')
    expect(assembled(read(before)).complete).toBe(false)
    expect(() => assembled(read(before)).result()).toThrow(StreamError)
    for (const type of ['response.completed', 'response.incomplete', 'response.failed']) {
      expect(assembled(read(ending(plain, type))).complete).toBe(true)
    }
  })

  test('after `[DONE]` everything is ignored', () => {
    expect(assembled(read(`data: [DONE]\n\n${stream}`)).complete).toBe(false)
    expect(assembled(read(`${stream}data: [DONE]\n\nevent: error\ndata: {}\n\n`)).complete).toBe(true)
  })

  test('after the terminal event only an error counts', () => {
    expect(resultOf(stream + delta({ output_index: 0 }) + ending(response([])))).toEqual(plain)
    expect(refusal(stream, 'data: {"type":"error","message":"late"}\n\n').message).toBe('late')
  })

  test('the highest sequence number is reported', () => {
    expect(assembled([]).sequenceNumber).toBe(-1)
    expect(assembled(read(stream)).sequenceNumber).toBe(eventsOf(plain).length - 1)
    const numbers = [7, 3, '9', 1.5, null].map(
      (sequence_number) => `data: ${JSON.stringify({ type: 'keepalive', sequence_number })}\n\n`,
    )
    expect(
      assembled(read(`${numbers.join('')}data: {"type":"keepalive","sequence_number":1e400}\n\n`)).sequenceNumber,
    ).toBe(7)
  })
})

describe('errors', () => {
  test('an error event throws the upstream’s error', () => {
    const said = { type: 'error', code: 'rate_limit_exceeded', message: 'slow down', param: null, sequence_number: 3 }
    const error = refusal(stream.slice(0, 0), `event: error\ndata: ${JSON.stringify(said)}\n\n`)
    expect(error.message).toBe('slow down')
    expect(error.upstreamError).toEqual(said)
  })

  test('so do the error formats of other upstreams', () => {
    const error = { message: 'slow down', type: 't', code: 429 }
    for (const data of [
      `data: ${JSON.stringify({ error })}\n\n`,
      `event: error\ndata: ${JSON.stringify({ error })}\n\n`,
      `data: ${JSON.stringify({ type: 'error', error })}\n\n`,
      `event: error\ndata: ${JSON.stringify(error)}\n\n`,
    ]) {
      expect(refusal(data).message).toBe('slow down')
      expect(refusal(data).upstreamError).toEqual(error)
    }
    expect(refusal('data: {"error":"slow down"}\n\n').message).toBe('slow down')
    expect(refusal('event: error\ndata: slow down\n\n').upstreamError).toEqual({ message: 'slow down' })
    expect(refusal('event: error\ndata: {}\n\n').message).toBe('upstream reported an error')
  })

  test('a null error is ignored', () => {
    expect(resultOf(stream.replaceAll('"sequence_number"', '"error":null,"sequence_number"'))).toEqual(plain)
  })

  test('invalid JSON throws, without the data in the message', () => {
    expect(refusal('data: <html>secret\n\n').message).not.toContain('secret')
    expect(refusal('data: {"type":"response.out\n\n').upstreamError).toBeUndefined()
  })

  test('an invalid index, or one beyond 1024, throws', () => {
    for (const index of [-1, 1.5, '0', 1024, 2 ** 40, {}, true]) {
      expect(refusal(delta({ output_index: index }))).toBeInstanceOf(StreamError)
      expect(refusal(delta({ output_index: 0, content_index: index }))).toBeInstanceOf(StreamError)
    }
    expect(refusal(delta({ output_index: 'BIG' }).replace('"BIG"', '1e400'))).toBeInstanceOf(StreamError)
    const command = { type: 'response.shell_call_command.delta', output_index: 0, command_index: 1e9, delta: 'x' }
    expect(refusal(written(command, 0))).toBeInstanceOf(StreamError)
  })

  test('more than 1024 items throw', () => {
    const items = Array.from({ length: 1025 }, (_, at) => ({
      type: 'response.output_item.added',
      item: { id: `i${at}` },
    }))
    expect(assembled(read(wire(items.slice(1)))).complete).toBe(false)
    expect(refusal(wire(items))).toBeInstanceOf(StreamError)
    const one = items.map((event) => ({ ...event, output_index: 0 }))
    expect(refusal(wire(one))).toBeInstanceOf(StreamError)
    const part = { type: 'response.content_part.added', output_index: 0, part: text('') }
    expect(refusal(wire(Array.from({ length: 1025 }, () => part)))).toBeInstanceOf(StreamError)
  })

  test('more text than the limit throws, but the terminal event still counts', () => {
    const assembly = assembled(read(wire(eventsOf(plain).slice(0, 1))), { maxBytes: 2000 })
    const [event] = read(delta({ output_index: 0, delta: 'é'.repeat(400) }))
    if (!event) throw new Error('no event')
    assembly.push(event)
    expect(() => assembly.push(event)).toThrow('upstream sent more than 2000 bytes')
    for (const end of read(ending(plain))) assembly.push(end)
    expect(assembly.complete).toBe(true)
  })

  test('the members around a delta, and previews, do not count', () => {
    const preview = { type: 'response.image_generation_call.partial_image', partial_image_b64: 'a'.repeat(2000) }
    const events = [
      preview,
      ...Array.from({ length: 100 }, () => ({
        type: 'response.output_text.delta',
        delta: 'x',
        logprobs: [],
        output_index: 0,
      })),
    ]
    expect(
      JSON.parse(assembled(read(wire(events)), { maxBytes: 100 }).partial()).output[0].content[0].text,
    ).toHaveLength(100)
  })
})

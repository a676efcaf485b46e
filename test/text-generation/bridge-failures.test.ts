import { describe, expect, test } from 'bun:test'
import { StreamError } from '../../plugins/text-generation/protocol/assembly.ts'
import { chunk, dataOf, eventsIn, finish, newBridge, toolDelta } from './bridge-fixture.ts'

describe('an invalid or interrupted stream', () => {
  test('is complete only after the finish reason', () => {
    const bridge = newBridge()
    expect(bridge.complete).toBe(false)
    bridge.push(dataOf(chunk({ content: 'x' })))
    expect(bridge.push({ type: 'message', data: '[DONE]' })).toBe('')
    bridge.push(dataOf(finish('')))
    expect(bridge.complete).toBe(false)
    bridge.push(dataOf(finish('stop')))
    expect(bridge.complete).toBe(true)
  })

  test('throws the upstream’s error', () => {
    const said = { error: { message: 'overloaded', code: 529 } }
    for (const [type, value] of [
      ['message', said],
      ['error', said.error],
      ['error', said],
    ] as const) {
      const bridge = newBridge()
      bridge.push(dataOf(chunk({ content: 'x' })))
      expect(() => bridge.push({ type, data: JSON.stringify(value) })).toThrow(
        expect.objectContaining({ upstreamError: value }),
      )
    }
  })

  test('throws for invalid or too large data', () => {
    const bad: readonly unknown[] = [
      [],
      7,
      chunk({ content: [{ type: 'text', text: 'x' }] }),
      chunk({ tool_calls: ['x'] }),
      chunk({}, { finish_reason: 'error' }),
      chunk({}, { error: { message: 'x' } }),
      {
        choices: [
          { index: 0, delta: { content: 'a' } },
          { index: 1, delta: { content: 'b' } },
        ],
      },
    ]
    for (const value of bad) expect(() => newBridge().push(dataOf(value))).toThrow(StreamError)
    expect(() => newBridge().push({ type: 'message', data: '{"choices":' })).toThrow(StreamError)
  })

  test('accepts empty data, chunks without choices, and nulls', () => {
    const odd = [
      {},
      { choices: null },
      { choices: [null] },
      { choices: [{ delta: null }] },
      chunk({ content: null, tool_calls: null, refusal: null }),
    ]
    const bridge = newBridge()
    expect(bridge.push({ type: 'message', data: ' ' })).toBe('')
    for (const value of odd) bridge.push(dataOf(value))
    bridge.push(dataOf(chunk({ content: 'x' }, { finish_reason: 'stop' })))
    expect(eventsIn(bridge.end()).at(-1)).toMatchObject({
      response: { output: [{ content: [{ text: 'x' }] }] },
    } as never)
  })

  test('ends with the partial response and an error, with consecutive sequence numbers', () => {
    const bridge = newBridge()
    let text = bridge.push(dataOf(chunk({ reasoning: 'hm' })))
    text += bridge.push(dataOf(chunk({ content: 'half' })))
    text += bridge.push(dataOf(toolDelta(0, { name: 'f', arguments: '{"a' }, 'a')))
    // The valid part of a chunk before the invalid part is kept.
    expect(() => bridge.push(dataOf(chunk({ content: ' of it', tool_calls: [7] })))).toThrow(StreamError)
    text += bridge.fail('upstream broke off')
    const events = eventsIn(text)
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, nth) => nth))
    expect(events.slice(-2)).toMatchObject([
      {
        type: 'response.failed',
        response: {
          status: 'failed',
          error: { code: 'server_error', message: 'upstream broke off' },
          output: [
            { type: 'reasoning', status: 'completed' },
            { type: 'message', status: 'incomplete', content: [{ text: 'half of it' }] },
            { type: 'function_call', status: 'incomplete', arguments: '{"a' },
          ],
        },
      },
      { type: 'error', code: 'server_error', message: 'upstream broke off', param: null },
    ] as never)
    expect(text).not.toContain('[DONE]')
  })

  test('sends the first events before the failure', () => {
    expect(eventsIn(newBridge().fail('x')).map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.failed',
      'error',
    ])
  })

  test('has one end only', () => {
    const bridge = newBridge()
    bridge.push(dataOf(finish('stop')))
    bridge.end()
    expect([bridge.end(), bridge.push(dataOf(chunk({ content: 'x' })))]).toEqual(['', ''])
    // For a caller that has not received the events of the end, because the response could not be stored.
    expect(eventsIn(bridge.fail('x')).map(({ type }) => type)).toEqual(['response.failed', 'error'])
    expect([bridge.fail('x'), bridge.end()]).toEqual(['', ''])
  })

  test('is rejected above a size limit', () => {
    const big = chunk({ content: 'x'.repeat(2 ** 23) })
    const bridge = newBridge()
    expect(() => {
      for (let nth = 0; nth < 9; nth++) bridge.push(dataOf(big))
    }).toThrow(StreamError)
  })
})

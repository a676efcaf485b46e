import { describe, expect, test } from 'bun:test'
import { StreamError } from '../../plugins/text-generation/protocol/assembly.ts'
import { type Chunk, chunk, dataOf, finish, last, newBridge, toolDelta } from './bridge-fixture.ts'

describe('tool calls', () => {
  const callsOf = (chunks: readonly Chunk[]) =>
    last([...chunks, finish('tool_calls')]).output.map((item) =>
      item.type === 'function_call' ? [item.call_id, item.name, item.arguments, item.status] : item.type,
    )

  test('without index are separated by id, or continue the last call', () => {
    const chunks = [
      toolDelta(undefined, { name: 'f', arguments: '{' }, 'a'),
      toolDelta(undefined, { arguments: '}' }),
      toolDelta(undefined, { name: 'g', arguments: '[' }, 'b'),
      toolDelta(undefined, { arguments: ' ' }, 'a'),
      toolDelta(undefined, { arguments: ']' }, 'b'),
    ]
    expect(callsOf(chunks)).toEqual([
      ['a', 'f', '{} ', 'completed'],
      ['b', 'g', '[]', 'completed'],
    ])
  })

  test('that all have index 0 are separated by id, name and complete arguments', () => {
    const chunks = [
      toolDelta(0, { name: 'f', arguments: '{}' }, 'a'),
      toolDelta(0, { name: 'f', arguments: '[]' }, 'b'),
    ]
    expect(callsOf(chunks)).toEqual([
      ['a', 'f', '{}', 'completed'],
      ['b', 'f', '[]', 'completed'],
    ])
    const inPieces = [
      toolDelta(0, { name: 'f', arguments: '' }, 'a'),
      toolDelta(0, { arguments: '{}' }),
      toolDelta(0, { name: 'g', arguments: '' }, 'b'),
      toolDelta(0, { arguments: '{}' }),
    ]
    expect(callsOf(inPieces)).toEqual([
      ['a', 'f', '{}', 'completed'],
      ['b', 'g', '{}', 'completed'],
    ])
  })

  test('without index and id are separated by name and complete arguments', () => {
    const chunks = [
      chunk({
        tool_calls: [{ function: { name: 'f', arguments: '{}' } }, { function: { name: 'g', arguments: '[' } }],
      }),
      toolDelta(undefined, { arguments: ']' }),
    ]
    expect(callsOf(chunks)).toEqual([
      ['call_2', 'f', '{}', 'completed'],
      ['call_4', 'g', '[]', 'completed'],
    ])
  })

  test('without index may arrive interleaved, by their ids', () => {
    const chunks = [
      toolDelta(undefined, { name: 'f', arguments: '{' }, 'a'),
      toolDelta(undefined, { name: 'g', arguments: '[' }, 'b'),
      toolDelta(undefined, { arguments: '}' }, 'a'),
      toolDelta(undefined, { arguments: ']' }, 'b'),
    ]
    expect(callsOf(chunks)).toEqual([
      ['a', 'f', '{}', 'completed'],
      ['b', 'g', '[]', 'completed'],
    ])
  })

  test('with an index repeat their name, and have a late id', () => {
    const chunks = [
      toolDelta(0, { name: 'f', arguments: '{}' }),
      toolDelta(0, { name: 'f', arguments: '' }),
      toolDelta(0, { name: 'f', arguments: '' }, 'a'),
    ]
    expect(callsOf(chunks)).toEqual([['call_2', 'f', '{}', 'completed']])
  })

  test('of a custom tool have texts that may end anywhere: only another id or index begins another', () => {
    const piece = (input: string, id?: string) =>
      chunk({ tool_calls: [{ type: 'custom', ...(id && { id }), custom: { name: 'exec', input } }] })
    const { output } = last([piece('{}', 'a'), piece('{}'), piece('x', 'b'), finish('tool_calls')])
    expect(output).toMatchObject([
      { type: 'custom_tool_call', call_id: 'a', input: '{}{}' },
      { type: 'custom_tool_call', call_id: 'b', input: 'x' },
    ])
  })

  test('without index accept a late id', () => {
    const chunks = [toolDelta(undefined, { name: 'f' }), toolDelta(undefined, { arguments: '{}' }, 'a')]
    expect(callsOf(chunks)).toEqual([['a', 'f', '{}', 'completed']])
  })

  test('are identified by index when each delta has another id, or without index continue the last call', () => {
    for (const index of [0, undefined]) {
      const name = index === undefined ? {} : { name: 'f' }
      const chunks = [
        toolDelta(index, { name: 'f', arguments: '{' }, 'a'),
        toolDelta(index, { ...name, arguments: '}' }, 'b'),
      ]
      expect(callsOf(chunks)).toEqual([['a', 'f', '{}', 'completed']])
    }
  })

  test('get a generated id when the upstream’s id is missing or duplicate', () => {
    const chunks = [
      toolDelta(0, { name: 'f', arguments: '1' }),
      toolDelta(1, { name: 'g', arguments: '2' }, 'a'),
      toolDelta(2, { name: 'h', arguments: '3' }, 'a'),
    ]
    expect(callsOf(chunks)).toEqual([
      ['call_2', 'f', '1', 'completed'],
      ['a', 'g', '2', 'completed'],
      ['call_5', 'h', '3', 'completed'],
    ])
  })

  test('are announced once name and id are known', () => {
    const chunks = [
      toolDelta(0, { arguments: '{' }),
      toolDelta(0, { name: 'f' }, 'a'),
      toolDelta(0, { name: '', arguments: '}' }),
    ]
    expect(callsOf(chunks)).toEqual([['a', 'f', '{}', 'completed']])
    expect(callsOf([toolDelta(0, { name: 'f' }), toolDelta(0, {}, 'a')])).toEqual([['a', 'f', '{}', 'completed']])
  })

  test('without arguments are complete', () => {
    expect(callsOf([toolDelta(0, { name: 'f' }, 'a')])).toEqual([['a', 'f', '{}', 'completed']])
  })

  test('with an object as arguments have it as text', () => {
    expect(callsOf([toolDelta(0, { name: 'f', arguments: { a: 1 } }, 'a')])).toEqual([
      ['a', 'f', '{"a":1}', 'completed'],
    ])
  })

  test('are limited to 128', () => {
    const bridge = newBridge()
    const push = (index: number) => bridge.push(dataOf(toolDelta(index, { name: 'f', arguments: '' }, `c${index}`)))
    for (let index = 0; index < 128; index++) push(index)
    expect(() => push(128)).toThrow(StreamError)
  })
})

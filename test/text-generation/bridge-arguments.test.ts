import { expect, spyOn, test } from 'bun:test'
import { JsonEnd } from '../../plugins/text-generation/chat/json-end.ts'
import { bridge, type Chunk, eventsIn, finish, last, toolDelta } from './bridge-fixture.ts'

const argumentsOf = (chunks: readonly Chunk[]) =>
  last([...chunks, finish('tool_calls')]).output.map((item) => (item as { arguments?: string }).arguments)

for (const [title, index, id] of [
  ['and the index', 0, undefined],
  ['and no index', undefined, undefined],
  ['and another id', 0, 'call_'],
] as const) {
  test(`arguments are not parsed before they have ended, where each piece has the name ${title}`, () => {
    const pieces = Array.from({ length: 200 }, () => '{\\"x\\":[]}'.repeat(10))
    const deltas = ['{"text":"', ...pieces, '"}', ' ', ' '].map((text, at) =>
      toolDelta(index, { name: 'weather', arguments: text }, id && `${id}${at}`),
    )
    const parse = spyOn(JSON, 'parse')
    try {
      const text = bridge([...deltas, finish('tool_calls')])
      const long = parse.mock.calls.filter(([source]) => /^\{"text":/.test(String(source)))
      expect(long.length).toBeLessThan(10)
      const done = eventsIn(text).find(({ type }) => type === 'response.function_call_arguments.done')
      expect((done as { arguments: string }).arguments.trimEnd()).toBe(`{"text":"${pieces.join('')}"}`)
    } finally {
      parse.mockRestore()
    }
  })
}

test('the end of a value is found, wherever its text is cut', () => {
  for (const value of ['{}', '[]', '{"a":"}"}', '"a\\""', '{"a":[{"b":"\\\\"}],"c":null}', ' {"a" : 1 } ']) {
    for (let cut = 0; cut <= value.length; cut++) {
      const end = new JsonEnd()
      end.push(value.slice(0, cut))
      expect([value, cut, end.hasEnded]).toEqual([value, cut, cut >= value.trimEnd().length])
      end.push(value.slice(cut))
      expect(end.hasEnded).toBe(true)
      end.push(' \n')
      expect(end.hasEnded).toBe(true)
      end.push('{}')
      expect(end.hasEnded).toBe(false)
    }
  }
})

test('short arguments that are a word or a number count as complete', () => {
  const deltas = [
    toolDelta(undefined, { name: 'weather', arguments: 'null' }, 'a'),
    toolDelta(undefined, { name: 'time', arguments: '{}' }, 'b'),
  ]
  expect(argumentsOf(deltas)).toEqual(['null', '{}'])
})

test('calls whose arguments are nested too deep for a request have none', () => {
  const tools = [{ type: 'tool_search', execution: 'client' }, { type: 'local_shell' }]
  const itemsOf = (depth: number) => {
    const nested = `{"command":["ls"],"env":{"a":${'['.repeat(depth)}${']'.repeat(depth)}}}`
    const calls = ['tool_search', 'local_shell'].map((name, at) =>
      toolDelta(at, { name, arguments: nested }, `call_${at}`),
    )
    return last([...calls, finish('tool_calls')], { tools }).output
  }
  expect(itemsOf(10)).toMatchObject([{ arguments: { command: ['ls'] } }, { action: { command: ['ls'] } }])
  for (const depth of [100, 200_000])
    expect(itemsOf(depth)).toMatchObject([{ arguments: {} }, { action: { command: [], env: {} } }])
})

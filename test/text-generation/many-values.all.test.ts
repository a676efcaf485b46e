/** Runs with `--all`: bodies with hundreds of thousands of values; body-turns.test.ts of test/shared counts the same steps in short ones. */
import { expect, test } from 'bun:test'
import { turns } from '../../plugins/shared/background/turns.ts'
import { Json } from '../../plugins/shared/json/value.ts'
import { type Body, bodyOf, storedOpener } from './stored-fixture.ts'
import { testStore } from './stored-responses.ts'

const store = testStore()

/**
 * The most look-ups of members in a step while `work` ran: between two of all calls of `nextTurn`, which continues one step in a turn of
 * the event loop. They stand for all work on small values.
 */
const mostInAStep = async (work: () => Promise<unknown>): Promise<number> => {
  const { get, all, members } = Json.prototype
  let most = 0
  let count = 0
  let step = turns.count
  const counting = <Args extends unknown[], Result>(look: (this: Json, ...args: Args) => Result) =>
    function (this: Json, ...args: Args): Result {
      if (step !== turns.count) count = 0
      step = turns.count
      most = Math.max(most, ++count)
      return look.apply(this, args)
    }
  Object.assign(Json.prototype, { get: counting(get), all: counting(all), members: counting(members) })
  try {
    await work()
  } finally {
    Object.assign(Json.prototype, { get, all, members })
  }
  return most
}

const list = <Value>(length: number, each: (nth: number) => Value): Value[] =>
  Array.from({ length }, (_, nth) => each(nth))
const items = list(12_000, (nth) => ({ role: nth % 2 === 0 ? 'user' : 'assistant', content: 'x' }))
const texts = list(12_000, () => ({ type: 'text', text: 'x' }))
const parts = list(12_000, () => ({ type: 'input_text', text: 'x' }))
const calls = list(5_000, (nth) => [
  { type: 'function_call', call_id: `c${nth}`, name: 'f', arguments: '{}' },
  { type: 'function_call_output', call_id: `c${nth}`, output: 'o' },
]).flat()
const uses = list(3_000, (nth) => [
  { role: 'assistant', content: [{ type: 'tool_use', id: `t${nth}`, name: 'f', input: {} }] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${nth}`, content: 'x' }] },
]).flat()
const claude = { max_tokens: 9 }

const requests: readonly (readonly [name: string, path: string, body: Body])[] = [
  ['items', '/responses', { store: false, input: items }],
  ['items that are stored', '/responses', { input: items.slice(0, 4_000) }],
  ['parts of a message', '/responses', { input: [{ role: 'user', content: parts }] }],
  ['parts of the output of a tool', '/responses', { input: [calls[0], { ...calls[1], output: parts }] }],
  ['calls of tools', '/responses', { store: false, input: calls }],
  ['items for an upstream with this protocol', '/responses', { model: 'native', input: items }],
  [
    'parts for an upstream with this protocol',
    '/responses',
    { model: 'native', input: [{ role: 'user', content: parts }] },
  ],
  ['empty items', '/responses', { model: 'native', input: list(40_000, () => ({})) }],
  ['tools', '/responses', { input: 'x', tools: list(5_000, (nth) => ({ type: 'function', name: `f${nth}` })) }],
  [
    'tools of a namespace',
    '/responses',
    {
      input: 'x',
      tools: [{ type: 'namespace', name: 'n', tools: list(5_000, (nth) => ({ type: 'function', name: `f${nth}` })) }],
    },
  ],
  ['items to compact', '/responses/compact', { input: items }],
  ['messages', '/messages', { ...claude, messages: items }],
  ['parts of a message', '/messages', { ...claude, messages: [{ role: 'user', content: texts }] }],
  ['uses of tools', '/messages', { ...claude, messages: uses }],
  [
    'tools',
    '/messages',
    { ...claude, messages: items.slice(0, 1), tools: list(8_000, (nth) => ({ name: `f${nth}`, input_schema: {} })) },
  ],
  ['messages to count', '/messages/count_tokens', { messages: items }],
  ['messages', '/chat/completions', { messages: items }],
  ['parts of a message', '/chat/completions', { messages: [{ role: 'user', content: texts }] }],
]

for (const [name, path, body] of requests) {
  test(`a request with many ${name} is handled some thousand look-ups in a step (${path})`, async () => {
    const app = storedOpener(store)()
    const send = async () => {
      const [status] = await bodyOf(app.as('ann', 'POST', path, { model: 'm', ...body }))
      expect(status).toBe(200)
    }
    expect(await mostInAStep(send)).toBeLessThan(20_000)
    // Concurrent requests do not add up.
    expect(await mostInAStep(() => Promise.all([send(), send()]))).toBeLessThan(20_000)
  })
}

test('a stored conversation of many items is continued some thousand look-ups in a step', async () => {
  const app = storedOpener(store)()
  const [, { id }] = await bodyOf(app.as('cat', 'POST', '/responses', { model: 'm', input: items.slice(0, 4_000) }))
  const send = async () => {
    const [status] = await bodyOf(
      app.as('cat', 'POST', '/responses', { model: 'm', input: 'x', previous_response_id: id }),
    )
    expect(status).toBe(200)
    expect(app.asked.at(-1)?.json.messages).toHaveLength(4_002)
  }
  expect(await mostInAStep(send)).toBeLessThan(20_000)
  expect(await mostInAStep(() => Promise.all([send(), send()]))).toBeLessThan(20_000)
})

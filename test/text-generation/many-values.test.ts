import { expect, test } from 'bun:test'
import { setImmediate } from 'node:timers'
import { Json } from '../../plugins/shared/json/value.ts'
import { type Body, bodyOf, storedOpener } from './stored-fixture.ts'
import { testStore } from './stored-responses.ts'

const store = testStore()

/** The most look-ups of members between two turns of the event loop while `work` ran. They stand for all work on small values. */
const mostInATurn = async (work: () => Promise<unknown>): Promise<number> => {
  const { get, all, members } = Json.prototype
  let most = 0
  let count = 0
  let ended = false
  const counting = <Args extends unknown[], Result>(look: (this: Json, ...args: Args) => Result) =>
    function (this: Json, ...args: Args): Result {
      count++
      return look.apply(this, args)
    }
  const sample = () => {
    most = Math.max(most, count)
    count = 0
    if (!ended) setImmediate(sample)
  }
  Object.assign(Json.prototype, { get: counting(get), all: counting(all), members: counting(members) })
  try {
    setImmediate(sample)
    await work()
  } finally {
    ended = true
    sample()
    Object.assign(Json.prototype, { get, all, members })
  }
  return most
}

const list = <Value>(length: number, each: (nth: number) => Value): Value[] =>
  Array.from({ length }, (_, nth) => each(nth))
const items = list(20_000, (nth) => ({ role: nth % 2 === 0 ? 'user' : 'assistant', content: 'x' }))
const texts = list(20_000, () => ({ type: 'text', text: 'x' }))
const parts = list(20_000, () => ({ type: 'input_text', text: 'x' }))
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
  ['empty items', '/responses', { model: 'native', input: list(90_000, () => ({})) }],
  ['items to compact', '/responses/compact', { input: items }],
  ['messages', '/messages', { ...claude, messages: items }],
  ['parts of a message', '/messages', { ...claude, messages: [{ role: 'user', content: texts }] }],
  ['uses of tools', '/messages', { ...claude, messages: uses }],
  ['messages to count', '/messages/count_tokens', { messages: items }],
  ['messages', '/chat/completions', { messages: items }],
  ['parts of a message', '/chat/completions', { messages: [{ role: 'user', content: texts }] }],
]

for (const [name, path, body] of requests) {
  test(`a request with many ${name} is handled some thousand look-ups in a turn of the event loop (${path})`, async () => {
    const app = storedOpener(store)()
    const send = async () => {
      const [status] = await bodyOf(app.as('ann', 'POST', path, { model: 'm', ...body }))
      expect(status).toBe(200)
    }
    expect(await mostInATurn(send)).toBeLessThan(12_000)
    // Concurrent requests take turns.
    expect(await mostInATurn(() => Promise.all([send(), send(), send(), send()]))).toBeLessThan(12_000)
  })
}

test('a stored conversation of many items is continued some thousand look-ups in a turn of the event loop', async () => {
  const app = storedOpener(store)()
  const [, { id }] = await bodyOf(app.as('cat', 'POST', '/responses', { model: 'm', input: items.slice(0, 4_000) }))
  const send = async () => {
    const [status] = await bodyOf(
      app.as('cat', 'POST', '/responses', { model: 'm', input: 'x', previous_response_id: id }),
    )
    expect(status).toBe(200)
    expect(app.asked.at(-1)?.json.messages).toHaveLength(4_002)
  }
  expect(await mostInATurn(send)).toBeLessThan(12_000)
  expect(await mostInATurn(() => Promise.all([send(), send(), send(), send()]))).toBeLessThan(12_000)
})

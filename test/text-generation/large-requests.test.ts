import { expect, test } from 'bun:test'
import { indexed } from '../../plugins/shared/json/value-index.ts'
import { type Body, bodyOf, storedOpener } from './stored-fixture.ts'
import { testStore } from './stored-responses.ts'

const store = testStore()
const mib = 2 ** 20
const long = 'x'.repeat(8 * mib)
const many = Array.from({ length: 4_000 }, () => 'y'.repeat(2_000))
const user = { role: 'user', content: 'hello' }

/** The most bytes of JSON that were read between two turns of the event loop while `work` ran. */
const mostInATurn = async (work: () => Promise<unknown>): Promise<number> => {
  let most = 0
  let last = indexed.bytes
  let ended = false
  const sample = () => {
    most = Math.max(most, indexed.bytes - last)
    last = indexed.bytes
    if (!ended) setImmediate(sample)
  }
  setImmediate(sample)
  await work()
  ended = true
  sample()
  return most
}

const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: JSON.stringify({ a: long }) }
const requests: readonly (readonly [name: string, path: string, body: Body])[] = [
  ['one text', '/responses', { input: long }],
  ['many items', '/responses', { input: many.map((content) => ({ role: 'user', content })) }],
  ['long instructions', '/responses', { input: [{ role: 'system', content: 'z' }, user], instructions: long }],
  ['long reasoning', '/responses', { input: [{ type: 'reasoning', content: [{ text: long }] }, user] }],
  ['a long tool call', '/responses', { input: [call, { type: 'function_call_output', call_id: 'c', output: 'x' }] }],
  ['a long text to compact', '/responses/compact', { input: [{ role: 'user', content: long }] }],
  ['many items to compact', '/responses/compact', { input: many.map((content) => ({ role: 'user', content })) }],
  ['a long message', '/messages', { max_tokens: 9, messages: [{ role: 'user', content: long }] }],
  [
    'a long tool use',
    '/messages',
    {
      max_tokens: 9,
      messages: [
        { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: { a: long } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'x' }] },
      ],
    },
  ],
  ['a long chat', '/chat/completions', { messages: [{ role: 'user', content: long }] }],
]

for (const [name, path, body] of requests) {
  test(`a request with ${name} is read about a MiB in a turn of the event loop (${path})`, async () => {
    const app = storedOpener(store)()
    const most = await mostInATurn(async () => {
      const [status] = await bodyOf(app.as('ann', 'POST', path, { model: 'm', ...body }))
      expect(status).toBe(200)
    })
    expect(app.asked[0]?.text.length).toBeGreaterThan(7.5 * mib)
    // The reader may go on to the end of a value; some steps have two parts.
    expect(most).toBeLessThan(2.5 * mib)
  })
}

test('a response repeats no more than 4 MiB of its request', async () => {
  const app = storedOpener(store)()
  const instructions = 'i'.repeat(3 * mib)
  const [, some] = await bodyOf(
    app.as('bob', 'POST', '/responses', { model: 'm', input: 'x', instructions, user: 'u' }),
  )
  expect([some.instructions === instructions, some.user]).toEqual([true, 'u'])
  for (const stream of [false, true]) {
    const body = { model: 'm', input: 'x', metadata: { a: 'b' }, instructions: long + long + long, user: 'u', stream }
    const response = await app.as('bob', 'POST', '/responses', body)
    expect(response.status).toBe(200)
    const text = await response.text()
    expect(text.length).toBeLessThan(10_000)
    expect(text).toContain('"instructions":null')
    expect(text).toContain('"metadata":{"a":"b"}')
    expect(text).toContain('"user":"u"')
  }
})

test('a response repeats no more than 8,192 keys and values of its request', async () => {
  const app = storedOpener(store)()
  const metadata = Object.fromEntries(Array.from({ length: 5_000 }, (_, nth) => [`k${nth}`, 'v']))
  const repeated = async (body: Body): Promise<Body> => (await bodyOf(app.as('bob', 'POST', '/responses', body)))[1]
  const some = await repeated({ model: 'm', input: 'x', metadata: { a: 'b' }, user: 'u' })
  expect([some.metadata, some.user]).toEqual([{ a: 'b' }, 'u'])
  const less = await repeated({ model: 'm', input: 'x', metadata, user: 'u' })
  expect([less.metadata, less.user]).toEqual([{}, 'u'])
})

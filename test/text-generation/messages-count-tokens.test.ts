import { expect, test } from 'bun:test'
import { turns } from '../../plugins/shared/json/json.ts'
import { minimal, openMessages } from './messages-fixture.ts'

const count = async (request: object): Promise<number> => {
  const app = openMessages()
  const { max_tokens: _, ...rest } = { ...minimal, ...request }
  const response = await app.post('/messages/count_tokens', rest)
  expect([response.status, response.headers.get('x-token-count'), app.asked, app.usage]).toEqual([
    200,
    'estimate',
    [],
    [],
  ])
  const body = (await response.json()) as { input_tokens: number }
  expect(Object.keys(body)).toEqual(['input_tokens'])
  return body.input_tokens
}

const user = (...content: readonly object[]) => ({ messages: [{ role: 'user', content }] })
const text = (value: string) => ({ type: 'text', text: value })

test('the estimate grows with texts by their bytes, with tools, and by a fixed number with each image', async () => {
  const none = await count({})
  expect(none).toBeWithin(5, 15)
  const about = async (request: object, tokens: number) =>
    expect((await count(request)) - none).toBeWithin(tokens - 20, tokens + 20)
  await about({ system: 'word '.repeat(800) }, 1000)
  await about(user(text('汉'.repeat(1000))), 1000)
  await about(user(text('a'), text('word '.repeat(800))), 1000)
  await about({ tools: [{ name: 'f', description: 'x'.repeat(4000), input_schema: {} }] }, 1010)
  const source = { type: 'base64', media_type: 'image/png', data: 'A'.repeat(400_000) }
  await about(user(text('a'), { type: 'image', source }, { type: 'image', source }), 3000)
  await about({ tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, 0)
})

test('a wrong request is rejected as it would be for a message', async () => {
  const app = openMessages()
  const response = await app.post('/messages/count_tokens', { ...minimal, messages: [] })
  expect([response.status, await response.json()]).toMatchObject([
    400,
    { type: 'error', error: { type: 'invalid_request_error', message: 'messages must be a non-empty array' } },
  ])
})

test('a large text is counted in several turns of the event loop', async () => {
  const before = turns.count
  expect(await count({ system: 'x'.repeat(2 ** 23) })).toBeGreaterThan(2_000_000)
  expect(turns.count - before).toBeGreaterThan(12)
})

import { describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { startEmulator } from '../../src/emulator/index.ts'
import { openFixture } from './fixture.ts'

const model = 'emulated-reasoner'

const openUsers = async (options: Parameters<typeof openFixture>[0] = {}) => {
  const fixture = await openFixture(options)
  const bob = new OpenAI({ baseURL: fixture.baseURL, apiKey: fixture.bob.token, maxRetries: 0 })
  return { fixture, ann: fixture.openai, bob }
}

const statusOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 200,
    ({ status, code }: { status?: number; code?: unknown }) => `${status} ${code}`,
  )

describe('the compaction of a conversation', () => {
  test('is that of the upstream, and its items are input of the next request', async () => {
    const { fixture, ann } = await openUsers()
    await using _ = fixture
    const first = await ann.responses.create({ model, input: 'my name is Ann' })
    const compacted = await ann.responses.compact({ model, previous_response_id: first.id })
    expect(compacted).toMatchObject({ object: 'response.compaction', output: [{}, { type: 'compaction' }] })
    const input = [...compacted.output, { role: 'user', content: 'what is my name?' }] as never
    expect(await ann.responses.create({ model, input })).toMatchObject({ status: 'completed' })
    const { calls, input: tokens } = await fixture.recorded()
    expect([calls, tokens > 0]).toEqual([3, true])
  })

  test('belongs to the user: no other may compact the conversation, or use the item by its id', async () => {
    const { fixture, ann, bob } = await openUsers()
    await using _ = fixture
    const first = await ann.responses.create({ model, input: 'my name is Ann' })
    const { output } = await ann.responses.compact({ model, previous_response_id: first.id })
    const calls = fixture.emulator.calls.length
    expect(await statusOf(bob.responses.compact({ model, previous_response_id: first.id }))).toBe(
      '400 previous_response_not_found',
    )
    const input = [{ type: 'item_reference', id: output.at(-1)?.id }] as never
    for (const route of [bob.responses.compact({ model, input }), bob.responses.create({ model, input })])
      expect(await statusOf(route)).toBe('404 null')
    expect(fixture.emulator.calls.length).toBe(calls)
  })
})

describe('the count of input tokens', () => {
  test('is that of the upstream, without usage', async () => {
    const { fixture, ann } = await openUsers()
    await using _ = fixture
    const asked = { model, input: 'How many tokens are these?', instructions: 'Count.' }
    expect(await ann.responses.inputTokens.count(asked)).toEqual(
      await fixture.direct.responses.inputTokens.count(asked),
    )
    expect(await fixture.recorded()).toMatchObject({ calls: 0 })
  })

  test('is not that of the conversation of another user', async () => {
    const { fixture, ann, bob } = await openUsers()
    await using _ = fixture
    const first = await ann.responses.create({ model, input: 'my name is Ann' })
    const asked = { model, input: 'and now?', previous_response_id: first.id }
    expect((await ann.responses.inputTokens.count(asked)).input_tokens).toBeGreaterThan(0)
    expect(await statusOf(bob.responses.inputTokens.count(asked))).toBe('400 previous_response_not_found')
  })
})

describe('before an upstream with chat completions only', () => {
  const options = (upstream: object): Parameters<typeof openFixture>[0] => ({
    text: { upstreams: [upstream as never] },
  })

  test('a count is a 404 that says so', async () => {
    const { fixture, ann } = await openUsers(options({ url: 'http://127.0.0.1:1/v1', chatOnly: true }))
    await using _ = fixture
    const error = await ann.responses.inputTokens.count({ model, input: 'x' }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ status: 404, code: 'unsupported_endpoint', param: 'model' })
    expect(String(error)).toContain('the upstream of this model has chat completions only')
  })

  test('a conversation is compacted by the model, by its items or by the id of a kept response', async () => {
    const emulator = await startEmulator()
    await using _ = emulator
    const { url, key } = { url: emulator.text.chatOnlyUrl, key: emulator.text.key }
    const { fixture, ann, bob } = await openUsers({ ...options({ url, key, chatOnly: true }), emulator })
    await using __ = fixture
    const first = await ann.responses.create({ model, input: 'my name is Ann' })
    for (const asked of [{ input: 'my name is Ann' }, { previous_response_id: first.id }]) {
      const { output } = await ann.responses.compact({ model, ...asked })
      expect([asked, output.map(({ type }) => type)]).toEqual([asked, ['message', 'compaction']])
      const input = [...output, { role: 'user', content: 'what is my name?' }] as never
      expect(await ann.responses.create({ model, input })).toMatchObject({ status: 'completed' })
      expect(JSON.stringify(emulator.calls.at(-1)?.json)).toContain('Summary of the conversation so far:')
      expect(await statusOf(bob.responses.create({ model, input }))).toBe('400 null')
    }
    expect(await statusOf(bob.responses.compact({ model, previous_response_id: first.id }))).toBe(
      '400 previous_response_not_found',
    )
  })
})

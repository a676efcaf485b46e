import { expect, test } from 'bun:test'
import { openFixture } from './fixture.ts'

test('embeddings are the same as without the gateway, as numbers and in base64', async () => {
  await using fixture = await openFixture()
  const { openai, direct } = fixture
  for (const input of ['hello', ['one', 'two'], [[1, 2, 3]], [1, 2, 3]])
    for (const encoding_format of ['float', 'base64', undefined] as const) {
      const asked = { model: 'emulated-embedding', input, encoding_format }
      const received = await openai.embeddings.create(asked)
      expect(received).toEqual(await direct.embeddings.create(asked))
      expect(received.data[0]?.embedding.length).toBeGreaterThan(0)
    }
  expect(await fixture.recorded()).toMatchObject({ calls: 12, unreported: 0, output: 0 })
  expect((await fixture.recorded()).input).toBeGreaterThan(12)
  expect(await fixture.recorded(fixture.bob)).toMatchObject({ calls: 0 })
})

test('completions are the same as without the gateway, streamed and not', async () => {
  await using fixture = await openFixture()
  const { openai, direct } = fixture
  const asked = { model: 'emulated-instruct', prompt: ['Once upon', 'Twice'], max_tokens: 20 }
  const [received, expected] = [await openai.completions.create(asked), await direct.completions.create(asked)]
  const texts = expected.choices.map(({ text }) => text)
  expect(received.choices.map(({ text }) => text)).toEqual(texts)
  expect(received.usage).toEqual(expected.usage as never)

  const streamed = new Map<number, string>()
  for await (const { choices, usage } of await openai.completions.create({ ...asked, stream: true })) {
    expect(usage).toBeUndefined()
    for (const { index, text } of choices) streamed.set(index, (streamed.get(index) ?? '') + text)
  }
  expect([...streamed].sort(([a], [b]) => a - b).map(([, text]) => text)).toEqual(texts)
  expect(await fixture.recorded()).toMatchObject({
    calls: 2,
    unreported: 0,
    output: 2 * (expected.usage?.completion_tokens ?? 0),
  })
})

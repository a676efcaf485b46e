/** Runs with `--all`: a further client library of the same routes. */
import { describe, expect, test } from 'bun:test'
import { AIMessage, type AIMessageChunk, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { z } from 'zod'
import { all, type Fixture, model, openFixtureFor, thrown, until, variants } from './fixture.ts'

const weather = tool(async ({ city }) => `sun over ${city}`, {
  name: 'weather',
  description: 'the weather of a city',
  schema: z.object({ city: z.string() }),
})

const Person = z.object({ name: z.string(), age: z.number().int(), tags: z.array(z.string()) })

for (const variant of variants) {
  for (const useResponsesApi of [false, true]) {
    if (!useResponsesApi && variant.name.startsWith('chat only')) continue

    /** The library with default options except base URL and key. */
    const chatOf = ({ baseURL, apiKey }: Fixture, more: object = {}) =>
      new ChatOpenAI({ model, apiKey, configuration: { baseURL }, useResponsesApi, maxRetries: 0, ...more })

    describe(`LangChain with ${useResponsesApi ? 'responses' : 'chat completions'}, upstream: ${variant.name}`, () => {
      test('invokes a model', async () => {
        await using fixture = await openFixtureFor(variant)
        const response = await chatOf(fixture).invoke([new SystemMessage('Be brief.'), new HumanMessage('hi')])
        expect(response.text).toStartWith('You wrote: “hi”.')
        expect(await fixture.recorded()).toMatchObject({
          ...{ calls: 1, unreported: 0 },
          ...{ input: response.usage_metadata?.input_tokens, output: response.usage_metadata?.output_tokens },
        })
      })

      test('streams a model', async () => {
        await using fixture = await openFixtureFor(variant)
        const chat = chatOf(fixture)
        const whole = await chat.invoke('hi')
        const pieces = await all(await chat.stream('hi'))
        const joined = pieces.reduce<AIMessageChunk | undefined>((sum, piece) => sum?.concat(piece) ?? piece, undefined)
        expect(joined?.text).toBe(whole.text)
        expect(joined?.usage_metadata).toMatchObject({ total_tokens: whole.usage_metadata?.total_tokens })
        expect(await fixture.recorded()).toMatchObject({
          ...{ calls: 2, unreported: 0, output: 2 * (whole.usage_metadata?.output_tokens ?? 0) },
        })
      })

      test('calls tools and returns their results', async () => {
        await using fixture = await openFixtureFor(variant)
        const chat = chatOf(fixture).bindTools([weather])
        const question = new HumanMessage('call weather and call weather')
        const response = await chat.invoke([question])
        expect(response.tool_calls?.map(({ name, args }) => [name, args])).toEqual([
          ['weather', { city: 'city' }],
          ['weather', { city: 'city' }],
        ])
        const results = await Promise.all((response.tool_calls ?? []).map((call) => weather.invoke(call)))
        expect(results.every((result) => ToolMessage.isInstance(result))).toBe(true)
        const last = await chat.invoke([question, response, ...results])
        expect(last.text).toContain('The tool answered: “sun over city”.')
        const pieces = await all(await chat.stream([question]))
        const joined = pieces.reduce<AIMessageChunk | undefined>((sum, piece) => sum?.concat(piece) ?? piece, undefined)
        expect(joined?.tool_calls?.map(({ args }) => args)).toEqual([{ city: 'city' }, { city: 'city' }])
        expect(await fixture.recorded()).toMatchObject({ calls: 3, unreported: 0 })
      })

      test('generates an object, with a schema and with a tool', async () => {
        await using fixture = await openFixtureFor(variant)
        for (const method of ['jsonSchema', 'functionCalling'] as const) {
          const response = await chatOf(fixture).withStructuredOutput(Person, { method, name: 'person' }).invoke('who?')
          expect(Person.safeParse(response).success).toBe(true)
        }
      })

      test('runs a batch of five', async () => {
        await using fixture = await openFixtureFor(variant)
        const names = ['ann', 'bob', 'cid', 'dan', 'eve']
        const responses = await chatOf(fixture).batch(names.map((name) => [new HumanMessage(`I am ${name}`)]))
        expect(responses.map(({ text }) => /“I am (\w+)”/.exec(text)?.[1] ?? '')).toEqual(names)
        const output = responses.reduce((sum, { usage_metadata }) => sum + (usage_metadata?.output_tokens ?? 0), 0)
        expect(await fixture.recorded()).toMatchObject({ calls: 5, unreported: 0, output })
      })

      test('continues a conversation', async () => {
        await using fixture = await openFixtureFor(variant)
        const chat = chatOf(fixture)
        const first = await chat.invoke('hi')
        const second = await chat.invoke([
          new HumanMessage('hi'),
          first,
          new AIMessage('well'),
          new HumanMessage('more'),
        ])
        expect(second.text).toStartWith('You wrote: “more”.')
        expect(second.usage_metadata?.input_tokens).toBeGreaterThan(first.usage_metadata?.input_tokens ?? 0)
      })

      test('raises errors with status and message', async () => {
        await using fixture = await openFixtureFor(variant)
        expect(await thrown(chatOf(fixture, { apiKey: 'sk-nobody' }).invoke('hi'))).toMatchObject({ status: 401 })
        expect(await thrown(chatOf(fixture, { model: 'none' }).invoke('hi'))).toMatchObject({
          ...{ status: 404, code: 'model_not_found' },
        })
        fixture.emulator.faults.add({ kind: 'status', status: 429, headers: { 'retry-after-ms': '1' } })
        expect(await thrown(async () => all(await chatOf(fixture).stream('hi')))).toMatchObject({ status: 429 })
      })

      test('raises an error for an interrupted stream', async () => {
        await using fixture = await openFixtureFor(variant)
        for (const how of ['reset', 'fin', 'clean'] as const) {
          fixture.emulator.faults.add({ kind: 'cut', how, events: 5 })
          const caught = await thrown(async () => all(await chatOf(fixture).stream('hi')))
          expect(String(caught)).toMatch(/upstream/)
        }
      })

      test('aborts the upstream call when the caller aborts', async () => {
        await using fixture = await openFixtureFor(variant, { emulator: { text: { msPerDelta: 3 } } })
        const leaving = new AbortController()
        const caught = thrown(async () => {
          await all(await chatOf(fixture).stream('4000 tokens', { signal: leaving.signal }))
          throw leaving.signal.reason
        })
        await until(() => fixture.generatingCalls().length > 0)
        leaving.abort()
        await caught
        await until(() => fixture.generatingCalls()[0]?.aborted === true)
      })
    })
  }
}

test('LangChain retries after an upstream error and succeeds', async () => {
  const [native] = variants
  await using fixture = await openFixtureFor(native)
  const { apiKey, baseURL, emulator } = fixture
  emulator.faults.add({ kind: 'status', status: 500 })
  const response = await new ChatOpenAI({ model, apiKey, configuration: { baseURL }, maxRetries: 1 }).invoke('hi')
  expect(response.text).toStartWith('You wrote')
  expect(fixture.generatingCalls()).toHaveLength(2)
})

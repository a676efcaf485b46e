import { describe, expect, test } from 'bun:test'
import { AIMessage, type AIMessageChunk, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { z } from 'zod'
import { all, type Clients, model, openWay, thrown, until, ways } from './clients.ts'

const weather = tool(async ({ city }) => `sun over ${city}`, {
  name: 'weather',
  description: 'the weather of a city',
  schema: z.object({ city: z.string() }),
})

const Person = z.object({ name: z.string(), age: z.number().int(), tags: z.array(z.string()) })

for (const way of ways) {
  for (const useResponsesApi of [false, true]) {
    if (!useResponsesApi && way.way.startsWith('chat only')) continue

    /** The library with nothing replaced but address and key. */
    const chatOf = ({ baseURL, apiKey }: Clients, more: object = {}) =>
      new ChatOpenAI({ model, apiKey, configuration: { baseURL }, useResponsesApi, maxRetries: 0, ...more })

    describe(`LangChain by ${useResponsesApi ? 'responses' : 'chat completions'}, an upstream ${way.way}`, () => {
      test('a model is invoked', async () => {
        await using clients = await openWay(way)
        const answer = await chatOf(clients).invoke([new SystemMessage('Be brief.'), new HumanMessage('hi')])
        expect(answer.text).toStartWith('You wrote: “hi”.')
        expect(await clients.recorded()).toMatchObject({
          ...{ calls: 1, unreported: 0 },
          ...{ input: answer.usage_metadata?.input_tokens, output: answer.usage_metadata?.output_tokens },
        })
      })

      test('a model streams', async () => {
        await using clients = await openWay(way)
        const chat = chatOf(clients)
        const whole = await chat.invoke('hi')
        const pieces = await all(await chat.stream('hi'))
        const joined = pieces.reduce<AIMessageChunk | undefined>((sum, piece) => sum?.concat(piece) ?? piece, undefined)
        expect(joined?.text).toBe(whole.text)
        expect(joined?.usage_metadata).toMatchObject({ total_tokens: whole.usage_metadata?.total_tokens })
        expect(await clients.recorded()).toMatchObject({
          ...{ calls: 2, unreported: 0, output: 2 * (whole.usage_metadata?.output_tokens ?? 0) },
        })
      })

      test('tools are called, and their results go back', async () => {
        await using clients = await openWay(way)
        const chat = chatOf(clients).bindTools([weather])
        const question = new HumanMessage('call weather and call weather')
        const answer = await chat.invoke([question])
        expect(answer.tool_calls?.map(({ name, args }) => [name, args])).toEqual([
          ['weather', { city: 'city' }],
          ['weather', { city: 'city' }],
        ])
        const results = await Promise.all((answer.tool_calls ?? []).map((call) => weather.invoke(call)))
        expect(results.every((result) => ToolMessage.isInstance(result))).toBe(true)
        const last = await chat.invoke([question, answer, ...results])
        expect(last.text).toContain('The tool answered: “sun over city”.')
        const pieces = await all(await chat.stream([question]))
        const joined = pieces.reduce<AIMessageChunk | undefined>((sum, piece) => sum?.concat(piece) ?? piece, undefined)
        expect(joined?.tool_calls?.map(({ args }) => args)).toEqual([{ city: 'city' }, { city: 'city' }])
        expect(await clients.recorded()).toMatchObject({ calls: 3, unreported: 0 })
      })

      test('an answer of a form is made, by schema and by tool', async () => {
        await using clients = await openWay(way)
        for (const method of ['jsonSchema', 'functionCalling'] as const) {
          const answer = await chatOf(clients).withStructuredOutput(Person, { method, name: 'person' }).invoke('who?')
          expect(Person.safeParse(answer).success).toBe(true)
        }
      })

      test('a batch of five is answered', async () => {
        await using clients = await openWay(way)
        const names = ['ann', 'bob', 'cid', 'dan', 'eve']
        const answers = await chatOf(clients).batch(names.map((name) => [new HumanMessage(`I am ${name}`)]))
        expect(answers.map(({ text }) => /“I am (\w+)”/.exec(text)?.[1] ?? '')).toEqual(names)
        const output = answers.reduce((sum, { usage_metadata }) => sum + (usage_metadata?.output_tokens ?? 0), 0)
        expect(await clients.recorded()).toMatchObject({ calls: 5, unreported: 0, output })
      })

      test('a conversation goes on', async () => {
        await using clients = await openWay(way)
        const chat = chatOf(clients)
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

      test('errors have their status and their words', async () => {
        await using clients = await openWay(way)
        expect(await thrown(chatOf(clients, { apiKey: 'sk-nobody' }).invoke('hi'))).toMatchObject({ status: 401 })
        expect(await thrown(chatOf(clients, { model: 'none' }).invoke('hi'))).toMatchObject({
          ...{ status: 404, code: 'model_not_found' },
        })
        clients.emulator.faults.add({ kind: 'status', status: 429, headers: { 'retry-after-ms': '1' } })
        expect(await thrown(async () => all(await chatOf(clients).stream('hi')))).toMatchObject({ status: 429 })
      })

      test('a stream that breaks off is an error', async () => {
        await using clients = await openWay(way)
        for (const how of ['reset', 'fin', 'clean'] as const) {
          clients.emulator.faults.add({ kind: 'cut', how, events: 5 })
          const caught = await thrown(async () => all(await chatOf(clients).stream('hi')))
          expect(String(caught)).toMatch(/upstream/)
        }
      })

      test('a caller that aborts frees the upstream', async () => {
        await using clients = await openWay(way, { emulator: { text: { msPerDelta: 3 } } })
        const leaving = new AbortController()
        const caught = thrown(async () => {
          await all(await chatOf(clients).stream('4000 tokens', { signal: leaving.signal }))
          throw leaving.signal.reason
        })
        await until(() => clients.asked().length > 0)
        leaving.abort()
        await caught
        await until(() => clients.asked()[0]?.aborted === true)
      })
    })
  }
}

test('LangChain tries again where the upstream failed, and gets through', async () => {
  const [native] = ways
  await using clients = await openWay(native)
  const { apiKey, baseURL, emulator } = clients
  emulator.faults.add({ kind: 'status', status: 500 })
  const answer = await new ChatOpenAI({ model, apiKey, configuration: { baseURL }, maxRetries: 1 }).invoke('hi')
  expect(answer.text).toStartWith('You wrote')
  expect(clients.asked()).toHaveLength(2)
})

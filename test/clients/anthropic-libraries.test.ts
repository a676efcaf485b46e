import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createAnthropic } from '@ai-sdk/anthropic'
import { ChatAnthropic } from '@langchain/anthropic'
import { HumanMessage, ToolMessage } from '@langchain/core/messages'
import { tool as langchainTool } from '@langchain/core/tools'
import { APICallError, generateText, Output, stepCountIs, streamText, tool } from 'ai'
import { z } from 'zod'
import { all, type Fixture, model, openFixtureFor, thrown, variants } from './fixture.ts'

/** Without it, the ai package warns that it does not know the model. */
const maxOutputTokens = 4000
const city = z.object({ city: z.string() })

for (const variant of variants) {
  describe(`libraries for Claude, upstream: ${variant.name}`, () => {
    let fixture: Fixture
    beforeAll(async () => {
      fixture = await openFixtureFor(variant)
    })
    afterAll(() => fixture[Symbol.asyncDispose]())
    const aiSdk = (name = model) => createAnthropic({ baseURL: fixture.baseURL, apiKey: fixture.apiKey })(name)
    const langchain = (options: object = {}) =>
      new ChatAnthropic({
        ...{ model, apiKey: fixture.apiKey, anthropicApiUrl: fixture.gateway.url, maxRetries: 0, maxTokens: 1000 },
        ...options,
      })

    test('ai: text, streaming and not', async () => {
      const { text, finishReason, usage } = await generateText({
        maxOutputTokens,
        model: aiSdk(),
        system: 'Be brief.',
        prompt: 'hi',
      })
      expect(text).toStartWith('You wrote: “hi”.')
      expect(finishReason).toBe('stop')
      const streamed = streamText({ maxOutputTokens, model: aiSdk(), system: 'Be brief.', prompt: 'hi' })
      expect((await all(streamed.textStream)).join('')).toBe(text)
      expect(await streamed.usage).toMatchObject({ inputTokens: usage.inputTokens, outputTokens: usage.outputTokens })
    })

    test('ai: several steps with tools', async () => {
      const weather = tool({
        description: 'the weather of a city',
        inputSchema: city,
        execute: async ({ city }) => `sun over ${city}`,
      })
      const { text, steps } = await generateText({
        ...{ maxOutputTokens, model: aiSdk(), prompt: 'call weather', tools: { weather }, stopWhen: stepCountIs(3) },
      })
      expect(steps.map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop'])
      expect(text).toContain('sun over')
    })

    test('ai: reasoning, which goes back with the next turn', async () => {
      const providerOptions = { anthropic: { thinking: { type: 'enabled', budgetTokens: 2000 } } }
      const messages = [{ role: 'user' as const, content: 'hi' }]
      const first = await generateText({
        maxOutputTokens,
        model: aiSdk('emulated-reasoner'),
        messages,
        providerOptions,
      })
      expect(first.reasoningText).toStartWith('The user says')
      await generateText({
        ...{ maxOutputTokens, model: aiSdk('emulated-reasoner') },
        messages: [...messages, ...first.response.messages, { role: 'user', content: 'and?' }],
        providerOptions,
      })
      expect(JSON.stringify(fixture.generatingCalls().at(-1)?.body)).toContain('reasoning_content')
    })

    test('ai: an object', async () => {
      const { output } = await generateText({
        maxOutputTokens,
        model: aiSdk(),
        prompt: 'hi',
        output: Output.object({ schema: city }),
      })
      expect(output).toEqual({ city: expect.any(String) })
    })

    test('ai: its error', async () => {
      const error = await thrown(
        generateText({ maxOutputTokens, model: aiSdk('no-such-model'), prompt: 'hi', maxRetries: 0 }),
      )
      expect(error).toBeInstanceOf(APICallError)
      expect(error).toMatchObject({ statusCode: 404, message: expect.stringContaining('no-such-model') })
    })

    test('LangChain: text, streaming and not', async () => {
      const { text } = await langchain().invoke('hi')
      expect(text).toStartWith('You wrote: “hi”.')
      const pieces = await all(await langchain().stream('hi'))
      expect(pieces.map((piece) => piece.text).join('')).toBe(text)
    })

    test('LangChain: tools over two turns', async () => {
      const weather = langchainTool(async ({ city }) => `sun over ${city}`, {
        ...{ name: 'weather', description: 'the weather of a city', schema: city },
      })
      const bound = langchain().bindTools([weather])
      const question = new HumanMessage('call weather')
      const answer = await bound.invoke([question])
      expect(answer.tool_calls).toMatchObject([{ name: 'weather', args: { city: expect.any(String) } }])
      const result = new ToolMessage({ tool_call_id: answer.tool_calls?.[0]?.id ?? '', content: 'sun over Rome' })
      expect((await bound.invoke([question, answer, result])).text).toContain('sun over Rome')
    })
  })
}

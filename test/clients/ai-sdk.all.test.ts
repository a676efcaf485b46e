/** Runs with `--all`: the AI SDK with each kind of upstream; the other clients of this folder meet the same routes. */
import { describe, expect, test } from 'bun:test'
import { createOpenAI } from '@ai-sdk/openai'
import { APICallError, generateText, Output, stepCountIs, streamText, tool } from 'ai'
import { z } from 'zod'
import { type Fixture, model, openFixtureFor, thrown, until, variants } from './fixture.ts'

/** The library with default options except base URL and key. */
const modelsOf = ({ baseURL, apiKey }: Fixture) => {
  const openai = createOpenAI({ baseURL, apiKey })
  return { chat: openai.chat, responses: openai.responses }
}

const weather = tool({
  description: 'the weather of a city',
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => `sun over ${city}`,
})

const ofUsage = ({ inputTokens, outputTokens }: { inputTokens?: number; outputTokens?: number }) => ({
  input: inputTokens,
  output: outputTokens,
})

for (const variant of variants) {
  for (const protocol of ['chat', 'responses'] as const) {
    if (protocol === 'chat' && variant.name.startsWith('chat only')) continue

    describe(`the ai package with ${protocol}, upstream: ${variant.name}`, () => {
      test('generates text', async () => {
        await using fixture = await openFixtureFor(variant)
        const { text, finishReason, usage } = await generateText({
          model: modelsOf(fixture)[protocol](model),
          prompt: 'hi',
        })
        expect(text).toStartWith('You wrote: “hi”.')
        expect(finishReason).toBe('stop')
        expect(await fixture.recorded()).toMatchObject({ calls: 1, unreported: 0, ...ofUsage(usage) })
      })

      test('streams text', async () => {
        await using fixture = await openFixtureFor(variant)
        const given = { model: modelsOf(fixture)[protocol](model), system: 'Be brief.', prompt: 'hi' }
        const whole = await generateText(given)
        const { textStream, finishReason, usage } = streamText(given)
        let text = ''
        for await (const piece of textStream) text += piece
        expect(text).toBe(whole.text)
        expect(await finishReason).toBe('stop')
        expect(await usage).toMatchObject({
          ...{ inputTokens: whole.usage.inputTokens, outputTokens: whole.usage.outputTokens },
        })
        expect(await fixture.recorded()).toMatchObject({
          calls: 2,
          unreported: 0,
          output: 2 * (whole.usage.outputTokens ?? 0),
        })
      })

      test('reports the finish reason length', async () => {
        await using fixture = await openFixtureFor(variant)
        const response = await generateText({
          ...{ model: modelsOf(fixture)[protocol](model), prompt: '100 tokens', maxOutputTokens: 20 },
        })
        expect(response.finishReason).toBe('length')
        expect(response.usage.outputTokens).toBe(20)
      })

      test('calls tools, in parallel and in several steps', async () => {
        await using fixture = await openFixtureFor(variant)
        const given = {
          model: modelsOf(fixture)[protocol](model),
          prompt: 'call weather and call weather',
          tools: { weather },
          stopWhen: stepCountIs(4),
        }
        const { steps, text, totalUsage } = await generateText(given)
        expect(steps.map(({ toolResults }) => toolResults.map(({ output }) => output))).toEqual([
          ['sun over city', 'sun over city'],
          [],
        ])
        expect(text).toContain('The tool answered: “sun over city”.')
        expect(await fixture.recorded()).toMatchObject({ calls: 2, unreported: 0, ...ofUsage(totalUsage) })
        const streamed = streamText(given)
        expect(await streamed.text).toBe(text)
        expect((await streamed.steps).map(({ toolCalls }) => toolCalls.length)).toEqual([2, 0])
      })

      test('generates an object with a schema', async () => {
        await using fixture = await openFixtureFor(variant)
        const Person = z.object({ name: z.string(), age: z.number().int(), tags: z.array(z.string()) })
        const given = {
          model: modelsOf(fixture)[protocol](model),
          prompt: 'who?',
          output: Output.object({ schema: Person }),
        }
        const { output } = await generateText(given)
        expect(Person.safeParse(output).success).toBe(true)
        const streamed = streamText(given)
        const parts: unknown[] = []
        for await (const part of streamed.partialOutputStream) parts.push(part)
        expect(parts.at(-1)).toEqual(output)
      })

      test('sends images', async () => {
        await using fixture = await openFixtureFor(variant)
        const { text } = await generateText({
          model: modelsOf(fixture)[protocol](model),
          messages: [
            {
              role: 'user',
              content: [
                { type: 'text', text: 'what is it?' },
                { type: 'file', mediaType: 'image/png', data: new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10]) },
                { type: 'file', mediaType: 'image/png', data: new URL('https://files.example/a.png') },
              ],
            },
          ],
        })
        expect(text).toStartWith('You wrote')
        expect(fixture.generatingCalls()[0]?.body).toContain('data:image/png;base64,iVBORw0KGgo=')
      })

      test('raises errors with status, message and headers', async () => {
        await using fixture = await openFixtureFor(variant)
        const { emulator } = fixture
        const error = { message: 'slow down', type: 'requests', param: null, code: 'rate_limit_exceeded' }
        const given = { model: modelsOf(fixture)[protocol](model), prompt: 'hi', maxRetries: 0 }
        for (const ask of [
          () => generateText(given),
          async () => {
            let raised: unknown
            const onError = ({ error: caught }: { error: unknown }) => {
              raised = caught
            }
            const { fullStream } = streamText({ ...given, onError })
            for await (const _ of fullStream);
            throw raised
          },
        ]) {
          emulator.faults.add({
            kind: 'status',
            status: 429,
            body: JSON.stringify({ error }),
            headers: { 'retry-after': '7' },
          })
          const caught = await thrown(ask)
          expect(APICallError.isInstance(caught)).toBe(true)
          expect(caught).toMatchObject({
            ...{ statusCode: 429, message: 'slow down', data: { error }, isRetryable: true },
            responseHeaders: { 'retry-after': '7' },
          })
        }
        const unauthenticated = createOpenAI({ baseURL: fixture.baseURL, apiKey: 'sk-nobody' })[protocol](model)
        const refused = await thrown(generateText({ model: unauthenticated, prompt: 'hi' }))
        expect(refused).toMatchObject({ statusCode: 401, isRetryable: false })
      })

      test('raises an error for an interrupted stream', async () => {
        await using fixture = await openFixtureFor(variant)
        for (const how of ['reset', 'fin', 'clean'] as const) {
          fixture.emulator.faults.add({ kind: 'cut', how, events: 5 })
          let raised: unknown
          const { fullStream, finishReason } = streamText({
            ...{ model: modelsOf(fixture)[protocol](model), prompt: 'hi', maxRetries: 0 },
            onError({ error }) {
              raised = error
            },
          })
          Promise.resolve(finishReason).catch(() => {})
          const types: string[] = []
          for await (const part of fullStream) types.push(part.type)
          // A non-streaming upstream response fails before the gateway sends the first event.
          expect(types).toContain('error')
          expect(JSON.stringify(raised) + String(raised)).toMatch(/upstream/)
        }
      })

      test('aborts the upstream call when the caller aborts', async () => {
        await using fixture = await openFixtureFor(variant, { emulator: { text: { msPerDelta: 3 } } })
        const leaving = new AbortController()
        const { textStream, finishReason } = streamText({
          ...{ model: modelsOf(fixture)[protocol](model), prompt: '4000 tokens', abortSignal: leaving.signal },
        })
        Promise.resolve(finishReason).catch(() => {})
        const reading = (async () => {
          for await (const _ of textStream);
        })().catch(() => {})
        await until(() => fixture.generatingCalls().length > 0)
        leaving.abort()
        await reading
        await until(() => fixture.generatingCalls()[0]?.aborted === true)
        await until(async () => (await fixture.recorded()).unreported === 1)
      })
    })
  }
}

test('continues a conversation by item references, which only its owner may use', async () => {
  for (const variant of variants.filter(({ name }) => !name.startsWith('chat only'))) {
    await using fixture = await openFixtureFor(variant)
    const first = await generateText({ model: modelsOf(fixture).responses(model), prompt: 'hi' })
    const goOn = (apiKey: string) =>
      generateText({
        model: modelsOf({ ...fixture, apiKey }).responses(model),
        messages: [{ role: 'user', content: 'hi' }, ...first.response.messages, { role: 'user', content: 'again' }],
      })
    expect((await goOn(fixture.apiKey)).text).toStartWith('You wrote: “again”.')
    expect(fixture.generatingCalls().at(-1)?.body).toContain('item_reference')
    expect(await thrown(goOn(fixture.bob.token))).toMatchObject({ statusCode: 404, isRetryable: false })
    expect(fixture.generatingCalls()).toHaveLength(2)
  }
})

import { describe, expect, test } from 'bun:test'
import { createOpenAI } from '@ai-sdk/openai'
import { APICallError, generateText, Output, stepCountIs, streamText, tool } from 'ai'
import { z } from 'zod'
import { type Clients, model, openWay, thrown, until, ways } from './clients.ts'

/** The library with nothing replaced but address and key. */
const modelsOf = ({ baseURL, apiKey }: Clients) => {
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

for (const way of ways) {
  for (const protocol of ['chat', 'responses'] as const) {
    if (protocol === 'chat' && way.way.startsWith('chat only')) continue

    describe(`the ai package by ${protocol}, an upstream ${way.way}`, () => {
      test('text is generated', async () => {
        await using clients = await openWay(way)
        const { text, finishReason, usage } = await generateText({
          model: modelsOf(clients)[protocol](model),
          prompt: 'hi',
        })
        expect(text).toStartWith('You wrote: “hi”.')
        expect(finishReason).toBe('stop')
        expect(await clients.recorded()).toMatchObject({ calls: 1, unreported: 0, ...ofUsage(usage) })
      })

      test('text is streamed', async () => {
        await using clients = await openWay(way)
        const given = { model: modelsOf(clients)[protocol](model), system: 'Be brief.', prompt: 'hi' }
        const whole = await generateText(given)
        const { textStream, finishReason, usage } = streamText(given)
        let text = ''
        for await (const piece of textStream) text += piece
        expect(text).toBe(whole.text)
        expect(await finishReason).toBe('stop')
        expect(await usage).toMatchObject({
          ...{ inputTokens: whole.usage.inputTokens, outputTokens: whole.usage.outputTokens },
        })
        expect(await clients.recorded()).toMatchObject({
          calls: 2,
          unreported: 0,
          output: 2 * (whole.usage.outputTokens ?? 0),
        })
      })

      test('an answer that is too long ends with its length', async () => {
        await using clients = await openWay(way)
        const answer = await generateText({
          ...{ model: modelsOf(clients)[protocol](model), prompt: '100 tokens', maxOutputTokens: 20 },
        })
        expect(answer.finishReason).toBe('length')
        expect(answer.usage.outputTokens).toBe(20)
      })

      test('tools are called, several at once and in several steps', async () => {
        await using clients = await openWay(way)
        const given = {
          model: modelsOf(clients)[protocol](model),
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
        expect(await clients.recorded()).toMatchObject({ calls: 2, unreported: 0, ...ofUsage(totalUsage) })
        const streamed = streamText(given)
        expect(await streamed.text).toBe(text)
        expect((await streamed.steps).map(({ toolCalls }) => toolCalls.length)).toEqual([2, 0])
      })

      test('an answer of a form is made', async () => {
        await using clients = await openWay(way)
        const Person = z.object({ name: z.string(), age: z.number().int(), tags: z.array(z.string()) })
        const given = {
          model: modelsOf(clients)[protocol](model),
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

      test('pictures are sent', async () => {
        await using clients = await openWay(way)
        const { text } = await generateText({
          model: modelsOf(clients)[protocol](model),
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
        expect(clients.asked()[0]?.body).toContain('data:image/png;base64,iVBORw0KGgo=')
      })

      test('errors have their status, their words and their headers', async () => {
        await using clients = await openWay(way)
        const { emulator } = clients
        const error = { message: 'slow down', type: 'requests', param: null, code: 'rate_limit_exceeded' }
        const given = { model: modelsOf(clients)[protocol](model), prompt: 'hi', maxRetries: 0 }
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
        const stranger = createOpenAI({ baseURL: clients.baseURL, apiKey: 'sk-nobody' })[protocol](model)
        const refused = await thrown(generateText({ model: stranger, prompt: 'hi' }))
        expect(refused).toMatchObject({ statusCode: 401, isRetryable: false })
      })

      test('a stream that breaks off is an error', async () => {
        await using clients = await openWay(way)
        for (const how of ['reset', 'fin', 'clean'] as const) {
          clients.emulator.faults.add({ kind: 'cut', how, events: 5 })
          let raised: unknown
          const { fullStream, finishReason } = streamText({
            ...{ model: modelsOf(clients)[protocol](model), prompt: 'hi', maxRetries: 0 },
            onError({ error }) {
              raised = error
            },
          })
          Promise.resolve(finishReason).catch(() => {})
          const types: string[] = []
          for await (const part of fullStream) types.push(part.type)
          // A plain answer that does not arrive is known before the first event goes out.
          expect(types).toContain('error')
          expect(JSON.stringify(raised) + String(raised)).toMatch(/upstream/)
        }
      })

      test('a caller that aborts frees the upstream', async () => {
        await using clients = await openWay(way, { emulator: { text: { msPerDelta: 3 } } })
        const leaving = new AbortController()
        const { textStream, finishReason } = streamText({
          ...{ model: modelsOf(clients)[protocol](model), prompt: '4000 tokens', abortSignal: leaving.signal },
        })
        Promise.resolve(finishReason).catch(() => {})
        const reading = (async () => {
          for await (const _ of textStream);
        })().catch(() => {})
        await until(() => clients.asked().length > 0)
        leaving.abort()
        await reading
        await until(() => clients.asked()[0]?.aborted === true)
        await until(async () => (await clients.recorded()).unreported === 1)
      })
    })
  }
}

test('a conversation goes on by references to what the upstream keeps, and only for whom it began', async () => {
  for (const way of ways.filter(({ way }) => !way.startsWith('chat only'))) {
    await using clients = await openWay(way)
    const first = await generateText({ model: modelsOf(clients).responses(model), prompt: 'hi' })
    const goOn = (apiKey: string) =>
      generateText({
        model: modelsOf({ ...clients, apiKey }).responses(model),
        messages: [{ role: 'user', content: 'hi' }, ...first.response.messages, { role: 'user', content: 'again' }],
      })
    expect((await goOn(clients.apiKey)).text).toStartWith('You wrote: “again”.')
    expect(clients.asked().at(-1)?.body).toContain('item_reference')
    expect(await thrown(goOn(clients.bob.token))).toMatchObject({ statusCode: 404, isRetryable: false })
    expect(clients.asked()).toHaveLength(2)
  }
})

import { describe, expect, test } from 'bun:test'
import { createOpenAI } from '@ai-sdk/openai'
import { HumanMessage, ToolMessage } from '@langchain/core/messages'
import { tool as langchainTool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { generateText, stepCountIs, streamText, tool } from 'ai'
import { z } from 'zod'
import { chunk, openApp, streaming, type UpstreamRequest, usageChunk } from './fixture.ts'

/** A reasoning model with chat completions only. It calls the tool until the messages have two outputs. */
const reasoner = ({ json }: UpstreamRequest): Response => {
  const outputs = json.messages.filter((message: { role: string }) => message.role === 'tool').length
  const call = (args: string, more: object = {}) =>
    chunk({ tool_calls: [{ index: 0, ...more, function: { ...more, arguments: args } }] })
  const turn =
    outputs < 2
      ? [
          chunk({ role: 'assistant', reasoning_content: `Step ${outputs}: ` }),
          chunk({ reasoning_content: 'look it up.' }),
          call('', { id: `call_${outputs}`, type: 'function', name: 'weather' }),
          call('{"city":'),
          call(`"Rome ${outputs}"}`),
          chunk({}, 'tool_calls'),
        ]
      : [chunk({ reasoning_content: 'Done.' }), chunk({ content: 'It is sunny.' }), chunk({}, 'stop')]
  return streaming([...turn, usageChunk, '[DONE]'])
}

const open = () => openApp(reasoner, { upstreams: [{ url: 'http://upstream.invalid/v1', chatOnly: true }] })

/** The messages after the question in the last request to the upstream. */
const turnsOf = (app: ReturnType<typeof open>) => app.asked.at(-1)?.json.messages.slice(1)

const called = (nth: number, reasoning: boolean) => [
  {
    role: 'assistant',
    content: null,
    ...(reasoning ? { reasoning_content: `Step ${nth}: look it up.` } : {}),
    tool_calls: [
      { id: `call_${nth}`, type: 'function', function: { name: 'weather', arguments: `{"city":"Rome ${nth}"}` } },
    ],
  },
  { role: 'tool', tool_call_id: `call_${nth}`, content: `sun over Rome ${nth}` },
]

const fetchOf = (app: ReturnType<typeof open>) =>
  (async (url: string, init: RequestInit) => app.ask(new URL(url).pathname.replace(/^\/v1/, ''), init)) as never

describe('the AI SDK goes through several turns with tools, without storage', () => {
  const settingsOf = (app: ReturnType<typeof open>) => ({
    model: createOpenAI({ baseURL: 'http://localhost/v1', apiKey: 'x', fetch: fetchOf(app) }).responses('m'),
    prompt: 'The weather?',
    tools: {
      weather: tool({
        description: 'the weather of a city',
        inputSchema: z.object({ city: z.string() }),
        execute: async ({ city }) => `sun over ${city}`,
      }),
    },
    stopWhen: stepCountIs(5),
    providerOptions: {
      openai: { store: false, forceReasoning: true, reasoningSummary: 'auto', reasoningEffort: 'low' },
    },
  })
  const turns = [...called(0, true), ...called(1, true)]

  test('streaming: the reasoning is shown, and goes upstream again', async () => {
    const app = open()
    const errors: unknown[] = []
    const result = streamText({ ...settingsOf(app), onError: ({ error }) => void errors.push(error) })
    await result.consumeStream()
    expect(errors).toEqual([])
    expect(await result.text).toBe('It is sunny.')
    const steps = await result.steps
    expect(steps.map((step) => step.reasoningText)).toEqual(['Step 0: look it up.', 'Step 1: look it up.', 'Done.'])
    expect(steps.flatMap((step) => step.warnings ?? [])).toEqual([])
    expect(turnsOf(app)).toEqual(turns)
  })

  test('non-streaming', async () => {
    const app = open()
    const result = await generateText(settingsOf(app))
    expect(result.text).toBe('It is sunny.')
    expect(result.steps.map((step) => step.reasoningText)).toEqual([
      'Step 0: look it up.',
      'Step 1: look it up.',
      'Done.',
    ])
    expect(turnsOf(app)).toEqual(turns)
  })
})

describe('LangChain goes through several turns with tools, without storage', () => {
  const weather = langchainTool(async ({ city }: { city: string }) => `sun over ${city}`, {
    name: 'weather',
    description: 'the weather of a city',
    schema: z.object({ city: z.string() }),
  })

  for (const streams of [true, false])
    test(streams ? 'streaming' : 'non-streaming', async () => {
      const app = open()
      const model = new ChatOpenAI({
        model: 'm',
        apiKey: 'x',
        useResponsesApi: true,
        zdrEnabled: true,
        streaming: streams,
        reasoning: { effort: 'low', summary: 'auto' },
        configuration: { baseURL: 'http://localhost/v1', fetch: fetchOf(app) },
      }).bindTools([weather])
      const messages: Parameters<typeof model.invoke>[0] & unknown[] = [new HumanMessage('The weather?')]
      for (let turn = 0; turn < 3; turn++) {
        const answer = await model.invoke(messages)
        messages.push(answer)
        for (const call of answer.tool_calls ?? []) {
          const content = String(await weather.invoke(call.args as { city: string }))
          messages.push(new ToolMessage({ tool_call_id: call.id ?? '', content }))
        }
      }
      expect((messages.at(-1) as { text?: string }).text).toBe('It is sunny.')
      expect(turnsOf(app)).toEqual([...called(0, true), ...called(1, true)])
    })
})

import { describe, expect, test } from 'bun:test'
import type OpenAI from 'openai'
import { zodTextFormat } from 'openai/helpers/zod'
import { z } from 'zod'
import { newAsset, newGroup } from '../routes/fixture.ts'
import {
  all,
  fixturesFor,
  model,
  ofResponses,
  openFixture,
  openFixtureFor,
  responsesTools,
  thrown,
  until,
  variants,
  withoutIdsAndTimes,
} from './fixture.ts'

type Question = Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, 'stream'>

const questions: Record<string, Question> = {
  'plain text': { input: 'hi' },
  instructions: { input: 'hi', instructions: 'Be brief.' },
  'items with a system role': {
    input: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'hi' },
    ],
  },
  'a conversation': {
    input: [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: 'hello' },
      { role: 'user', content: [{ type: 'input_text', text: 'and now?' }] },
    ],
  },
  'too few tokens': { input: '100 tokens', max_output_tokens: 20 },
  reasoning: { input: 'hi', reasoning: { effort: 'low' } },
  'a refusal': { input: 'please refuse to answer' },
  'any JSON object': { input: 'hi', text: { format: { type: 'json_object' } } },
  'a tool': { input: 'call weather', tools: responsesTools },
  'parallel tool calls': { input: 'call weather, then call time and call weather', tools: responsesTools },
  'a forced tool': { input: 'hi', tools: responsesTools, tool_choice: { type: 'function', name: 'time' } },
  'a custom tool': { input: 'call run', tools: [{ type: 'custom', name: 'run' }] },
  pictures: {
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'What is in picture 1?' },
          { type: 'input_image', image_url: 'https://files.example/a.png', detail: 'low' },
          { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'auto' },
        ],
      },
    ],
  },
}

/** The parts of a bridged response that equal a native one: content and status. */
const essence = ({
  status,
  output,
  output_text,
  usage,
  incomplete_details,
  error,
  model,
}: OpenAI.Responses.Response) => ({
  ...{ status, incomplete_details, error, model, output_text },
  // A function has a description and a schema, which count as input.
  usage: output.some(({ type }) => type === 'custom_tool_call') ? 'of another tool' : ofResponses(usage),
  output: output.map((item) => {
    if (item.type === 'message') {
      return [
        item.type,
        item.role,
        item.status,
        item.content.map((part) => (part.type === 'refusal' ? part.refusal : part.text)),
      ]
    }
    if (item.type === 'function_call') return [item.type, item.status, item.name, item.arguments]
    // The bridge offers a custom tool as a function, for which the emulated model invents another input.
    if (item.type === 'custom_tool_call') return [item.type, item.name, item.input !== '']
    return [item.type]
  }),
})

for (const variant of variants) {
  const bridged = variant.name.startsWith('chat only')
  const view = (response: OpenAI.Responses.Response): unknown =>
    bridged ? essence(response) : withoutIdsAndTimes(response)

  describe(`responses, upstream: ${variant.name}`, () => {
    const open = fixturesFor(variant)
    for (const [title, question] of Object.entries(questions)) {
      test(`${title}: the response equals that of the upstream`, async () => {
        await using fixture = await open()
        const response = await fixture.openai.responses.create({ model, ...question })
        const own = await fixture.direct.responses.create({ model, ...question })
        expect(view(response)).toEqual(view(own))
        expect(await fixture.recorded()).toMatchObject({ calls: 1, unreported: 0, ...ofResponses(response.usage) })
      })

      test(`${title}: the stream helper builds the same response`, async () => {
        await using fixture = await open()
        const response = await fixture.openai.responses.stream({ model, ...question } as never).finalResponse()
        const own = await fixture.direct.responses.create({ model, ...question })
        const text = (response: OpenAI.Responses.Response) => ({ ...response, output_parsed: undefined })
        const parsed = JSON.parse(JSON.stringify(text(response as never)), (key, value) =>
          key === 'parsed' || key === 'parsed_arguments' ? undefined : value,
        )
        expect(view(parsed)).toEqual(view(own))
        expect(await fixture.recorded()).toMatchObject({ calls: 1, unreported: 0, ...ofResponses(response.usage) })
      })

      test(`${title}: the events of a stream are numbered and end with the response`, async () => {
        await using fixture = await open()
        const events = await all(await fixture.openai.responses.create({ model, ...question, stream: true }))
        expect(events.map(({ sequence_number }) => sequence_number)).toEqual([...events.keys()])
        expect(events[0]?.type).toBe('response.created')
        const last = events.at(-1)
        expect(last?.type).toBe(title === 'too few tokens' ? 'response.incomplete' : 'response.completed')
        const own = await fixture.direct.responses.create({ model, ...question })
        const deltas = events.flatMap((event) =>
          event.type === 'response.output_text.delta' || event.type === 'response.refusal.delta' ? [event.delta] : [],
        )
        const [message] = own.output.filter((item) => item.type === 'message')
        const [part] = message?.content ?? []
        expect(deltas.join('')).toBe((part?.type === 'refusal' ? part.refusal : part?.text) ?? '')
      })
    }

    test('the output of a tool is sent with the previous items', async () => {
      await using fixture = await open()
      const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'call weather and call time' }]
      const question = { model, tools: responsesTools, reasoning: { effort: 'low' as const } }
      const first = await fixture.openai.responses.create({ ...question, input })
      const calls = first.output.filter((item) => item.type === 'function_call')
      expect(calls.map(({ name }) => name)).toEqual(['weather', 'time'])
      const outputs = calls.map(({ call_id }) => ({
        type: 'function_call_output' as const,
        call_id,
        output: `for ${call_id}`,
      }))
      const second = await fixture.openai.responses.create({
        ...question,
        input: [...input, ...(first.output as OpenAI.Responses.ResponseInput), ...outputs],
      })
      for (const { output } of outputs) expect(second.output_text).toContain(`The tool answered: “${output}”.`)
      const streamed = await fixture.openai.responses
        .stream({
          ...question,
          input: [...input, ...(first.output as OpenAI.Responses.ResponseInput), ...outputs],
        } as never)
        .finalResponse()
      expect(streamed.output_text).toBe(second.output_text)
      expect(await fixture.recorded()).toMatchObject({ calls: 3, unreported: 0 })
    })

    test('a structured output is parsed', async () => {
      await using fixture = await open()
      const Person = z.object({ name: z.string(), age: z.number().int(), tags: z.array(z.string()) })
      const question = { model, input: 'who?', text: { format: zodTextFormat(Person, 'person') } }
      const response = await fixture.openai.responses.parse(question)
      expect(Person.safeParse(response.output_parsed).success).toBe(true)
      const streamed = await fixture.openai.responses.stream(question).finalResponse()
      expect(streamed.output_parsed).toEqual(response.output_parsed)
    })

    test('the arguments of a tool call are parsed', async () => {
      await using fixture = await open()
      const response = await fixture.openai.responses.parse({ model, input: 'call weather', tools: responsesTools })
      const [call] = response.output.filter((item) => item.type === 'function_call')
      expect(call?.parsed_arguments).toEqual({ city: 'city' })
    })
  })
}

test('reasoning passes the bridge', async () => {
  const [, chatOnly] = variants
  await using fixture = await openFixtureFor(chatOnly)
  const response = await fixture.openai.responses.create({
    model,
    input: 'hi',
    reasoning: { effort: 'low', summary: 'auto' },
  })
  const [thought] = response.output
  expect(thought?.type).toBe('reasoning')
  expect(JSON.stringify(thought)).toContain('Let me think about that')
})

test('the bridge rejects unsupported parameters by name', async () => {
  const [, chatOnly] = variants
  await using fixture = await openFixtureFor(chatOnly)
  const ask = (more: object) => thrown(fixture.openai.responses.create({ model, input: 'hi', ...more }))
  expect(await ask({ background: true })).toMatchObject({ status: 400, param: 'background' })
  expect(await ask({ conversation: 'conv_1' })).toMatchObject({ status: 400, param: 'conversation' })
  expect(fixture.generatingCalls()).toHaveLength(0)
})

test('what the gateway keeps for the bridge is continued, retrieved and listed', async () => {
  const [, chatOnly] = variants
  await using fixture = await openFixtureFor(chatOnly)
  const { responses } = fixture.openai
  const first = await responses.create({ model, input: 'my name is Ann', instructions: 'be brief' })
  const second = await responses
    .stream({ model, input: [{ role: 'user', content: 'hm' }], previous_response_id: first.id })
    .finalResponse()
  expect(second).toMatchObject({ store: true, previous_response_id: first.id, instructions: null })
  expect(JSON.stringify(fixture.generatingCalls().at(-1))).toContain('my name is Ann')
  expect(await responses.retrieve(second.id)).toMatchObject({ id: second.id, output_text: second.output_text })
  const [message] = second.output
  const input = [
    { type: 'item_reference' as const, id: message?.id ?? '' },
    { role: 'user' as const, content: 'so' },
  ]
  expect((await responses.create({ model, input })).status).toBe('completed')
  const listed = []
  for await (const item of responses.inputItems.list(second.id, { order: 'asc', limit: 1 })) listed.push(item)
  expect(listed).toMatchObject([
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'my name is Ann' }] },
    { type: 'message', role: 'assistant', id: first.output[0]?.id },
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hm' }] },
  ])
  await responses.delete(second.id)
  expect(await thrown(responses.retrieve(second.id))).toMatchObject({ status: 404 })
  expect(await thrown(responses.create({ model, input: 'x', previous_response_id: second.id }))).toMatchObject({
    ...{ status: 400, code: 'previous_response_not_found' },
  })
})

test('web search and previous_response_id pass to the upstream', async () => {
  await using fixture = await openFixture()
  const first = await fixture.openai.responses.create({ model, input: 'hi', tools: [{ type: 'web_search' }] })
  expect(first.output.map(({ type }) => type)).toEqual(['web_search_call', 'message'])
  const streamed = await fixture.openai.responses
    .stream({ model, input: 'hi', tools: [{ type: 'web_search' }] })
    .finalResponse()
  expect(streamed.output_text).toBe(first.output_text)
  const second = await fixture.openai.responses.create({ model, input: 'again', previous_response_id: first.id })
  expect(second.usage?.input_tokens).toBeGreaterThan(first.usage?.input_tokens ?? 0)
})

test('an asset URL works for the own assets only', async () => {
  for (const variant of variants) {
    await using fixture = await openFixtureFor(variant)
    const asset = await newAsset(fixture.ann, await newGroup(fixture.ann, 'mine'))
    const foreign = await newAsset(fixture.bob, await newGroup(fixture.bob, 'his'))
    const look = (id: string) =>
      fixture.openai.responses.create({
        model,
        input: [{ role: 'user', content: [{ type: 'input_image', image_url: `asset://${id}`, detail: 'auto' }] }],
      })
    expect((await look(asset)).status).toBe('completed')
    expect(fixture.generatingCalls()[0]?.body).toContain(`asset://${asset}`)
    expect(await thrown(look(foreign))).toMatchObject({ status: 403, param: 'input[0].content[0].image_url' })
    expect(fixture.generatingCalls()).toHaveLength(1)
  }
})

test('ending the iteration aborts the upstream call', async () => {
  for (const variant of variants.filter(({ name }) => !name.endsWith('without streams'))) {
    await using fixture = await openFixtureFor(variant, { emulator: { text: { msPerDelta: 2 } } })
    const stream = await fixture.openai.responses.create({ model, input: '4000 tokens', stream: true })
    for await (const event of stream) if (event.type === 'response.output_text.delta') break
    await until(() => fixture.generatingCalls()[0]?.aborted === true)
    await until(async () => (await fixture.recorded()).calls === 1)
  }
})

import { describe, expect, test } from 'bun:test'
import type OpenAI from 'openai'
import { zodResponseFormat } from 'openai/helpers/zod'
import { z } from 'zod'
import { newAsset, newGroup } from '../routes/fixture.ts'
import {
  all,
  chatTools,
  fixturesFor,
  hello,
  model,
  ofChat,
  openFixture,
  openFixtureFor,
  thrown,
  until,
  variants,
  withoutIdsAndTimes,
} from './fixture.ts'

const questions = {
  'plain text': { messages: hello('hi') },
  'several choices': { messages: hello('hi'), n: 2 },
  probabilities: { messages: hello('hi'), logprobs: true, top_logprobs: 2 },
  'a stop word': { messages: hello('hi'), stop: ['characters', 'nowhere'] },
  'too few tokens': { messages: hello('100 tokens'), max_tokens: 7 },
  'too few tokens with max_completion_tokens': { messages: hello('100 tokens'), max_completion_tokens: 7 },
  'any JSON object': { messages: hello('hi'), response_format: { type: 'json_object' as const } },
  reasoning: { messages: hello('hi'), reasoning_effort: 'low' as const },
  'a refusal': { messages: hello('please refuse to answer') },
  'a tool': { messages: hello('call weather'), tools: chatTools },
  'parallel tool calls': { messages: hello('call weather, then call time and call weather'), tools: chatTools },
  'a truncated tool call': { messages: hello('call weather'), tools: chatTools, max_tokens: 3 },
  'a forced tool': {
    messages: hello('hi'),
    tools: chatTools,
    tool_choice: { type: 'function' as const, function: { name: 'time' } },
  },
  'a custom tool': { messages: hello('call run'), tools: [{ type: 'custom' as const, custom: { name: 'run' } }] },
  'images and video': {
    messages: [
      { role: 'system' as const, content: 'You look at pictures.' },
      {
        role: 'user' as const,
        content: [
          { type: 'text' as const, text: 'What is in picture 1?' },
          { type: 'image_url' as const, image_url: { url: 'https://files.example/a.png', detail: 'low' as const } },
          { type: 'image_url' as const, image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
          { type: 'video_url', video_url: { url: 'https://files.example/a.mp4' } } as never,
          { type: 'video', video: ['https://files.example/1.png', 'https://files.example/2.png'] } as never,
        ],
      },
    ],
  },
}

for (const variant of variants.filter(({ name }) => !name.startsWith('chat only'))) {
  describe(`chat completions, upstream: ${variant.name}`, () => {
    const open = fixturesFor(variant)
    for (const [title, question] of Object.entries(questions)) {
      test(`${title}: the response equals that of the upstream`, async () => {
        await using fixture = await open()
        const response = await fixture.openai.chat.completions.create({ model, ...question })
        const own = await fixture.direct.chat.completions.create({ model, ...question })
        expect(withoutIdsAndTimes(response)).toEqual(withoutIdsAndTimes(own))
        expect(await fixture.recorded()).toMatchObject({ calls: 1, unreported: 0, ...ofChat(response.usage) })
      })

      test(`${title}: the stream helper builds the same response`, async () => {
        await using fixture = await open()
        const stream_options = { include_usage: true }
        const response = fixture.openai.chat.completions.stream({ model, ...question, stream_options } as never)
        const own = fixture.direct.chat.completions.stream({ model, ...question, stream_options } as never)
        expect(ofHelper(await response.finalChatCompletion())).toEqual(ofHelper(await own.finalChatCompletion()))
        expect(await fixture.recorded()).toMatchObject({
          calls: 1,
          unreported: 0,
          ...ofChat(await response.totalUsage()),
        })
      })
    }

    test('the chunks of a stream equal those of the upstream, and usage is sent only on request', async () => {
      await using fixture = await open()
      const messages = hello('hi')
      const generatingCalls = { model, messages, stream: true as const, stream_options: { include_usage: true } }
      const chunks = await all(await fixture.openai.chat.completions.create(generatingCalls))
      const text = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')
      const own = await fixture.direct.chat.completions.create({ model, messages })
      expect(text).toBe(own.choices[0]?.message.content ?? '')
      expect(chunks.at(-1)?.usage).toEqual(own.usage)
      expect(chunks.at(-1)?.choices).toEqual([])

      const plain = await all(await fixture.openai.chat.completions.create({ model, messages, stream: true }))
      expect(plain.filter((chunk) => 'usage' in chunk)).toEqual([])
      expect(plain.every(({ choices }) => choices.length === 1)).toBe(true)
      expect(await fixture.recorded()).toMatchObject({
        calls: 2,
        unreported: 0,
        output: 2 * (own.usage?.completion_tokens ?? 0),
      })
    })

    test('the tool runner works', async () => {
      await using fixture = await open()
      const cities: unknown[] = []
      const runner = fixture.openai.chat.completions.runTools({
        model,
        messages: hello('call weather and call time'),
        tools: chatTools.flatMap((tool) =>
          tool.type === 'function'
            ? {
                ...tool,
                function: {
                  ...tool.function,
                  parse: JSON.parse,
                  function: (given: { city: string }) => {
                    cities.push(given.city)
                    return `sun over ${given.city}`
                  },
                },
              }
            : [],
        ) as never,
      })
      const content = await runner.finalContent()
      expect(cities).toEqual(['city', 'city'])
      expect(content).toContain('The tool answered: “sun over city”.')
      expect(await fixture.recorded()).toMatchObject({ calls: 2, unreported: 0 })
    })

    test('the streaming tool runner works', async () => {
      await using fixture = await open()
      const runner = fixture.openai.chat.completions.runTools({
        model,
        stream: true,
        messages: hello('call weather'),
        tools: [
          {
            type: 'function',
            function: {
              name: 'weather',
              parameters: {},
              parse: JSON.parse,
              function: () => 'sun',
              description: 'weather',
            },
          },
        ],
      })
      expect(await runner.finalContent()).toContain('The tool answered: “sun”.')
      expect(fixture.generatingCalls()).toHaveLength(2)
    })

    test('a structured output is parsed', async () => {
      await using fixture = await open()
      const Person = z.object({ name: z.string(), age: z.number().int(), tags: z.array(z.string()) })
      const response_format = zodResponseFormat(Person, 'person')
      const question = { model, messages: hello('who?'), response_format }
      const response = await fixture.openai.chat.completions.parse(question)
      const parsed = response.choices[0]?.message.parsed
      expect(Person.safeParse(parsed).success).toBe(true)
      const streamed = await fixture.openai.chat.completions.stream(question).finalChatCompletion()
      expect(streamed.choices[0]?.message.parsed).toEqual(parsed ?? null)
    })
  })
}

/** The result of the stream helper. It keeps only the last reasoning delta, so the reasoning is left out. */
const ofHelper = (completion: OpenAI.ChatCompletion): unknown =>
  withoutIdsAndTimes({
    ...completion,
    choices: completion.choices.map((choice) => ({
      ...choice,
      message: { ...choice.message, reasoning_content: undefined },
    })),
  })

test('reasoning reaches the caller, streaming and non-streaming', async () => {
  await using fixture = await openFixture()
  const question = { model: 'emulated-reasoner', messages: hello('hi') }
  const response = await fixture.openai.chat.completions.create(question)
  const { reasoning_content: thought } = { ...response.choices[0]?.message } as { reasoning_content?: string }
  expect(thought).toContain('Let me think about that')
  const chunks = await all(await fixture.openai.chat.completions.create({ ...question, stream: true }))
  const deltas = chunks.map(
    ({ choices }) => (({ ...choices[0]?.delta }) as { reasoning_content?: string }).reasoning_content ?? '',
  )
  expect(deltas.join('')).toBe(thought ?? '')
  expect((await fixture.recorded()).reasoning).toBe(
    2 * (response.usage?.completion_tokens_details?.reasoning_tokens ?? 0),
  )
})

test('response headers are readable, including request id and rate limits', async () => {
  await using fixture = await openFixture()
  const question = { model, messages: hello('hi') }
  for (const stream of [false, true]) {
    const { data, response, request_id } = await fixture.openai.chat.completions
      .create({ ...question, stream })
      .withResponse()
    expect(request_id).toBe(response.headers.get('x-request-id'))
    expect(response.headers.get('x-upstream-request-id')).toMatch(/^req_/)
    expect(response.headers.get('x-ratelimit-limit-requests')).toBe('10000')
    expect(response.headers.get('openai-version')).toBe('2020-10-01')
    expect(response.headers.has('x-upstream-partialresponse')).toBe(false)
    if (Symbol.asyncIterator in data) await all(data)
  }
})

test('a model marked as non-streaming streams to its callers', async () => {
  await using fixture = await openFixtureFor({
    variant: 'native',
    text: (upstream: object) => ({
      upstreams: [{ ...upstream, models: [{ id: 'emulated-no-stream', streams: false }] }],
    }),
  } as never)
  const question = { model: 'emulated-no-stream', messages: hello('hi') }
  const own = await fixture.direct.chat.completions.create(question)
  const chunks = await all(await fixture.openai.chat.completions.create({ ...question, stream: true }))
  expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe(
    own.choices[0]?.message.content ?? '',
  )
  const response = await fixture.openai.chat.completions.create(question)
  expect(withoutIdsAndTimes(response)).toEqual(withoutIdsAndTimes(own))
})

test('the default of max_tokens is 4096', async () => {
  await using fixture = await openFixture()
  const long = await fixture.openai.chat.completions.create({ model, messages: hello('5000 tokens') })
  expect(fixture.generatingCalls()[0]?.json).toMatchObject({ max_tokens: 4096 })
  expect(long.usage?.completion_tokens).toBe(4096)
  expect(long.choices[0]?.finish_reason).toBe('length')
  const longer = await fixture.openai.chat.completions.create({
    model,
    messages: hello('5000 tokens'),
    max_tokens: 6000,
  })
  expect(longer.usage?.completion_tokens).toBe(5000)
})

test('an asset URL works for the own assets only', async () => {
  await using fixture = await openFixture()
  const asset = await newAsset(fixture.ann, await newGroup(fixture.ann, 'mine'))
  const foreign = await newAsset(fixture.bob, await newGroup(fixture.bob, 'his'))
  const look = (id: string) =>
    fixture.openai.chat.completions.create({
      model,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'what is it?' },
            { type: 'image_url', image_url: { url: `asset://${id}` } },
          ],
        },
      ],
    })
  expect((await look(asset)).choices[0]?.finish_reason).toBe('stop')
  expect(JSON.stringify(fixture.generatingCalls()[0]?.json)).toContain(`asset://${asset}`)
  for (const id of [foreign, 'asset-20260101000000-aaaaa']) {
    expect(await thrown(look(id))).toMatchObject({
      ...{ status: 403, type: 'permission_error', code: 'asset_not_found' },
      param: 'messages[0].content[1].image_url.url',
    })
  }
  // Without an id it is no asset URL.
  expect(await thrown(look(''))).toMatchObject({ status: 400, param: 'messages[0].content[1].image_url.url' })
  expect(fixture.generatingCalls()).toHaveLength(1)
})

test('models are listed and retrieved, with any name', async () => {
  await using fixture = await openFixture()
  const list = await fixture.openai.models.list()
  const own = await fixture.direct.models.list()
  expect(list.data).toEqual(own.data)
  expect(list.data.length).toBeGreaterThan(5)
  expect((await all(fixture.openai.models.list())).map(({ id }) => id)).toContain('emulated/odd name:v1')
  for (const { id } of list.data) expect((await fixture.openai.models.retrieve(id)).id).toBe(id)
  const unknown = await thrown(fixture.openai.models.retrieve('no such'))
  expect(unknown).toMatchObject({ status: 404, code: 'model_not_found' })
  expect((await fixture.recorded()).calls).toBe(0)
})

test('ending the iteration aborts the upstream call', async () => {
  await using fixture = await openFixture({ emulator: { text: { msPerDelta: 2 } } })
  const stream = await fixture.openai.chat.completions.create({ model, messages: hello('4000 tokens'), stream: true })
  for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break
  await until(() => fixture.generatingCalls()[0]?.aborted === true)
  await until(async () => (await fixture.recorded()).calls === 1)
})

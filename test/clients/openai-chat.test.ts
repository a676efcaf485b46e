import { describe, expect, test } from 'bun:test'
import type OpenAI from 'openai'
import { zodResponseFormat } from 'openai/helpers/zod'
import { z } from 'zod'
import { newAsset, newGroup } from '../routes/routes.ts'
import { all, chatTools, hello, model, ofChat, openClients, openWay, thrown, timeless, until, ways } from './clients.ts'

const questions = {
  'plain text': { messages: hello('hi') },
  'several choices': { messages: hello('hi'), n: 2 },
  probabilities: { messages: hello('hi'), logprobs: true, top_logprobs: 2 },
  'a stop word': { messages: hello('hi'), stop: ['characters', 'nowhere'] },
  'too few tokens': { messages: hello('100 tokens'), max_tokens: 7 },
  'too few tokens by the newer name': { messages: hello('100 tokens'), max_completion_tokens: 7 },
  'JSON of any form': { messages: hello('hi'), response_format: { type: 'json_object' as const } },
  'a thought': { messages: hello('hi'), reasoning_effort: 'low' as const },
  'a refusal': { messages: hello('please refuse to answer') },
  'a tool': { messages: hello('call weather'), tools: chatTools },
  'two tools at once': { messages: hello('call weather, then call time and call weather'), tools: chatTools },
  'a tool cut off': { messages: hello('call weather'), tools: chatTools, max_tokens: 3 },
  'a tool that must be': {
    messages: hello('hi'),
    tools: chatTools,
    tool_choice: { type: 'function' as const, function: { name: 'time' } },
  },
  'a custom tool': { messages: hello('call run'), tools: [{ type: 'custom' as const, custom: { name: 'run' } }] },
  'pictures and film': {
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

for (const way of ways.filter(({ way }) => !way.startsWith('chat only'))) {
  describe(`chat completions, an upstream ${way.way}`, () => {
    for (const [title, question] of Object.entries(questions)) {
      test(`${title}: the answer is the upstream's own`, async () => {
        await using clients = await openWay(way)
        const answer = await clients.openai.chat.completions.create({ model, ...question })
        const own = await clients.direct.chat.completions.create({ model, ...question })
        expect(timeless(answer)).toEqual(timeless(own))
        expect(await clients.recorded()).toMatchObject({ calls: 1, unreported: 0, ...ofChat(answer.usage) })
      })

      test(`${title}: the helper makes the same of the stream`, async () => {
        await using clients = await openWay(way)
        const stream_options = { include_usage: true }
        const answer = clients.openai.chat.completions.stream({ model, ...question, stream_options } as never)
        const own = clients.direct.chat.completions.stream({ model, ...question, stream_options } as never)
        expect(ofHelper(await answer.finalChatCompletion())).toEqual(ofHelper(await own.finalChatCompletion()))
        expect(await clients.recorded()).toMatchObject({
          calls: 1,
          unreported: 0,
          ...ofChat(await answer.totalUsage()),
        })
      })
    }

    test('the chunks of a stream are those of the upstream, and usage comes only to those who ask', async () => {
      await using clients = await openWay(way)
      const messages = hello('hi')
      const asked = { model, messages, stream: true as const, stream_options: { include_usage: true } }
      const chunks = await all(await clients.openai.chat.completions.create(asked))
      const text = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')
      const own = await clients.direct.chat.completions.create({ model, messages })
      expect(text).toBe(own.choices[0]?.message.content ?? '')
      expect(chunks.at(-1)?.usage).toEqual(own.usage)
      expect(chunks.at(-1)?.choices).toEqual([])

      const plain = await all(await clients.openai.chat.completions.create({ model, messages, stream: true }))
      expect(plain.filter((chunk) => 'usage' in chunk)).toEqual([])
      expect(plain.every(({ choices }) => choices.length === 1)).toBe(true)
      expect(await clients.recorded()).toMatchObject({
        calls: 2,
        unreported: 0,
        output: 2 * (own.usage?.completion_tokens ?? 0),
      })
    })

    test('tools are run until there is an answer', async () => {
      await using clients = await openWay(way)
      const cities: unknown[] = []
      const runner = clients.openai.chat.completions.runTools({
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
      const said = await runner.finalContent()
      expect(cities).toEqual(['city', 'city'])
      expect(said).toContain('The tool answered: “sun over city”.')
      expect(await clients.recorded()).toMatchObject({ calls: 2, unreported: 0 })
    })

    test('tools are run until there is an answer, by stream', async () => {
      await using clients = await openWay(way)
      const runner = clients.openai.chat.completions.runTools({
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
      expect(clients.asked()).toHaveLength(2)
    })

    test('an answer of a form is parsed', async () => {
      await using clients = await openWay(way)
      const Person = z.object({ name: z.string(), age: z.number().int(), tags: z.array(z.string()) })
      const response_format = zodResponseFormat(Person, 'person')
      const question = { model, messages: hello('who?'), response_format }
      const answer = await clients.openai.chat.completions.parse(question)
      const parsed = answer.choices[0]?.message.parsed
      expect(Person.safeParse(parsed).success).toBe(true)
      const streamed = await clients.openai.chat.completions.stream(question).finalChatCompletion()
      expect(streamed.choices[0]?.message.parsed).toEqual(parsed ?? null)
    })
  })
}

/** What the official helper makes of a stream. Of a thought in many pieces it keeps the last one only, so how many there are shows in it. */
const ofHelper = (completion: OpenAI.ChatCompletion): unknown =>
  timeless({
    ...completion,
    choices: completion.choices.map((choice) => ({
      ...choice,
      message: { ...choice.message, reasoning_content: undefined },
    })),
  })

test('thoughts of a model reach the caller, plain and by stream', async () => {
  await using clients = await openClients()
  const question = { model: 'emulated-reasoner', messages: hello('hi') }
  const answer = await clients.openai.chat.completions.create(question)
  const { reasoning_content: thought } = { ...answer.choices[0]?.message } as { reasoning_content?: string }
  expect(thought).toContain('Let me think about that')
  const chunks = await all(await clients.openai.chat.completions.create({ ...question, stream: true }))
  const deltas = chunks.map(
    ({ choices }) => (({ ...choices[0]?.delta }) as { reasoning_content?: string }).reasoning_content ?? '',
  )
  expect(deltas.join('')).toBe(thought ?? '')
  expect((await clients.recorded()).reasoning).toBe(
    2 * (answer.usage?.completion_tokens_details?.reasoning_tokens ?? 0),
  )
})

test('the headers of an answer can be read, the request id and the limits among them', async () => {
  await using clients = await openClients()
  const question = { model, messages: hello('hi') }
  for (const stream of [false, true]) {
    const { data, response, request_id } = await clients.openai.chat.completions
      .create({ ...question, stream })
      .withResponse()
    expect(request_id).toMatch(/^req_/)
    expect(response.headers.get('x-ratelimit-limit-requests')).toBe('10000')
    expect(response.headers.get('openai-version')).toBe('2020-10-01')
    expect(response.headers.has('x-upstream-partialresponse')).toBe(false)
    if (Symbol.asyncIterator in data) await all(data)
  }
})

test('a model that cannot stream, marked as such, streams to its callers', async () => {
  await using clients = await openWay({
    way: 'native',
    text: (upstream: object) => ({
      upstreams: [{ ...upstream, models: [{ id: 'emulated-no-stream', streams: false }] }],
    }),
  } as never)
  const question = { model: 'emulated-no-stream', messages: hello('hi') }
  const own = await clients.direct.chat.completions.create(question)
  const chunks = await all(await clients.openai.chat.completions.create({ ...question, stream: true }))
  expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe(
    own.choices[0]?.message.content ?? '',
  )
  const answer = await clients.openai.chat.completions.create(question)
  expect(timeless(answer)).toEqual(timeless(own))
})

test('the most tokens of an answer are 4096 unless somebody says otherwise', async () => {
  await using clients = await openClients()
  const long = await clients.openai.chat.completions.create({ model, messages: hello('5000 tokens') })
  expect(clients.asked()[0]?.json).toMatchObject({ max_tokens: 4096 })
  expect(long.usage?.completion_tokens).toBe(4096)
  expect(long.choices[0]?.finish_reason).toBe('length')
  const longer = await clients.openai.chat.completions.create({
    model,
    messages: hello('5000 tokens'),
    max_tokens: 6000,
  })
  expect(longer.usage?.completion_tokens).toBe(5000)
})

test("one's own asset can be looked at, and nobody else's", async () => {
  await using clients = await openClients()
  const asset = await newAsset(clients.ann, await newGroup(clients.ann, 'mine'))
  const foreign = await newAsset(clients.bob, await newGroup(clients.bob, 'his'))
  const look = (id: string) =>
    clients.openai.chat.completions.create({
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
  expect(JSON.stringify(clients.asked()[0]?.json)).toContain(`asset://${asset}`)
  for (const id of [foreign, 'asset-20260101000000-aaaaa']) {
    expect(await thrown(look(id))).toMatchObject({
      ...{ status: 403, type: 'permission_error', code: 'asset_not_found' },
      param: 'messages[0].content[1].image_url.url',
    })
  }
  // No id at all is no address.
  expect(await thrown(look(''))).toMatchObject({ status: 400, param: 'messages[0].content[1].image_url.url' })
  expect(clients.asked()).toHaveLength(1)
})

test('models are listed and looked up, whatever their names are', async () => {
  await using clients = await openClients()
  const list = await clients.openai.models.list()
  const own = await clients.direct.models.list()
  expect(list.data).toEqual(own.data)
  expect(list.data.length).toBeGreaterThan(5)
  expect((await all(clients.openai.models.list())).map(({ id }) => id)).toContain('emulated/odd name:v1')
  for (const { id } of list.data) expect((await clients.openai.models.retrieve(id)).id).toBe(id)
  const unknown = await thrown(clients.openai.models.retrieve('no such'))
  expect(unknown).toMatchObject({ status: 404, code: 'model_not_found' })
  expect((await clients.recorded()).calls).toBe(0)
})

test('a caller that abandons the iteration frees the upstream', async () => {
  await using clients = await openClients({ emulator: { text: { msPerDelta: 2 } } })
  const stream = await clients.openai.chat.completions.create({ model, messages: hello('4000 tokens'), stream: true })
  for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break
  await until(() => clients.asked()[0]?.aborted === true)
  await until(async () => (await clients.recorded()).calls === 1)
})

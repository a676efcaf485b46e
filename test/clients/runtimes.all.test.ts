/** Runs with `--all`: three client libraries on both runtimes and both servers. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createOpenAI } from '@ai-sdk/openai'
import Anthropic from '@anthropic-ai/sdk'
import { ChatOpenAI } from '@langchain/openai'
import { generateText } from 'ai'
import OpenAI from 'openai'
import type { ServerProcess } from '../support/server.ts'
import { openServerFixture, type ServerFixture } from '../support/server-fixture.ts'
import { all, chatTools, hello, model, ofChat, responsesTools, thrown, until, withoutIdsAndTimes } from './fixture.ts'

for (const { runtime, getBodies, database, workers } of [
  { runtime: 'bun', getBodies: 'on', database: 'sqlite', workers: '1' },
  { runtime: 'bun', getBodies: 'off', database: 'sqlite', workers: '1' },
  { runtime: 'deno', getBodies: 'on', database: 'sqlite', workers: '1' },
  { runtime: 'deno', getBodies: 'off', database: 'sqlite', workers: '1' },
  { runtime: 'bun', getBodies: 'on', database: 'postgres', workers: '2' },
  { runtime: 'deno', getBodies: 'on', database: 'postgres', workers: '1' },
] as const) {
  describe(`the default server on ${runtime}, GET_BODIES ${getBodies}, ${database}, WORKERS ${workers}`, () => {
    let fixture: ServerFixture
    let server: ServerProcess
    let openai: OpenAI
    let direct: OpenAI
    let given: { baseURL: string; apiKey: string }
    const generatingCalls = () => fixture.emulator.calls.filter(({ api }) => api === 'text')
    const struck = ({ emulator }: ServerFixture) => emulator.faults

    beforeAll(async () => {
      fixture = await openServerFixture(database, { text: { msPerDelta: 0 } })
      const { url, key } = fixture.emulator.text
      const text = { TEXT_UPSTREAM_URL: url, TEXT_UPSTREAM_KEY: key }
      server = await fixture.start(
        {
          ...text,
          GET_BODIES: getBodies,
          WORKERS: workers,
          MAX_BODY_BYTES: '3000000',
          USER_MAX_STREAMS: '200',
          USER_MAX_REQUESTS: '200',
        },
        runtime,
      )
      const user = await fixture.addUser('ann')
      given = { baseURL: `${server.url}/v1`, apiKey: user.token }
      openai = new OpenAI({ ...given, maxRetries: 0 })
      direct = new OpenAI({ baseURL: url, apiKey: key, maxRetries: 0 })
    }, 300_000)
    afterAll(() => fixture[Symbol.asyncDispose]())

    test('OpenAI’s client creates chat completions, streaming and non-streaming', async () => {
      const question = { model, messages: hello('call weather and call time'), tools: chatTools }
      const response = await openai.chat.completions.create(question)
      const own = await direct.chat.completions.create(question)
      expect(withoutIdsAndTimes(response)).toEqual(withoutIdsAndTimes(own))
      const stream_options = { include_usage: true }
      const streamed = await openai.chat.completions.stream({ ...question, stream_options }).finalChatCompletion()
      expect(streamed.choices[0]?.message.tool_calls).toHaveLength(2)
      expect(ofChat(streamed.usage)).toEqual(ofChat(own.usage))
    })

    test('OpenAI’s client creates responses, streaming and non-streaming', async () => {
      const question = { model, input: 'call weather and call time', tools: responsesTools }
      const response = await openai.responses.create(question)
      const own = await direct.responses.create(question)
      expect(withoutIdsAndTimes(response)).toEqual(withoutIdsAndTimes(own))
      const streamed = await openai.responses.stream(question).finalResponse()
      expect(streamed.output.map(({ type }) => type)).toEqual(own.output.map(({ type }) => type))
    })

    test('other libraries work too', async () => {
      const { text } = await generateText({ model: createOpenAI(given).responses(model), prompt: 'hi' })
      expect(text).toStartWith('You wrote: “hi”.')
      const { apiKey, baseURL } = given
      const pieces = await all(await new ChatOpenAI({ model, apiKey, configuration: { baseURL } }).stream('hi'))
      expect(pieces.map((piece) => piece.text).join('')).toBe(text)
    })

    test('Anthropic’s client creates messages, calls tools and raises errors', async () => {
      const client = new Anthropic({ baseURL: server.url, apiKey: given.apiKey, maxRetries: 0 })
      const tools = [
        {
          name: 'weather',
          input_schema: { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] },
        },
      ]
      const messages = [{ role: 'user' as const, content: 'call weather' }]
      const question = { model, max_tokens: 500, messages, tools }
      const whole = await client.messages.create(question)
      const streamed = await client.messages.stream(question).finalMessage()
      for (const { stop_reason, content } of [whole, streamed]) {
        expect(stop_reason).toBe('tool_use')
        expect(content).toMatchObject([{ type: 'tool_use', name: 'weather', input: { city: expect.any(String) } }])
      }
      expect((await client.messages.countTokens({ model, messages, tools })).input_tokens).toBeGreaterThan(10)
      const unauthenticated = new Anthropic({ baseURL: server.url, apiKey: 'sk-nobody', maxRetries: 0 })
      expect(await thrown(unauthenticated.messages.create(question))).toBeInstanceOf(Anthropic.AuthenticationError)
      const large = { ...question, system: 'x'.repeat(3_000_001) }
      expect(await thrown(client.messages.create(large))).toMatchObject({ status: 413, type: 'request_too_large' })
      struck(fixture).add({ kind: 'cut', how: 'reset', events: 5 })
      const broken = client.messages.stream({ ...question, messages: [{ role: 'user', content: 'hi' }] })
      expect(await thrown(broken.finalMessage())).toMatchObject({ type: 'api_error' })
    })

    test('the recorded usage equals that of the responses', async () => {
      const bob = await fixture.addUser('bob')
      const own = new OpenAI({ ...given, apiKey: bob.token, maxRetries: 0 })
      const { usage } = await own.chat.completions.create({ model, messages: hello('77 tokens') })
      const spent = () => fixture.store.listUsage({ user: bob.id })
      // The server records it shortly after the response.
      await until(async () => (await spent()).length > 0)
      const written = { calls: 1, unreported: 0, inputTokens: usage?.prompt_tokens, outputTokens: 77 }
      expect(await spent()).toMatchObject([written])
    })

    test('models with slashes and spaces in their names are found', async () => {
      const { data } = await openai.models.list()
      for (const { id } of data) expect((await openai.models.retrieve(id)).id).toBe(id)
    })

    test('OpenAI’s client raises its own error classes', async () => {
      const unauthenticated = new OpenAI({ ...given, apiKey: 'sk-nobody', maxRetries: 0 })
      expect(await thrown(unauthenticated.models.list())).toBeInstanceOf(OpenAI.AuthenticationError)
      const wrong = await thrown(openai.chat.completions.create({ model, messages: [] }))
      expect(wrong).toMatchObject({ status: 400, param: 'messages' })
      const large = await thrown(openai.responses.create({ model, input: 'x'.repeat(3_000_001) }))
      expect(large).toMatchObject({ status: 413, type: 'invalid_request_error' })
      struck(fixture).add({ kind: 'status', status: 429, headers: { 'retry-after': '3' } })
      const slow = await thrown(openai.responses.create({ model, input: 'hi' }))
      expect(slow).toBeInstanceOf(OpenAI.RateLimitError)
    })

    test('an interrupted stream is an error', async () => {
      for (const how of ['reset', 'fin', 'clean'] as const) {
        struck(fixture).add({ kind: 'cut', how, events: 5 })
        const chat = all(await openai.chat.completions.create({ model, messages: hello('hi'), stream: true }))
        expect(await thrown(chat)).toBeInstanceOf(OpenAI.APIError)
        struck(fixture).add({ kind: 'cut', how, events: 5 })
        const response = all(await openai.responses.create({ model, input: 'hi', stream: true }))
        expect(await thrown(response)).toBeInstanceOf(OpenAI.APIError)
      }
    })

    test('the timeout sends a partial response', async () => {
      struck(fixture).add({ kind: 'silence', events: 9 })
      // As if the client had a timeout of five seconds: a busy machine may need some for the first events.
      const headers = { 'x-stainless-timeout': '5' }
      const { data, response } = await openai.chat.completions
        .create({ model, messages: hello('hi') }, { headers })
        .withResponse()
      expect(response.headers.get('x-upstream-partialresponse')).toBe('true')
      expect(data.choices[0]?.finish_reason).toBe('length')
      expect(data.choices[0]?.message.content).toStartWith('You wrote')
    })

    test('the upstream call is aborted when the caller disconnects', async () => {
      for (const kind of ['stall', 'silence', 'hang'] as const) {
        struck(fixture).add(kind === 'stall' ? { kind: 'silence', events: 5 } : { kind })
        const before = generatingCalls().length
        const leaving = new AbortController()
        const options = { signal: leaving.signal }
        const caught = thrown(async () => {
          await all(await openai.chat.completions.create({ model, messages: hello('hi'), stream: true }, options))
          leaving.signal.throwIfAborted()
        })
        await until(() => generatingCalls().length > before)
        leaving.abort()
        await caught
        await until(() => generatingCalls()[before]?.aborted === true)
      }
    })

    test('150 concurrent streams are complete', async () => {
      const own = await direct.chat.completions.create({ model, messages: hello('120 tokens') })
      struck(fixture).clear()
      // All streams have started before one continues.
      const gate = struck(fixture).add({ kind: 'silence', events: 5, times: 150 })
      const asking = Array.from({ length: 150 }, async () => {
        const stream = await openai.chat.completions.create({ model, messages: hello('120 tokens'), stream: true })
        return (await all(stream)).map(({ choices }) => choices[0]?.delta.content ?? '').join('')
      })
      await gate.waitForHits(150)
      gate.release()
      const texts = await Promise.all(asking)
      expect(new Set(texts)).toEqual(new Set([own.choices[0]?.message.content ?? '']))
    })

    test('the server still runs and has logged no warning', async () => {
      expect((await fetch(`${server.url}/healthz`)).ok).toBe(true)
      expect(server.stdout() + server.stderr()).not.toMatch(/uncaught|unhandled|TypeError|at \w+ \(/i)
    })
  })
}

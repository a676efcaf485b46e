import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import { all, type Fixture, model, openFixtureFor, thrown, until, variants } from './fixture.ts'

const hi = [{ role: 'user' as const, content: 'hi' }]
const minimal = { model, max_tokens: 500, messages: hi }
const tools: Anthropic.Tool[] = ['weather', 'time'].map((name) => ({
  name,
  description: `the ${name} of a city`,
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}))
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** Anthropic's client with the base address and the key replaced: it adds `/v1` itself. */
const clientOf = ({ gateway, apiKey }: Fixture, options: object = {}) =>
  new Anthropic({ baseURL: gateway.url, apiKey, maxRetries: 0, ...options })

for (const variant of variants) {
  describe(`Anthropic’s client, upstream: ${variant.name}`, () => {
    let fixture: Fixture
    let client: Anthropic
    beforeAll(async () => {
      fixture = await openFixtureFor(variant)
      client = clientOf(fixture)
    })
    afterAll(() => fixture[Symbol.asyncDispose]())

    test('creates a message, streaming and not, and its usage is recorded', async () => {
      const before = await fixture.recorded()
      const whole = await client.messages.create(minimal)
      expect(whole).toMatchObject({ type: 'message', role: 'assistant', model, stop_reason: 'end_turn' })
      expect(whole.content).toMatchObject([{ type: 'text', text: expect.stringMatching(/^You wrote: “hi”\./) }])
      const { content } = await client.messages.create(minimal)
      const stream = client.messages.stream(minimal)
      let text = ''
      stream.on('text', (delta) => {
        text += delta
      })
      const streamed = await stream.finalMessage()
      expect(streamed).toMatchObject({ content, stop_reason: 'end_turn' })
      expect(text).toBe(await stream.finalText())
      const { input_tokens, cache_read_input_tokens, cache_creation_input_tokens, output_tokens } = streamed.usage
      expect(output_tokens).toBeGreaterThan(0)
      await until(async () => (await fixture.recorded()).calls === before.calls + 3)
      const input = input_tokens + (cache_read_input_tokens ?? 0) + (cache_creation_input_tokens ?? 0)
      const after = await fixture.recorded()
      expect(after).toMatchObject({
        unreported: 0,
        input: before.input + 3 * input,
        output: before.output + 3 * output_tokens,
      })
    })

    test('calls tools over two turns', async () => {
      const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'call weather and call time' }]
      for (const stream of [true, false]) {
        const request = { ...minimal, messages, tools }
        const first = await (stream ? client.messages.stream(request).finalMessage() : client.messages.create(request))
        const uses = first.content.filter((block) => block.type === 'tool_use')
        expect(first.stop_reason).toBe('tool_use')
        expect(uses.map(({ name }) => name)).toEqual(['weather', 'time'])
        const results = uses.map(({ id, name }) => ({
          type: 'tool_result' as const,
          tool_use_id: id,
          content: `${name}: fine`,
        }))
        const second = await client.messages.create({
          ...request,
          messages: [...messages, { role: 'assistant', content: first.content }, { role: 'user', content: results }],
        })
        expect(JSON.stringify(second.content)).toContain('fine')
      }
    })

    test('runs tools with its own helper', async () => {
      const asked: string[] = []
      const weather = betaTool({
        ...{ name: 'weather', description: 'the weather of a city' },
        inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        run: ({ city }) => {
          asked.push(city)
          return `sun over ${city}`
        },
      })
      const runner = client.beta.messages.toolRunner({
        ...minimal,
        messages: [{ role: 'user', content: 'call weather' }],
        tools: [weather],
        max_iterations: 3,
      })
      const last = await runner
      expect(asked).toHaveLength(1)
      expect(last.stop_reason).toBe('end_turn')
      expect(JSON.stringify(last.content)).toContain('sun over')
    })

    test('carries thinking from turn to turn, for its user only', async () => {
      const reasoner = { ...minimal, model: 'emulated-reasoner', max_tokens: 4000 }
      const request = { ...reasoner, thinking: { type: 'enabled' as const, budget_tokens: 2000 } }
      const first = await client.messages.stream(request).finalMessage()
      const [thinking] = first.content
      if (thinking?.type !== 'thinking') throw new Error('no thinking')
      expect(thinking.thinking).not.toBe('')
      const turns = [
        ...hi,
        { role: 'assistant' as const, content: first.content },
        { role: 'user' as const, content: 'and?' },
      ]
      const reasoningSent = async (by: Anthropic, messages: Anthropic.MessageParam[]) => {
        await by.messages.create({ ...reasoner, messages })
        const body = fixture.generatingCalls().at(-1)?.body
        const sent = (typeof body === 'string' ? JSON.parse(body) : body) as {
          messages: { reasoning_content?: string }[]
        }
        return sent.messages[1]?.reasoning_content
      }
      expect(await reasoningSent(client, turns)).toBe(thinking.thinking)
      const bob = new Anthropic({ baseURL: fixture.gateway.url, apiKey: fixture.bob.token, maxRetries: 0 })
      expect(await reasoningSent(bob, turns)).toBeUndefined()
    })

    test('sends images, documents and a system prompt', async () => {
      const source = { type: 'base64' as const, media_type: 'image/png' as const, data: png }
      const { content } = await client.messages.create({
        ...minimal,
        system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'what is this?' },
              { type: 'image', source },
              { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a plan' } },
            ],
          },
        ],
      })
      expect(content).toHaveLength(1)
    })

    test('ends at max_tokens', async () => {
      expect(await client.messages.create({ ...minimal, max_tokens: 3 })).toMatchObject({ stop_reason: 'max_tokens' })
      const streamed = await client.messages.stream({ ...minimal, max_tokens: 3 }).finalMessage()
      expect(streamed.stop_reason).toBe('max_tokens')
    })

    test('counts tokens: an estimate, without the upstream', async () => {
      const before = fixture.emulator.calls.length
      const { data, response } = await client.messages
        .countTokens({ model, messages: [{ role: 'user', content: 'word '.repeat(400) }], tools })
        .withResponse()
      expect(data.input_tokens).toBeWithin(400, 900)
      expect(response.headers.get('x-token-count')).toBe('estimate')
      expect(fixture.emulator.calls.length).toBe(before)
    })

    test('raises its own error classes', async () => {
      const { emulator } = fixture
      const nobody = clientOf(fixture, { apiKey: 'sk-nobody' })
      expect(await thrown(nobody.messages.create(minimal))).toBeInstanceOf(Anthropic.AuthenticationError)
      expect(await thrown(nobody.messages.countTokens({ model, messages: hi }))).toBeInstanceOf(
        Anthropic.AuthenticationError,
      )
      const wrong = await thrown(client.messages.create({ ...minimal, messages: [] }))
      expect(wrong).toBeInstanceOf(Anthropic.BadRequestError)
      expect(wrong).toMatchObject({ type: 'invalid_request_error', apiMessage: 'messages must be a non-empty array' })
      const batches = await thrown(client.messages.batches.retrieve('msgbatch_1'))
      expect(batches).toBeInstanceOf(Anthropic.NotFoundError)
      for (const stream of [true, false]) {
        emulator.faults.add({ kind: 'status', status: 429, headers: { 'retry-after': '3' } })
        const limited = await thrown(client.messages.create({ ...minimal, stream }))
        expect(limited).toBeInstanceOf(Anthropic.RateLimitError)
        expect(limited).toMatchObject({ type: 'rate_limit_error' })
        emulator.faults.add({ kind: 'status', status: 503 })
        expect(await thrown(client.messages.create({ ...minimal, stream }))).toMatchObject({ type: 'overloaded_error' })
      }
    })

    test('knows the id of each request, which is the gateway’s own', async () => {
      const { _request_id: id } = await client.messages.create(minimal)
      const { response } = await client.messages.countTokens({ model, messages: hi }).withResponse()
      const ids = [id, response.headers.get('request-id')]
      for (const key of ['sk-nobody', fixture.apiKey]) {
        const error = await thrown(clientOf(fixture, { apiKey: key }).messages.create({ ...minimal, messages: [] }))
        if (!(error instanceof Anthropic.APIError)) throw error
        expect(error.error).toMatchObject({ request_id: error.requestID })
        ids.push(error.requestID)
      }
      fixture.emulator.faults.add({ kind: 'status', status: 503, headers: { 'x-request-id': 'upstream' } })
      const rejected = await thrown(client.messages.create(minimal))
      if (!(rejected instanceof Anthropic.APIError)) throw rejected
      ids.push(rejected.requestID)
      expect(ids).toEqual(ids.map(() => expect.stringMatching(/^[0-9a-f-]{36}$/)))
      expect(new Set(ids).size).toBe(ids.length)
    })

    test('retries by itself after an error of the upstream', async () => {
      fixture.emulator.faults.add({ kind: 'status', status: 503 })
      const patient = clientOf(fixture, { maxRetries: 2 })
      expect((await patient.messages.create(minimal)).stop_reason).toBe('end_turn')
    })

    test('a caller who leaves aborts the call of the upstream', async () => {
      const { emulator } = fixture
      const silence = emulator.faults.add({ kind: 'silence', ms: 60_000 })
      const before = fixture.generatingCalls().length
      const stream = client.messages.stream(minimal)
      const caught = thrown(stream.done())
      await silence.waitForHits()
      stream.abort()
      expect(await caught).toBeInstanceOf(Anthropic.APIUserAbortError)
      await until(() => fixture.generatingCalls()[before]?.aborted === true)
      emulator.faults.clear()
    })

    if (!variant.name.includes('without streams')) {
      test('a stream that breaks is an error', async () => {
        for (const how of ['reset', 'fin', 'clean'] as const) {
          fixture.emulator.faults.add({ kind: 'cut', how, events: 5 })
          const error = await thrown(client.messages.stream(minimal).finalMessage())
          expect(error).toBeInstanceOf(Anthropic.APIError)
          expect(error).toMatchObject({ type: 'api_error' })
        }
      })

      test('a revoked token ends the stream with an error', async () => {
        await using own = await openFixtureFor(variant)
        const { gateway, ann, emulator } = own
        const silence = emulator.faults.add({ kind: 'silence', events: 2, ms: 60_000 })
        const caught = thrown(async () => all(await clientOf(own).messages.create({ ...minimal, stream: true })))
        await silence.waitForHits()
        const [token] = await gateway.store.listTokens(ann.id)
        await gateway.store.revokeToken(token?.id ?? '', Date.now())
        expect(await caught).toMatchObject({ type: 'authentication_error', apiMessage: 'not authenticated' })
      })
    }
  })
}

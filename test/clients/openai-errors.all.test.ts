/** Runs with `--all`: every error, in four variants of the upstream, seen by OpenAI's client. */
import { describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import type { Fetch } from '../../plugins/shared/upstream/upstream-error.ts'
import { VirtualClock } from '../support/virtual-clock.ts'
import { all, hello, model, openFixture, openFixtureFor, thrown, until, variants } from './fixture.ts'

/** The longest duration of a call without a stream, by default. */
const timeoutMs = 200_000
/** More than the first sentence of an answer has, in both protocols. */
const firstEvents = 60

/** The gateway's way to the upstream, which counts the events that the gateway has read. */
const countEvents = () => {
  let text = ''
  const fetch: Fetch = async (url, init) => {
    const response = await globalThis.fetch(url, init)
    const decoder = new TextDecoder()
    const counted = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        text += decoder.decode(chunk, { stream: true })
        controller.enqueue(chunk)
      },
    })
    return new Response(response.body?.pipeThrough(counted), response)
  }
  return { fetch, count: () => text.split('\n\n').length - 1 }
}

/** The four calls that generate. */
const calls = {
  'a chat completion': (client: OpenAI, more: object = {}) =>
    client.chat.completions.create({ model, messages: hello('hi'), ...more }) as Promise<unknown>,
  'a chat stream': async (client: OpenAI, more: object = {}) =>
    all(await client.chat.completions.create({ model, messages: hello('hi'), ...more, stream: true })),
  'a response': (client: OpenAI, more: object = {}) =>
    client.responses.create({ model, input: 'hi', ...more }) as Promise<unknown>,
  'a response stream': async (client: OpenAI, more: object = {}) =>
    all(await client.responses.create({ model, input: 'hi', ...more, stream: true })),
}

const classes = [
  { status: 400, raised: OpenAI.BadRequestError },
  { status: 403, raised: OpenAI.PermissionDeniedError },
  { status: 404, raised: OpenAI.NotFoundError },
  { status: 409, raised: OpenAI.ConflictError },
  { status: 422, raised: OpenAI.UnprocessableEntityError },
  { status: 429, raised: OpenAI.RateLimitError },
  { status: 500, raised: OpenAI.InternalServerError },
  { status: 503, raised: OpenAI.InternalServerError },
]

for (const [title, call] of Object.entries(calls)) {
  describe(title, () => {
    for (const { status, raised } of classes) {
      test(`a ${status} of the upstream is raised as ${raised.name}, with message and headers`, async () => {
        await using fixture = await openFixture()
        const error = {
          message: `the model says no: ${status}`,
          type: 'some_type',
          param: 'some.param',
          code: 'some_code',
        }
        const headers = { 'x-request-id': 'req_of_upstream', 'retry-after': '1', 'x-should-retry': 'false' }
        fixture.emulator.faults.add({ kind: 'status', status, body: JSON.stringify({ error }), headers })
        const caught = await thrown(call(fixture.openai))
        expect(caught).toBeInstanceOf(raised)
        expect(caught).toMatchObject({ status, error, type: 'some_type', param: 'some.param', code: 'some_code' })
        const { headers: received, requestID } = caught as InstanceType<typeof OpenAI.APIError>
        expect(requestID).toMatch(/^[0-9a-f-]{36}$/)
        expect(received?.get('x-upstream-request-id')).toBe('req_of_upstream')
        expect(received?.get('retry-after')).toBe('1')
        expect((await fixture.recorded()).output).toBe(0)
      })
    }

    test('a 401 of the upstream is a 502: it is about the key of the gateway', async () => {
      await using fixture = await openFixture()
      fixture.emulator.faults.add({
        kind: 'status',
        status: 401,
        body: '{"error":{"message":"Incorrect API key: sk-up"}}',
      })
      const caught = await thrown(call(fixture.openai))
      expect(caught).toMatchObject({ status: 502, type: 'server_error' })
      expect(String(caught)).not.toContain('sk-up')
    })

    test('an unknown or revoked key raises AuthenticationError', async () => {
      await using fixture = await openFixture()
      const { baseURL, gateway, ann } = fixture
      const unknownKeys = ['sk-unknown', `${ann.token}x`, fixture.emulator.text.key]
      for (const apiKey of unknownKeys) {
        const caught = await thrown(call(new OpenAI({ baseURL, apiKey, maxRetries: 0 })))
        expect(caught).toBeInstanceOf(OpenAI.AuthenticationError)
        expect(caught).toMatchObject({ status: 401, type: 'authentication_error', code: 'invalid_api_key' })
      }
      const [token] = await gateway.store.listTokens(ann.id)
      await gateway.store.revokeToken(token?.id ?? '', Date.now())
      expect(await thrown(call(fixture.openai))).toBeInstanceOf(OpenAI.AuthenticationError)
      expect(fixture.generatingCalls()).toEqual([])
    })

    test('an invalid request is rejected without an upstream call, with the name of the parameter', async () => {
      await using fixture = await openFixture()
      for (const [more, param] of [
        [{ model: 7 }, 'model'],
        [{ model: undefined }, 'model'],
        [
          title.includes('chat') ? { messages: [] } : { input: undefined },
          title.includes('chat') ? 'messages' : 'input',
        ],
      ] as const) {
        const caught = await thrown(call(fixture.openai, more))
        expect(caught).toBeInstanceOf(OpenAI.BadRequestError)
        expect(caught).toMatchObject({ status: 400, param, type: 'invalid_request_error' })
      }
      expect(fixture.generatingCalls()).toEqual([])
    })

    test('a validation error of the upstream passes with its message', async () => {
      await using fixture = await openFixture()
      const unknown = await thrown(call(fixture.openai, { model: 'no/such model' }))
      expect(unknown).toBeInstanceOf(OpenAI.NotFoundError)
      expect(unknown).toMatchObject({ status: 404, param: 'model', code: 'model_not_found' })
      expect((unknown as Error).message).toContain('The model `no/such model` does not exist')
      expect((unknown as InstanceType<typeof OpenAI.APIError>).headers?.get('x-upstream-request-id')).toMatch(/^req_/)
      const small = await thrown(
        call(fixture.openai, {
          ...{ model: 'emulated-small', max_tokens: 10, messages: hello('x'.repeat(9000)), input: 'x'.repeat(9000) },
        }),
      )
      expect(small).toMatchObject({ status: 400, code: 'context_length_exceeded' })
    })

    test('an upstream that is unreachable, responds with an invalid body or redirects is 502', async () => {
      await using fixture = await openFixture()
      const { faults } = fixture.emulator
      for (const fault of [
        { kind: 'reset-before' },
        { kind: 'reset-after' },
        { kind: 'not-json' },
        { kind: 'empty' },
        { kind: 'redirect', location: 'https://elsewhere.example/' },
      ] as const) {
        faults.add(fault)
        const caught = await thrown(call(fixture.openai))
        expect(caught).toBeInstanceOf(OpenAI.InternalServerError)
        expect(caught).toMatchObject({ status: 502, type: 'server_error' })
        expect((caught as Error).message).not.toMatch(/ECONN|socket|127\.0\.0\.1|fetch|JSON/)
        faults.clear()
      }
      await fixture.emulator.stop()
      expect(await thrown(call(fixture.openai))).toMatchObject({ status: 502 })
    })

    test('the client retries after Retry-After and succeeds', async () => {
      await using fixture = await openFixture({ client: { maxRetries: 2 } })
      const body = JSON.stringify({
        error: { message: 'slow', type: 'requests', param: null, code: 'rate_limit_exceeded' },
      })
      fixture.emulator.faults.add({ kind: 'status', status: 429, body, headers: { 'retry-after-ms': '30' }, times: 2 })
      await call(fixture.openai)
      expect(fixture.generatingCalls().map(({ status }) => status)).toEqual([429, 429, 200])
      const [first = { at: 0 }, second = { at: 0 }] = fixture.generatingCalls()
      expect(second.at - first.at).toBeGreaterThanOrEqual(29)
    })

    test('the gateway does not retry on its own', async () => {
      await using fixture = await openFixture({ client: { maxRetries: 1 } })
      fixture.emulator.faults.add({
        ...{ kind: 'status', status: 500, times: Number.POSITIVE_INFINITY },
        headers: { 'retry-after-ms': '1' },
      })
      expect(await thrown(call(fixture.openai))).toBeInstanceOf(OpenAI.InternalServerError)
      expect(fixture.generatingCalls()).toHaveLength(2)
      fixture.emulator.faults.clear()
      fixture.emulator.faults.add({
        ...{ kind: 'status', status: 500, times: Number.POSITIVE_INFINITY },
        headers: { 'x-should-retry': 'false' },
      })
      expect(await thrown(call(fixture.openai))).toBeInstanceOf(OpenAI.InternalServerError)
      expect(fixture.generatingCalls()).toHaveLength(3)
    })

    test('the upstream call is aborted whenever the caller aborts', async () => {
      await using fixture = await openFixture()
      const { emulator, openai } = fixture
      // Before the response, and in the middle of it.
      for (const fault of [{ kind: 'hang' }, { kind: 'silence', events: 3 }] as const) {
        emulator.faults.add(fault)
        const before = fixture.generatingCalls().length
        const leaving = new AbortController()
        const caught = thrown(
          title.includes('chat')
            ? async () => {
                const options = { signal: leaving.signal }
                const messages = hello('4000 tokens')
                if (!title.includes('stream')) return openai.chat.completions.create({ model, messages }, options)
                const stream = await openai.chat.completions.create({ model, messages, stream: true }, options)
                await all(stream)
                // The client ends an aborted iteration without an error.
                if (leaving.signal.aborted) throw new OpenAI.APIUserAbortError()
              }
            : async () => {
                const options = { signal: leaving.signal }
                const input = '4000 tokens'
                if (!title.includes('stream')) return openai.responses.create({ model, input }, options)
                await all(await openai.responses.create({ model, input, stream: true }, options))
                if (leaving.signal.aborted) throw new OpenAI.APIUserAbortError()
              },
        )
        await until(() => fixture.generatingCalls().length > before)
        if (fault.kind === 'silence') await until(() => fixture.generatingCalls()[before]?.status === 200)
        leaving.abort()
        expect(await caught).toBeInstanceOf(OpenAI.APIUserAbortError)
        await until(() => fixture.generatingCalls()[before]?.aborted === true)
      }
      await until(async () => (await fixture.recorded()).unreported === 2)
    })
  })
}

test('a 429 of the upstream reaches the client unchanged', async () => {
  // On the emulator's clock, both calls come at the same moment.
  await using fixture = await openFixture({ emulator: { clock: () => 1_000_000, text: { requestsPerMinute: 1 } } })
  await calls['a response'](fixture.openai)
  const caught = await thrown(calls['a response'](fixture.openai))
  expect(caught).toBeInstanceOf(OpenAI.RateLimitError)
  expect((caught as InstanceType<typeof OpenAI.APIError>).headers?.get('retry-after')).toBe('60')
})

test('a stopped gateway is a connection error', async () => {
  const fixture = await openFixture()
  await fixture[Symbol.asyncDispose]()
  expect(await thrown(calls['a response'](fixture.openai))).toBeInstanceOf(OpenAI.APIConnectionError)
})

describe.each([...variants])('the timeout, upstream: $name', (variant) => {
  const streams = !variant.name.endsWith('without streams')

  /** A gateway whose clock reaches the timeout when the upstream is silent, after the first events where it streams. */
  const openAtTimeout = async () => {
    const clock = new VirtualClock(20, Date.now())
    const events = countEvents()
    const fixture = await openFixtureFor(variant, { text: { clock, fetch: events.fetch } })
    fixture.emulator.faults.add(streams ? { kind: 'silence', events: firstEvents } : { kind: 'hang' })
    const passTimeout = async () => {
      await until(() => (streams ? events.count() === firstEvents : fixture.generatingCalls().length === 1))
      await clock.pass(timeoutMs)
    }
    return { ...fixture, passTimeout }
  }

  test('ends a chat completion with a partial response and a header', async () => {
    await using fixture = await openAtTimeout()
    const call = fixture.openai.chat.completions.create({ model, messages: hello('4000 tokens') }).withResponse()
    await fixture.passTimeout()
    const { data, response } = await call
    expect(response.headers.get('x-upstream-partialresponse')).toBe('true')
    expect(data.object).toBe('chat.completion')
    expect(data.choices[0]?.finish_reason).toBe('length')
    const { content } = data.choices[0]?.message ?? {}
    if (streams) expect(content).toStartWith('You wrote: “4000 tokens”.')
    else expect(content ?? '').toBe('')
    await until(() => fixture.generatingCalls()[0]?.aborted === true)
    expect(await fixture.recorded()).toMatchObject({ calls: 1, unreported: 1 })
  })

  test('ends a response with a partial response and a header', async () => {
    await using fixture = await openAtTimeout()
    const call = fixture.openai.responses.create({ model, input: '4000 tokens' }).withResponse()
    await fixture.passTimeout()
    const { data, response } = await call
    expect(response.headers.get('x-upstream-partialresponse')).toBe('true')
    expect(data).toMatchObject({
      ...{ object: 'response', status: 'incomplete', error: null },
      incomplete_details: { reason: 'max_output_tokens' },
    })
    if (streams) expect(data.output_text).toStartWith('You wrote: “4000 tokens”.')
    else expect(data.output_text).toBe('')
    await until(() => fixture.generatingCalls()[0]?.aborted === true)
    expect(await fixture.recorded()).toMatchObject({ calls: 1, unreported: 1 })
  })

  test('does not end a stream', async () => {
    await using fixture = await openFixtureFor(variant, {
      text: { timeoutMs: 50 },
      emulator: { text: { msPerDelta: 3 } },
    })
    const stream = fixture.openai.responses.stream({ model, input: '60 tokens' })
    expect((await stream.finalResponse()).status).toBe('completed')
  })
})

test('the timeout covers the wait for the start of the response', async () => {
  await using fixture = await openFixture({ text: { timeoutMs: 100 } })
  fixture.emulator.faults.add({ kind: 'hang', times: 2 })
  const chat = await fixture.openai.chat.completions.create({ model, messages: hello('hi') }).withResponse()
  expect(chat.response.headers.get('x-upstream-partialresponse')).toBe('true')
  expect(chat.data.choices).toMatchObject([{ finish_reason: 'length', message: { role: 'assistant', content: '' } }])
  const { data, response } = await fixture.openai.responses.create({ model, input: 'hi' }).withResponse()
  expect(response.headers.get('x-upstream-partialresponse')).toBe('true')
  expect(data).toMatchObject({ status: 'incomplete', output_text: '' })
})

test('a client with a shorter timeout receives a partial response when nine tenths of it have passed', async () => {
  const clock = new VirtualClock(20, Date.now())
  const events = countEvents()
  await using fixture = await openFixture({ text: { clock, fetch: events.fetch } })
  fixture.emulator.faults.add({ kind: 'silence', events: firstEvents })
  const timeout = timeoutMs / 2
  const call = fixture.openai.chat.completions
    .create({ model, messages: hello('4000 tokens') }, { timeout })
    .withResponse()
  await until(() => events.count() === firstEvents)
  await clock.pass(0.9 * timeout)
  const { data, response } = await call
  expect(response.headers.get('x-upstream-partialresponse')).toBe('true')
  expect(data.choices[0]?.finish_reason).toBe('length')
})

test('the upstream call is aborted when the client times out', async () => {
  await using fixture = await openFixture()
  fixture.emulator.faults.add({ kind: 'hang', times: Number.POSITIVE_INFINITY })
  const { baseURL, apiKey } = fixture
  // On a busy machine, a call may take longer than the timeout to reach the upstream: then with the double.
  for (let timeout = 100; fixture.generatingCalls().length === 0; timeout *= 2) {
    // The client sends no header for a client-wide timeout.
    const hurried = new OpenAI({ baseURL, apiKey, maxRetries: 0, timeout })
    const caught = await thrown(hurried.chat.completions.create({ model, messages: hello('hi') }))
    expect(caught).toBeInstanceOf(OpenAI.APIConnectionTimeoutError)
  }
  await until(() => fixture.generatingCalls().every(({ aborted }) => aborted))
})

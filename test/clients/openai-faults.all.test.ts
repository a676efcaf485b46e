/** Runs with `--all`: every fault of an upstream, in four variants, seen by OpenAI's client; text-generation tests each rule without it. */
import { describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import type { Fault } from '../../src/emulator/index.ts'
import {
  all,
  chatTools,
  type Fixture,
  fixturesFor,
  hello,
  model,
  ofChat,
  ofResponses,
  openFixtureFor,
  responsesTools,
  thrown,
  until,
  type Variant,
  variants,
  withoutIdsAndTimes,
} from './fixture.ts'

const [native, chatOnly] = variants

/** Deviations of the upstream that a caller must not notice. */
const harmlessFaults: readonly Fault[] = [
  { kind: 'no-done' },
  { kind: 'done' },
  { kind: 'done-twice' },
  { kind: 'comments' },
  { kind: 'comments', text: 'x'.repeat(3000) },
  { kind: 'crlf' },
  { kind: 'crlf', ending: '\r' },
  { kind: 'split', bytes: 1 },
  { kind: 'bom' },
  { kind: 'no-content-type' },
  { kind: 'json-to-stream' },
  { kind: 'stream-to-json' },
  { kind: 'gzip' },
  { kind: 'extra-fields' },
  { kind: 'big-event' },
  { kind: 'big-event', bytes: 3_000_000 },
  { kind: 'usage-on-every-chunk' },
  { kind: 'named-events' },
  { kind: 'arguments-only-in-done' },
  { kind: 'reasoning-in-content-chunk' },
  { kind: 'delay', ms: 20 },
]

/** Events that break OpenAI's client even without a gateway. The gateway relays them unchanged, because other clients may use them. */
const disturbingFaults = [{ kind: 'empty-data-lines' }, { kind: 'keepalive-events' }] as const

const thought = { reasoning_effort: 'low' as const }
const chatQuestion = { model, messages: hello('call weather and call time'), tools: chatTools, ...thought }
const responseQuestion = {
  model,
  input: 'call weather and call time',
  tools: responsesTools,
  reasoning: { effort: 'low' as const },
}

const nameOf = ({ kind, ...more }: Fault): string =>
  [kind, ...Object.values(more).map((value) => String(value).replace(/\s/g, 'CR').slice(0, 10))].join(' ')

/** The content and tool calls of a stream, assembled without the client library. */
const summaryOfChunks = (chunks: readonly OpenAI.ChatCompletionChunk[]) => {
  const deltas = chunks.flatMap(({ choices = [] }) => choices.map(({ delta }) => delta))
  const calls: string[] = []
  for (const { tool_calls = [] } of deltas) {
    for (const { index, function: called } of tool_calls) {
      calls[index] = `${calls[index] ?? ''}${called?.name ?? ''}${called?.arguments ?? ''}`
    }
  }
  const finished = chunks.flatMap(({ choices = [] }) => choices.flatMap(({ finish_reason }) => finish_reason ?? []))
  return { content: deltas.map(({ content }) => content ?? '').join(''), calls, finished }
}

const summaryOf = ({ choices: [choice] }: OpenAI.ChatCompletion) => ({
  content: choice?.message.content ?? '',
  calls: (choice?.message.tool_calls ?? []).map((call) =>
    call.type === 'function' ? call.function.name + call.function.arguments : '',
  ),
  finished: choice ? [choice.finish_reason] : [],
})

/** Injects the fault into every following call. */
const injectFault = ({ emulator }: Fixture, fault: Fault) =>
  emulator.faults.add({ ...fault, times: Number.POSITIVE_INFINITY })

/** Removes the fields that a fault adds to every object. */
const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(withoutIdsAndTimes(value), (key, member) =>
      ['x_extra', 'x_number', 'obfuscation'].includes(key) ? undefined : member,
    ),
  )

describe('a caller of chat completions does not notice', () => {
  const open = fixturesFor(native)
  for (const fault of harmlessFaults) {
    test(nameOf(fault), async () => {
      await using fixture = await open()
      const { direct, openai } = fixture
      for (const ask of [chatQuestion, { model, messages: hello('hi'), ...thought }]) {
        const own = await direct.chat.completions.create(ask)
        const handle = injectFault(fixture, fault)
        const response = await openai.chat.completions.create(ask)
        if (fault.kind === 'reasoning-in-content-chunk') expect(summaryOf(response)).toEqual(summaryOf(own))
        else expect(plain(response)).toEqual(plain(own))
        const stream = await all(await openai.chat.completions.create({ ...ask, stream: true }))
        expect(summaryOfChunks(stream)).toEqual(summaryOf(own))
        const helper = openai.chat.completions.stream({ ...ask, stream_options: { include_usage: true } } as never)
        const final = await helper.finalChatCompletion()
        expect(summaryOf(final)).toEqual(summaryOf(own))
        expect(final.usage).toEqual(own.usage)
        handle.remove()
      }
      expect(await fixture.recorded()).toMatchObject({ calls: 6, unreported: 0 })
    })
  }
})

for (const variant of [native, chatOnly]) {
  describe(`a caller of responses does not notice, upstream: ${variant.name}`, () => {
    const open = fixturesFor(variant)
    for (const fault of variant === chatOnly ? [...harmlessFaults, ...disturbingFaults] : harmlessFaults) {
      test(nameOf(fault), async () => {
        await using fixture = await open()
        const { openai } = fixture
        for (const ask of [responseQuestion, { model, input: 'hi', reasoning: { effort: 'low' as const } }]) {
          const sound = await openai.responses.create(ask)
          const handle = injectFault(fixture, fault)
          const response = await openai.responses.create(ask)
          if (fault.kind === 'reasoning-in-content-chunk') expect(response.output_text).toEqual(sound.output_text)
          else expect(plain(response)).toEqual(plain(sound))
          const events = await all(await openai.responses.create({ ...ask, stream: true }))
          const last = events.at(-1)
          if (last?.type !== 'response.completed') throw new Error(`ends with ${last?.type}`)
          expect(last.response.output.map(({ type }) => type)).toEqual(sound.output.map(({ type }) => type))
          const final = await openai.responses.stream(ask as never).finalResponse()
          expect(final.output_text).toBe(sound.output_text)
          expect(ofResponses(final.usage)).toEqual(ofResponses(sound.usage))
          handle.remove()
        }
        expect(await fixture.recorded()).toMatchObject({ calls: 8, unreported: 0 })
      })
    }
  })
}

test('tool calls whose deltas have no index are separated', async () => {
  await using fixture = await openFixtureFor(native)
  const own = await fixture.direct.chat.completions.create(chatQuestion)
  injectFault(fixture, { kind: 'tool-delta-without-index' })
  const response = await fixture.openai.chat.completions.create(chatQuestion)
  expect(withoutIdsAndTimes(response)).toEqual(withoutIdsAndTimes(own))
  await using bridged = await openFixtureFor(chatOnly)
  injectFault(bridged, { kind: 'tool-delta-without-index' })
  for (const response of [
    await bridged.openai.responses.create(responseQuestion),
    await bridged.openai.responses.stream(responseQuestion as never).finalResponse(),
  ]) {
    const calls = response.output.flatMap((item) =>
      item.type === 'function_call' ? [[item.name, item.arguments]] : [],
    )
    expect(calls).toEqual([
      ['weather', '{"city":"city"}'],
      ['time', '{"city":"city"}'],
    ])
  }
})

test('a call without usage from the upstream is recorded as unreported', async () => {
  for (const variant of [native, chatOnly]) {
    await using fixture = await openFixtureFor(variant)
    injectFault(fixture, { kind: 'no-usage' })
    expect((await fixture.openai.chat.completions.create(chatQuestion)).usage ?? undefined).toBeUndefined()
    await all(await fixture.openai.chat.completions.create({ ...chatQuestion, stream: true }))
    await fixture.openai.responses.create(responseQuestion)
    await fixture.openai.responses.stream(responseQuestion as never).finalResponse()
    expect(await fixture.recorded()).toMatchObject({ calls: 4, unreported: 4, input: 0, output: 0 })
  }
})

test('usage on every chunk is not summed', async () => {
  await using fixture = await openFixtureFor(native)
  const own = await fixture.direct.chat.completions.create(chatQuestion)
  injectFault(fixture, { kind: 'usage-on-every-chunk' })
  await all(await fixture.openai.chat.completions.create({ ...chatQuestion, stream: true }))
  expect(await fixture.recorded()).toMatchObject({ calls: 1, ...ofChat(own.usage) })
})

/** Interruptions of a response after its first content. */
const interruptions: readonly Fault[] = [
  ...([1, 5, undefined] as const).flatMap((events) =>
    (['fin', 'reset', 'clean'] as const).flatMap((how) =>
      [false, true].map((inside): Fault => ({ kind: 'cut', how, inside, ...(events !== undefined && { events }) })),
    ),
  ),
  { kind: 'truncate' },
  { kind: 'error-event', events: 5 },
  { kind: 'error-event', events: 5, done: true },
  { kind: 'error-event', events: 5, form: 'event' },
  { kind: 'error-event', events: 5, form: 'event', done: true },
]

const callsOf = (ask: typeof native | typeof chatOnly) => ({
  'a chat stream': async ({ openai }: Fixture) =>
    all(await openai.chat.completions.create({ model, messages: hello('hi'), stream: true })),
  'a chat helper': ({ openai }: Fixture) =>
    openai.chat.completions.stream({ model, messages: hello('hi') }).finalChatCompletion(),
  'a chat completion': ({ openai }: Fixture) => openai.chat.completions.create({ model, messages: hello('hi') }),
  [`a response stream, ${ask.name}`]: async ({ openai }: Fixture) =>
    all(await openai.responses.create({ model, input: 'hi', stream: true })),
  [`a response helper, ${ask.name}`]: ({ openai }: Fixture) =>
    openai.responses.stream({ model, input: 'hi' }).finalResponse(),
  [`a response, ${ask.name}`]: ({ openai }: Fixture) => openai.responses.create({ model, input: 'hi' }),
})

const each = (variant: Variant) =>
  Object.entries(callsOf(variant as typeof native)).filter(
    ([title]) => variant === native || title.includes('response'),
  )

for (const variant of [native, chatOnly]) {
  for (const [title, ask] of each(variant)) {
    describe(`${title}: an interruption is never treated as the end`, () => {
      const open = fixturesFor(variant)
      for (const fault of interruptions) {
        test(nameOf(fault), async () => {
          await using fixture = await open()
          injectFault(fixture, fault)
          const caught = await thrown(() => ask(fixture) as Promise<unknown>)
          expect(caught).toBeInstanceOf(OpenAI.APIError)
          expect((caught as Error).message).not.toMatch(/ECONN|socket|127\.0\.0\.1|fetch/)
          if (!/stream|helper/.test(title)) {
            expect(caught).toMatchObject({ status: fault.kind === 'error-event' ? 500 : 502 })
          }
          // the client throws at the error event, before the gateway has recorded the end of the stream
          await until(async () => (await fixture.recorded()).calls > 0)
          expect(await fixture.recorded()).toMatchObject({ calls: 1 })
        })
      }
    })
  }

  describe(`an error event before the first content becomes an error status, upstream: ${variant.name}`, () => {
    for (const [title, ask] of each(variant)) {
      test(title, async () => {
        await using fixture = await openFixtureFor(variant)
        const { faults } = fixture.emulator
        for (const form of ['data', 'event'] as const) {
          for (const [error, status] of [
            [{ type: 'server_error' }, 500],
            [{ code: 'rate_limit_exceeded', message: 'slow down' }, 429],
            [{ code: 'context_length_exceeded', type: 'invalid_request_error' }, 400],
          ] as const) {
            faults.add({ kind: 'error-event', form, error })
            const caught = await thrown(() => ask(fixture) as Promise<unknown>)
            expect(caught).toMatchObject({ status, code: 'code' in error ? error.code : null })
            faults.clear()
          }
        }
      })
    }
  })
}

test('a failed response keeps the status failed', async () => {
  await using fixture = await openFixtureFor(native)
  injectFault(fixture, { kind: 'error-event', form: 'failed', events: 6 })
  const response = await fixture.openai.responses.create({ model, input: 'hi' })
  expect(response).toMatchObject({ status: 'failed', error: { code: 'server_error' } })
  const final = await fixture.openai.responses.stream({ model, input: 'hi' }).finalResponse()
  expect(final).toMatchObject({ status: 'failed', error: { code: 'server_error' } })
})

test('unknown fields pass, and numbers beyond 2^53 stay exact', async () => {
  await using fixture = await openFixtureFor(native)
  injectFault(fixture, { kind: 'extra-fields' })
  for (const [path, body] of [
    ['/chat/completions', { model, messages: hello('hi') }],
    ['/responses', { model, input: 'hi' }],
  ] as const) {
    // Unknown fields of response events are not part of the assembled response.
    for (const stream of path === '/responses' ? [true] : [false, true]) {
      const response = await fetch(fixture.baseURL + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${fixture.apiKey}` },
        body: JSON.stringify({ ...body, stream }),
      })
      const text = await response.text()
      expect(text).toContain('näh 🦊')
      expect(text).toContain('"x_number":12345678901234567890')
    }
  }
})

for (const { kind } of disturbingFaults) {
  test(`${kind} pass unchanged in streams, and do not affect assembled responses`, async () => {
    await using fixture = await openFixtureFor(native, { checked: 'own' })
    const { direct, emulator, openai } = fixture
    for (const [path, body] of [
      ['/chat/completions', { ...chatQuestion, stream_options: { include_usage: true } }],
      ['/responses', responseQuestion],
    ] as const) {
      const stream = (base: string, key: string) =>
        fetch(base + path, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ ...body, stream: true }),
        }).then((response) => response.text())
      const handle = injectFault(fixture, { kind })
      const [passed, own] = [
        await stream(fixture.baseURL, fixture.apiKey),
        await stream(emulator.text.url, emulator.text.key),
      ]
      const lines = (text: string) => text.split('\n').map((line) => withoutTimes(withoutIdsAndTimes(line)))
      const end = path === '/responses' ? ['data: [DONE]', '', ''] : ['']
      expect(lines(passed)).toEqual([...lines(own).slice(0, -1), ...end])
      handle.remove()
    }
    const completion = await direct.chat.completions.create(chatQuestion)
    const response = await direct.responses.create(responseQuestion)
    injectFault(fixture, { kind })
    expect(withoutIdsAndTimes(await openai.chat.completions.create(chatQuestion))).toEqual(
      withoutIdsAndTimes(completion),
    )
    expect(withoutIdsAndTimes(await openai.responses.create(responseQuestion))).toEqual(withoutIdsAndTimes(response))
  })
}

const withoutTimes = (line: unknown): string => String(line).replace(/"created(?:_at)?":\d+/g, '"created":0')

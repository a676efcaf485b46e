import { describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import type { Fault } from '../../src/emulator/index.ts'
import {
  all,
  type Clients,
  chatTools,
  hello,
  model,
  ofChat,
  ofResponses,
  openWay,
  responsesTools,
  thrown,
  timeless,
  type Way,
  ways,
} from './clients.ts'

const [native, chatOnly] = ways

/** What an upstream may do otherwise without a caller noticing. */
const harmless: readonly Fault[] = [
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
  { kind: 'sse-to-plain' },
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

/** Events that break the official client also without a gateway. They pass byte for byte: other clients may want them. */
const disturbing = [{ kind: 'empty-data-lines' }, { kind: 'keepalive-events' }] as const

const thought = { reasoning_effort: 'low' as const }
const question = { model, messages: hello('call weather and call time'), tools: chatTools, ...thought }
const asking = {
  model,
  input: 'call weather and call time',
  tools: responsesTools,
  reasoning: { effort: 'low' as const },
}

const nameOf = ({ kind, ...more }: Fault): string =>
  [kind, ...Object.values(more).map((value) => String(value).replace(/\s/g, 'CR').slice(0, 10))].join(' ')

/** What was said and called, put together from chunks by hand. */
const saidIn = (chunks: readonly OpenAI.ChatCompletionChunk[]) => {
  const deltas = chunks.flatMap(({ choices = [] }) => choices.map(({ delta }) => delta))
  const calls: string[] = []
  for (const { tool_calls = [] } of deltas) {
    for (const { index, function: called } of tool_calls) {
      calls[index] = `${calls[index] ?? ''}${called?.name ?? ''}${called?.arguments ?? ''}`
    }
  }
  const finished = chunks.flatMap(({ choices = [] }) => choices.flatMap(({ finish_reason }) => finish_reason ?? []))
  return { said: deltas.map(({ content }) => content ?? '').join(''), calls, finished }
}

const saidBy = ({ choices: [choice] }: OpenAI.ChatCompletion) => ({
  said: choice?.message.content ?? '',
  calls: (choice?.message.tool_calls ?? []).map((call) =>
    call.type === 'function' ? call.function.name + call.function.arguments : '',
  ),
  finished: choice ? [choice.finish_reason] : [],
})

/** Strikes every call from here on. */
const strike = ({ emulator }: Clients, fault: Fault) =>
  emulator.faults.add({ ...fault, times: Number.POSITIVE_INFINITY })

/** Without what an oddity adds to every object. */
const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(timeless(value), (key, member) =>
      ['x_extra', 'x_number', 'obfuscation'].includes(key) ? undefined : member,
    ),
  )

describe('no caller of chat completions notices', () => {
  for (const fault of harmless) {
    test(nameOf(fault), async () => {
      await using clients = await openWay(native)
      const { direct, openai } = clients
      for (const ask of [question, { model, messages: hello('hi'), ...thought }]) {
        const own = await direct.chat.completions.create(ask)
        const handle = strike(clients, fault)
        const answer = await openai.chat.completions.create(ask)
        if (fault.kind === 'reasoning-in-content-chunk') expect(saidBy(answer)).toEqual(saidBy(own))
        else expect(plain(answer)).toEqual(plain(own))
        const stream = await all(await openai.chat.completions.create({ ...ask, stream: true }))
        expect(saidIn(stream)).toEqual(saidBy(own))
        const helper = openai.chat.completions.stream({ ...ask, stream_options: { include_usage: true } } as never)
        const final = await helper.finalChatCompletion()
        expect(saidBy(final)).toEqual(saidBy(own))
        expect(final.usage).toEqual(own.usage)
        handle.remove()
      }
      expect(await clients.recorded()).toMatchObject({ calls: 6, unreported: 0 })
    })
  }
})

for (const way of [native, chatOnly]) {
  describe(`no caller of responses notices, an upstream ${way.way}`, () => {
    for (const fault of way === chatOnly ? [...harmless, ...disturbing] : harmless) {
      test(nameOf(fault), async () => {
        await using clients = await openWay(way)
        const { openai } = clients
        for (const ask of [asking, { model, input: 'hi', reasoning: { effort: 'low' as const } }]) {
          const sound = await openai.responses.create(ask)
          const handle = strike(clients, fault)
          const answer = await openai.responses.create(ask)
          if (fault.kind === 'reasoning-in-content-chunk') expect(answer.output_text).toEqual(sound.output_text)
          else expect(plain(answer)).toEqual(plain(sound))
          const events = await all(await openai.responses.create({ ...ask, stream: true }))
          const last = events.at(-1)
          if (last?.type !== 'response.completed') throw new Error(`ends with ${last?.type}`)
          expect(last.response.output.map(({ type }) => type)).toEqual(sound.output.map(({ type }) => type))
          const final = await openai.responses.stream(ask as never).finalResponse()
          expect(final.output_text).toBe(sound.output_text)
          expect(ofResponses(final.usage)).toEqual(ofResponses(sound.usage))
          handle.remove()
        }
        expect(await clients.recorded()).toMatchObject({ calls: 8, unreported: 0 })
      })
    }
  })
}

test('calls whose deltas do not say which they belong to are told apart', async () => {
  await using clients = await openWay(native)
  const own = await clients.direct.chat.completions.create(question)
  strike(clients, { kind: 'tool-delta-without-index' })
  const answer = await clients.openai.chat.completions.create(question)
  expect(timeless(answer)).toEqual(timeless(own))
  await using bridged = await openWay(chatOnly)
  strike(bridged, { kind: 'tool-delta-without-index' })
  for (const response of [
    await bridged.openai.responses.create(asking),
    await bridged.openai.responses.stream(asking as never).finalResponse(),
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

test('where an upstream counts no tokens the call is recorded as one without', async () => {
  for (const way of [native, chatOnly]) {
    await using clients = await openWay(way)
    strike(clients, { kind: 'no-usage' })
    expect((await clients.openai.chat.completions.create(question)).usage ?? undefined).toBeUndefined()
    await all(await clients.openai.chat.completions.create({ ...question, stream: true }))
    await clients.openai.responses.create(asking)
    await clients.openai.responses.stream(asking as never).finalResponse()
    expect(await clients.recorded()).toMatchObject({ calls: 4, unreported: 4, input: 0, output: 0 })
  }
})

test('usage on every chunk is not added up', async () => {
  await using clients = await openWay(native)
  const own = await clients.direct.chat.completions.create(question)
  strike(clients, { kind: 'usage-on-every-chunk' })
  await all(await clients.openai.chat.completions.create({ ...question, stream: true }))
  expect(await clients.recorded()).toMatchObject({ calls: 1, ...ofChat(own.usage) })
})

/** Ways to break off in the middle: everything but a proper end, after something has been said. */
const breaks: readonly Fault[] = [
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

const askEach = (ask: typeof native | typeof chatOnly) => ({
  'a chat stream': async ({ openai }: Clients) =>
    all(await openai.chat.completions.create({ model, messages: hello('hi'), stream: true })),
  'a chat helper': ({ openai }: Clients) =>
    openai.chat.completions.stream({ model, messages: hello('hi') }).finalChatCompletion(),
  'a chat completion': ({ openai }: Clients) => openai.chat.completions.create({ model, messages: hello('hi') }),
  [`a stream of a response, ${ask.way}`]: async ({ openai }: Clients) =>
    all(await openai.responses.create({ model, input: 'hi', stream: true })),
  [`a helper of a response, ${ask.way}`]: ({ openai }: Clients) =>
    openai.responses.stream({ model, input: 'hi' }).finalResponse(),
  [`a response, ${ask.way}`]: ({ openai }: Clients) => openai.responses.create({ model, input: 'hi' }),
})

const each = (way: Way) =>
  Object.entries(askEach(way as typeof native)).filter(([title]) => way === native || title.includes('response'))

for (const way of [native, chatOnly]) {
  for (const [title, ask] of each(way)) {
    describe(`${title}: a break is never taken for an end`, () => {
      for (const fault of breaks) {
        test(nameOf(fault), async () => {
          await using clients = await openWay(way)
          strike(clients, fault)
          const caught = await thrown(() => ask(clients) as Promise<unknown>)
          expect(caught).toBeInstanceOf(OpenAI.APIError)
          expect((caught as Error).message).not.toMatch(/ECONN|socket|127\.0\.0\.1|fetch/)
          if (!/stream|helper/.test(title)) {
            expect(caught).toMatchObject({ status: fault.kind === 'error-event' ? 500 : 502 })
          }
          expect(await clients.recorded()).toMatchObject({ calls: 1 })
        })
      }
    })
  }

  describe(`an error before anything was said becomes a status, an upstream ${way.way}`, () => {
    for (const [title, ask] of each(way)) {
      test(title, async () => {
        await using clients = await openWay(way)
        const { faults } = clients.emulator
        for (const form of ['data', 'event'] as const) {
          for (const [error, status] of [
            [{ type: 'server_error' }, 500],
            [{ code: 'rate_limit_exceeded', message: 'slow down' }, 429],
            [{ code: 'context_length_exceeded', type: 'invalid_request_error' }, 400],
          ] as const) {
            faults.add({ kind: 'error-event', form, error })
            const caught = await thrown(() => ask(clients) as Promise<unknown>)
            expect(caught).toMatchObject({ status, code: 'code' in error ? error.code : null })
            faults.clear()
          }
        }
      })
    }
  })
}

test('a response that failed is shown as one that failed', async () => {
  await using clients = await openWay(native)
  strike(clients, { kind: 'error-event', form: 'failed', events: 6 })
  const answer = await clients.openai.responses.create({ model, input: 'hi' })
  expect(answer).toMatchObject({ status: 'failed', error: { code: 'server_error' } })
  const final = await clients.openai.responses.stream({ model, input: 'hi' }).finalResponse()
  expect(final).toMatchObject({ status: 'failed', error: { code: 'server_error' } })
})

test('fields that no protocol knows pass, numbers beyond 2^53 as they are', async () => {
  await using clients = await openWay(native)
  strike(clients, { kind: 'extra-fields' })
  for (const [path, body] of [
    ['/chat/completions', { model, messages: hello('hi') }],
    ['/responses', { model, input: 'hi' }],
  ] as const) {
    // What the events of a response hold is no part of the response that they describe.
    for (const stream of path === '/responses' ? [true] : [false, true]) {
      const response = await fetch(clients.baseURL + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${clients.apiKey}` },
        body: JSON.stringify({ ...body, stream }),
      })
      const text = await response.text()
      expect(text).toContain('näh 🦊')
      expect(text).toContain('"x_number":12345678901234567890')
    }
  }
})

for (const { kind } of disturbing) {
  test(`${kind} pass in streams as they are, and do not disturb what is put together`, async () => {
    await using clients = await openWay(native)
    const { direct, emulator, openai } = clients
    for (const [path, body] of [
      ['/chat/completions', { ...question, stream_options: { include_usage: true } }],
      ['/responses', asking],
    ] as const) {
      const stream = (base: string, key: string) =>
        fetch(base + path, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ ...body, stream: true }),
        }).then((response) => response.text())
      const handle = strike(clients, { kind })
      const [passed, own] = [
        await stream(clients.baseURL, clients.apiKey),
        await stream(emulator.text.url, emulator.text.key),
      ]
      const lines = (text: string) => text.split('\n').map((line) => withoutTimes(timeless(line)))
      const end = path === '/responses' ? ['data: [DONE]', '', ''] : ['']
      expect(lines(passed)).toEqual([...lines(own).slice(0, -1), ...end])
      handle.remove()
    }
    const completion = await direct.chat.completions.create(question)
    const response = await direct.responses.create(asking)
    strike(clients, { kind })
    expect(timeless(await openai.chat.completions.create(question))).toEqual(timeless(completion))
    expect(timeless(await openai.responses.create(asking))).toEqual(timeless(response))
  })
}

const withoutTimes = (line: unknown): string => String(line).replace(/"created(?:_at)?":\d+/g, '"created":0')

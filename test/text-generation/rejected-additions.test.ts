import { describe, expect, test } from 'bun:test'
import { toJson } from '../../plugins/shared/json/json.ts'
import type { Call } from '../../plugins/text-generation/call/call.ts'
import type { TextGenerationOptions } from '../../plugins/text-generation/index.ts'
import { createRejectedAdditions } from '../../plugins/text-generation/upstream/learnt-capabilities.ts'
import { settled, VirtualClock } from '../support/virtual-clock.ts'
import { chunk, dataOf, openApp, streaming, type UpstreamRequest, usageChunk, wholeResponse } from './fixture.ts'

const messages = [{ role: 'user', content: 'hi' }]
const hour = 3_600_000

const whole = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'whole' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
}
const refusal = (message: string, param: string | null = null, status = 400) =>
  Response.json({ error: { message, type: 'invalid_request_error', param, code: null } }, { status })
const noStream = () => refusal("Unsupported value: 'stream' does not support true with this model.", 'stream')
const noOptions = () => refusal('Unrecognized request argument supplied: stream_options')
const noMaximum = () => refusal('Range of max_tokens should be [1, 2000]')
const tooLong = () =>
  refusal(
    "This model's maximum context length is 4097 tokens. However, you requested 4127 tokens (31 in the messages, 4096 in the completion).",
    'messages',
  )

/** A successful response, streaming or not as requested. */
const serve = ({ json }: UpstreamRequest): Response => {
  const isChat = json.messages !== undefined
  if (json.stream !== true) return Response.json(isChat ? whole : wholeResponse)
  if (!isChat) return streaming([{ type: 'response.completed', sequence_number: 0, response: wholeResponse }])
  const chunks = [chunk({ role: 'assistant', content: 'whole' }), chunk({}, 'stop')]
  return streaming([...chunks, ...(json.stream_options?.include_usage ? [usageChunk] : []), '[DONE]'])
}

/** The plugin with an upstream that rejects some fields. Records the added fields of each upstream request. */
const open = (rule: (asked: UpstreamRequest) => Response | undefined, options: Partial<TextGenerationOptions> = {}) => {
  const clock = new VirtualClock()
  const app = openApp((asked) => rule(asked) ?? serve(asked), { clock, ...options })
  const additions = () =>
    app.asked
      .splice(0)
      .map(({ json }) => ['stream', 'stream_options', 'max_tokens'].filter((key) => json[key]).join('+'))
  return { ...app, clock, additions }
}

const all = 'stream+stream_options+max_tokens'

describe('a model that rejects `stream`', () => {
  const rule = ({ json }: UpstreamRequest) => (json.stream ? noStream() : undefined)

  test('receives a non-streaming call, without a first attempt while this is cached', async () => {
    const app = open(rule)
    for (const tries of [[all, 'max_tokens'], ['max_tokens'], ['max_tokens']]) {
      const response = await app.post('/chat/completions', { model: 'm', messages })
      expect([response.status, await response.json()]).toEqual([200, whole])
      expect(app.additions()).toEqual(tries)
    }
    await app.clock.pass(hour - 1)
    await app.post('/chat/completions', { model: 'm', messages })
    expect(app.additions()).toEqual(['max_tokens'])
    await app.clock.pass(1)
    await app.post('/chat/completions', { model: 'm', messages })
    expect(app.additions()).toEqual([all, 'max_tokens'])
    expect(app.usage.map(({ tokens }) => tokens?.output)).toEqual([2, 2, 2, 2, 2])
  })

  test('still streams to callers', async () => {
    const app = open(rule)
    for (const tries of [[all, 'max_tokens'], ['max_tokens']]) {
      const response = await app.post('/chat/completions', { model: 'm', messages, stream: true })
      expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
      const data = dataOf(await response.text())
      expect([data.at(-1), data.join('')]).toEqual(['[DONE]', expect.stringContaining('"content":"whole"')])
      expect(app.additions()).toEqual(tries)
    }
  })

  test('also with responses, native and bridged', async () => {
    for (const chatOnly of [false, true]) {
      const app = open(rule, { upstreams: [{ url: 'http://u.invalid/v1', chatOnly }] })
      const first = chatOnly ? 'stream+stream_options' : 'stream'
      for (const tries of [[first, ''], ['']]) {
        const response = await app.post('/responses', { model: 'm', input: 'hi' })
        expect(await response.json()).toMatchObject({ status: 'completed', output: [{ content: [{ text: 'whole' }] }] })
        expect(app.additions()).toEqual(tries)
      }
      const data = dataOf(await (await app.post('/responses', { model: 'm', input: 'hi', stream: true })).text())
      expect([data.at(-1), JSON.parse(data.at(-2) ?? '').type]).toEqual(['[DONE]', 'response.completed'])
      expect(app.additions()).toEqual([''])
    }
  })

  test('does not affect other models, other upstreams, and requests with other fields', async () => {
    const upstreams = [{ url: 'http://one.invalid/v1', models: ['m', 'n'] }, { url: 'http://two.invalid/v1' }]
    const app = open(
      ({ json, url }) => (json.stream && json.n === 2 && url.startsWith('http://one') ? noStream() : undefined),
      { upstreams },
    )
    await app.post('/chat/completions', { model: 'm', messages, n: 2 })
    expect(app.additions()).toEqual([all, 'max_tokens'])
    for (const request of [
      { model: 'm', messages },
      { model: 'n', messages },
      { model: 'o', messages, n: 2 },
    ]) {
      await app.post('/chat/completions', request)
      expect(app.additions()).toEqual([all])
    }
    await app.post('/chat/completions', { n: 2, messages, model: 'm' })
    expect(app.additions()).toEqual(['max_tokens'])
  })
})

test('a rejection for one user does not disable streams for another user', async () => {
  const app = open(({ json }) => (json.stream && json.n === 2 ? noStream() : undefined), {
    identify: ({ headers }) => ({ user: headers.get('authorization') ?? '' }),
  })
  const ask = (authorization: string, n: number) =>
    app.post('/chat/completions', { model: 'm', messages, n }, { headers: { authorization } })
  await ask('eve', 2)
  expect(app.additions()).toEqual([all, 'max_tokens'])
  await ask('ann', 1)
  expect(app.additions()).toEqual([all])
  await ask('eve', 1)
  expect(app.additions()).toEqual(['max_tokens'])
})

describe('a model that rejects `stream_options`', () => {
  const rule = ({ json }: UpstreamRequest) => (json.stream_options ? noOptions() : undefined)

  test('receives none, and this is cached', async () => {
    const app = open(rule)
    for (const tries of [[all, 'stream+max_tokens'], ['stream+max_tokens']]) {
      for (const stream of [false, true]) {
        const response = await app.post('/chat/completions', { model: 'm', messages, stream })
        expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('whole')])
        expect(app.additions()).toEqual(stream ? ['stream+max_tokens'] : tries)
      }
    }
  })

  test('receives those of the caller, who receives the error', async () => {
    const app = open(rule)
    const request = { model: 'm', messages, stream: true, stream_options: { include_usage: true } }
    const response = await app.post('/chat/completions', request)
    expect([response.status, await response.text()]).toEqual([400, await noOptions().text()])
    expect(app.additions()).toEqual([all])
  })

  test('receives the caller’s options when it rejects only the added one', async () => {
    const app = open(({ json }) =>
      json.stream_options?.include_usage ? refusal('unknown', 'stream_options.include_usage') : undefined,
    )
    const stream_options = { include_obfuscation: false }
    expect((await app.post('/chat/completions', { model: 'm', messages, stream: true, stream_options })).status).toBe(
      200,
    )
    expect(app.asked.map(({ json }) => json.stream_options)).toEqual([
      { include_obfuscation: false, include_usage: true },
      stream_options,
    ])
  })
})

describe('a model that rejects the default maximum', () => {
  test('receives none, and this is cached', async () => {
    const app = open(({ json }) => (json.max_tokens ? noMaximum() : undefined))
    for (const tries of [[all, 'stream+stream_options'], ['stream+stream_options']]) {
      expect((await app.post('/chat/completions', { model: 'm', messages })).status).toBe(200)
      expect(app.additions()).toEqual(tries)
    }
  })

  test('because of the context length receives none for this request only', async () => {
    const app = open(({ json }) => (json.max_tokens && json.messages[0].content === 'long' ? tooLong() : undefined))
    const long = [{ role: 'user', content: 'long' }]
    for (const tries of [
      [all, 'stream+stream_options'],
      [all, 'stream+stream_options'],
    ]) {
      expect((await app.post('/chat/completions', { model: 'm', messages: long })).status).toBe(200)
      expect(app.additions()).toEqual(tries)
      await app.post('/chat/completions', { model: 'm', messages })
      expect(app.additions()).toEqual([all])
    }
  })

  for (const key of ['max_tokens', 'max_completion_tokens']) {
    test(`receives the caller’s maximum (${key})`, async () => {
      const app = open(() => noMaximum())
      const response = await app.post('/chat/completions', { model: 'm', messages, [key]: 9000 })
      expect([response.status, await response.text()]).toEqual([400, await noMaximum().text()])
      expect(app.asked).toHaveLength(1)
    })
  }
})

describe('each added field is removed at most once', () => {
  test('all three in sequence', async () => {
    const app = open(({ json }) => {
      if (json.stream_options) return noOptions()
      if (json.max_tokens) return noMaximum()
      return json.stream ? noStream() : undefined
    })
    for (const tries of [[all, 'stream+max_tokens', 'stream', ''], ['']]) {
      expect(await (await app.post('/chat/completions', { model: 'm', messages })).json()).toEqual(whole)
      expect(app.additions()).toEqual(tries)
    }
    expect(app.usage).toHaveLength(2)
  })

  test('a remaining rejection is sent to the caller, and nothing is cached', async () => {
    for (const [reject, tries] of [
      [noStream, [all, 'max_tokens']],
      [noOptions, [all, 'stream+max_tokens']],
      [noMaximum, [all, 'stream+stream_options']],
    ] as const) {
      const app = open(() => reject())
      for (let again = 0; again < 2; again++) {
        const response = await app.post('/chat/completions', { model: 'm', messages })
        expect([response.status, await response.text()]).toEqual([400, await reject().text()])
        expect(app.additions()).toEqual([...tries])
      }
      expect(app.usage).toEqual([])
    }
  })

  test('the caller receives the response of the second attempt', async () => {
    for (const status of [400, 403, 404, 429, 500, 503]) {
      const app = open(({ json }) => (json.stream ? noStream() : refusal('no such thing', null, status)))
      const response = await app.post('/chat/completions', { model: 'm', messages })
      expect([response.status, app.additions()]).toEqual([status, [all, 'max_tokens']])
    }
  })
})

describe('a request is not repeated', () => {
  for (const [what, reject] of Object.entries({
    'for a rejection of another field': () => refusal("Invalid value: 'x'", 'messages[0].content'),
    'when a rejection does not prove that nothing was generated': () =>
      refusal('stream is not supported', 'stream', 500),
    'when the error is not recognized': () => new Response('bad request', { status: 400 }),
  })) {
    test(what, async () => {
      const app = open(reject)
      const expected = reject()
      for (const stream of [true, false]) {
        const response = await app.post('/chat/completions', { model: 'm', messages, stream })
        expect([response.status, app.additions()]).toEqual([expected.status, [all]])
      }
    })
  }

  test('when the upstream breaks after a first event', async () => {
    const error = { error: { message: 'stream is not supported', param: 'stream', code: 400 } }
    const app = open(() => streaming([chunk({ content: 'x' }), error]))
    expect((await app.post('/chat/completions', { model: 'm', messages })).status).toBe(400)
    expect(app.additions()).toEqual([all])
  })
})

describe('a rejection with a success status is recognized', () => {
  const error = { error: { message: 'Range of max_tokens should be [1, 2000]', type: 'BadRequestError', code: 400 } }
  for (const [form, response] of Object.entries({
    'as the first event of a stream': () => streaming([error]),
    'as a JSON body': () => Response.json(error),
  })) {
    test(form, async () => {
      const app = open(({ json }) => (json.max_tokens ? response() : undefined))
      for (const tries of [[all, 'stream+stream_options'], ['stream+stream_options']]) {
        for (const stream of [true, false]) {
          const given = await app.post('/chat/completions', { model: 'm', messages, stream })
          expect([given.status, await given.text()]).toEqual([200, expect.stringContaining('whole')])
          expect(app.additions()).toEqual(stream ? tries : ['stream+stream_options'])
        }
      }
    })
  }
})

test('the timeout covers all attempts', async () => {
  const clock = new VirtualClock()
  const app = openApp(
    async ({ json, signal }) => {
      if (!json.stream) return streaming([], 'stall', signal)
      await clock.sleep(150_000)
      return noStream()
    },
    { clock },
  )
  const answering = app.post('/chat/completions', { model: 'm', messages })
  for (let turn = 0; turn < 20; turn++) await settled()
  await clock.pass(150_000)
  for (let turn = 0; turn < 20; turn++) await settled()
  expect(app.asked).toHaveLength(2)
  await clock.pass(50_000)
  const response = await answering
  expect([response.status, response.headers.get('x-upstream-partialresponse')]).toEqual([200, 'true'])
  expect(app.asked[1]?.signal.aborted).toBe(true)
})

describe('the cache of rejections is limited', () => {
  const call = (model: string, fields: object = {}) => {
    const json = toJson({ model, ...fields })
    return { exchange: { path: '/x' }, route: { upstream: { url: 'u' } }, body: { json } } as unknown as Call
  }
  const stream = new Set(['stream'] as const)

  test('the oldest entry is evicted first', () => {
    const refused = createRejectedAdditions({ clock: { now: () => 0 }, maxEntries: 2 })
    for (const model of ['a', 'b', 'a', 'c']) refused.remember(call(model), stream)
    expect(['a', 'b', 'c'].map((model) => refused.get(call(model)).has('stream'))).toEqual([true, false, true])
  })

  test('names that are too long are not cached', () => {
    const refused = createRejectedAdditions({ clock: { now: () => 0 } })
    const long = call('x'.repeat(3000))
    refused.remember(long, stream)
    expect(refused.get(long).size).toBe(0)
  })

  test('the boundary between names is unambiguous', () => {
    const refused = createRejectedAdditions({ clock: { now: () => 0 } })
    refused.remember(call('a', { b: 1 }), stream)
    expect([call('a'), call('a","b'), call('a', { 'b","c': 1 })].map((each) => refused.get(each).size)).toEqual([
      0, 0, 0,
    ])
  })
})

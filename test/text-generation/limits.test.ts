import { describe, expect, test } from 'bun:test'
import { type Limit, usageLimits } from '../../plugins/usage-limits/index.ts'
import { openStore } from '../../src/store/index.ts'
import { chunk, dataOf, openApp, streaming, usageChunk } from './fixture.ts'
import { memoryLimits } from './limits-fixture.ts'

const messages = [{ role: 'user', content: 'Hi' }]
const chat = { model: 'm', messages }
const words = (count: number) => Array.from({ length: count }, (_, at) => chunk({ content: `word ${at} ` }))
const answer = (count = 2) => [chunk({ role: 'assistant' }), ...words(count), chunk({}, 'stop'), usageChunk, '[DONE]']
const nothingHeld = { requests: 0, tokens: 0 }

describe('a call above a limit', () => {
  const forms = [
    ['/chat/completions', chat, { error: { type: 'insufficient_quota', code: 'insufficient_quota', param: null } }],
    ['/responses', { model: 'm', input: 'Hi' }, { error: { type: 'insufficient_quota', code: 'insufficient_quota' } }],
    ['/embeddings', { model: 'm', input: 'Hi' }, { error: { code: 'insufficient_quota' } }],
    ['/messages', { ...chat, max_tokens: 9 }, { type: 'error', error: { type: 'rate_limit_error' } }],
  ] as const

  for (const [path, body, expected] of forms) {
    for (const stream of path === '/embeddings' ? [false] : [false, true]) {
      test(`is a 429 in the form of ${path}${stream ? ' with a stream' : ''}, and nothing goes upstream`, async () => {
        const app = openApp(() => streaming(answer()), { limits: memoryLimits({ tokens: 0 }) })
        const response = await app.post(path, { ...body, ...(stream && { stream }) })
        expect(response.status).toBe(429)
        const json = (await response.json()) as { error: { message: string } }
        expect(json).toMatchObject(expected)
        expect(json.error.message).toBe('the limit of 0 tokens a day of the user is reached')
        expect(app.asked).toEqual([])
      })
    }
  }

  test('is asked only after the checks of the request', async () => {
    const limits = memoryLimits({ tokens: 100 })
    const app = openApp(() => streaming(answer()), { limits })
    expect((await app.post('/chat/completions', { ...chat, temperature: 3 })).status).toBe(400)
    expect(limits.asked).toEqual([])
  })
})

describe('a call reserves', () => {
  const reservedBy = async (body: object, path = '/chat/completions', options = {}) => {
    const limits = memoryLimits({ tokens: 100_000, requests: 10, cost: 10_000_000 })
    const app = openApp(() => streaming(answer()), { limits, ...options })
    await (await app.post(path, body)).text()
    return limits.asked[0]
  }

  test('its input, and the usual output', async () => {
    expect(await reservedBy(chat)).toMatchObject({ user: 'ann', token: 't1', model: 'm' })
    const { uses } = (await reservedBy(chat)) ?? {}
    expect(uses?.requests).toBe(1)
    expect(uses?.streams).toBeUndefined()
    expect(uses?.tokens).toBeWithin(1_005, 1_020)
  })

  test('the maximum, if that is less', async () => {
    for (const [field, path] of [
      ['max_tokens', '/chat/completions'],
      ['max_completion_tokens', '/chat/completions'],
      ['max_output_tokens', '/responses'],
    ] as const) {
      const body = path === '/responses' ? { model: 'm', input: 'Hi' } : chat
      expect((await reservedBy({ ...body, [field]: 50 }, path))?.uses.tokens).toBeWithin(51, 70)
    }
  })

  test('for each of several choices', async () => {
    expect((await reservedBy({ ...chat, n: 3 }))?.uses.tokens).toBeWithin(3_005, 3_020)
  })

  const spellings: readonly [object, number][] = [
    [{ n: 20 }, 20],
    [{ n: 3, best_of: 20 }, 20],
    [{ best_of: 20 }, 20],
    [{ prompt: Array(20).fill('Hi') }, 20],
    [{ prompt: Array(4).fill('Hi'), n: 5 }, 20],
    [{ prompt: [[1, 2], [3]] }, 2],
    [{ prompt: [1, 2, 3] }, 1],
    [{ max_tokens: '50' }, 1],
    [{ max_completion_tokens: 50, max_tokens: 10 }, 1],
    [{ n_predict: 50, max_tokens: 10 }, 1],
  ]
  for (const [fields, choices] of spellings) {
    test(`the maximum for ${choices} choices of completions with ${JSON.stringify(fields).slice(0, 60)}`, async () => {
      const uses = (await reservedBy({ model: 'm', prompt: 'Hi', max_tokens: 50, ...fields }, '/completions'))?.uses
      expect(uses?.tokens).toBeWithin(50 * choices + 1, 50 * choices + 24)
    })
  }

  for (const path of ['/chat/completions', '/completions'])
    for (const [field, value] of [
      ['n', '100'],
      ['n', 1.5],
      ['n', 0],
      ['n', [3]],
      ['best_of', '20'],
      ['best_of', true],
    ] as const) {
      test(`nothing of ${path} for a ${field} of ${JSON.stringify(value)}, which is refused`, async () => {
        const app = openApp(() => streaming(answer()), { limits: memoryLimits({ tokens: 9 }) })
        const response = await app.post(path, { ...chat, prompt: 'Hi', [field]: value })
        expect(response.status).toBe(400)
        const { error } = (await response.json()) as { readonly error: object }
        expect(error).toMatchObject({ message: `${field} must be an integer of at least 1`, param: field })
        expect(app.asked).toEqual([])
      })
    }

  test('each token of an input that is given as tokens', async () => {
    const tokens = Array(300).fill(1)
    expect((await reservedBy({ model: 'm', input: [tokens, tokens] }, '/embeddings'))?.uses.tokens).toBe(600)
    expect((await reservedBy({ model: 'm', input: tokens }, '/embeddings'))?.uses.tokens).toBe(300)
  })

  test('the maximum before an upstream whose response cannot be stopped', async () => {
    const upstreams = [{ url: 'http://upstream.invalid/v1', streams: false }]
    expect((await reservedBy({ ...chat, max_tokens: 3_000 }, undefined, { upstreams }))?.uses.tokens).toBeWithin(
      3_005,
      3_020,
    )
  })

  test('no output for an embedding', async () => {
    expect((await reservedBy({ model: 'm', input: 'Hi' }, '/embeddings'))?.uses.tokens).toBe(1)
  })

  test('its cost, where the model has a price; else it says so', async () => {
    const prices = { m: { input: 1, output: 2 } }
    const priced = await reservedBy({ ...chat, max_tokens: 50 }, undefined, { prices })
    expect(priced?.unpriced).toBe(false)
    const input = (priced?.uses.tokens ?? 0) - 50
    expect(priced?.uses.cost).toBe((input + 2 * 50) * 1_000)
    expect(await reservedBy(chat)).toMatchObject({ unpriced: true })
    expect((await reservedBy(chat))?.uses.cost).toBeUndefined()
  })

  test('a stream', async () => {
    expect((await reservedBy({ ...chat, stream: true }))?.uses.streams).toBe(1)
  })

  test('nothing for a count of tokens', async () => {
    expect(await reservedBy({ ...chat, max_tokens: 5 }, '/messages/count_tokens')).toBeUndefined()
  })

  test('what the user and the model used lately', async () => {
    const limits = memoryLimits({ tokens: 1_000_000 })
    const long = [
      ...answer().slice(0, -2),
      { ...usageChunk, usage: { prompt_tokens: 3, completion_tokens: 400, total_tokens: 403 } },
      '[DONE]',
    ]
    const app = openApp(() => streaming(long), { limits })
    for (let call = 0; call < 5; call++) await (await app.post('/chat/completions', chat)).text()
    expect(limits.asked[0]?.uses.tokens).toBeGreaterThan(1_000)
    expect(limits.asked[4]?.uses.tokens).toBeWithin(400, 600)
  })

  test('as many times the estimate of its input as upstreams have reported lately, at most four times', async () => {
    const limits = memoryLimits({ tokens: 1_000_000 })
    let reported = 0
    const respond = () =>
      streaming([
        ...answer().slice(0, -2),
        { ...usageChunk, usage: { prompt_tokens: reported, completion_tokens: 4, total_tokens: reported + 4 } },
        '[DONE]',
      ])
    const app = openApp(respond, { limits })
    const body = { ...chat, max_tokens: 1, messages: [{ role: 'user', content: 'word '.repeat(800) }] }
    const reserve = async (tokens: number) => {
      reported = tokens
      await (await app.post('/chat/completions', body)).text()
      return limits.asked.at(-1)?.uses.tokens
    }
    expect(await reserve(2_000)).toBeWithin(1_000, 1_050)
    expect(await reserve(100_000)).toBeWithin(1_980, 2_050)
    expect(await reserve(0)).toBeWithin(4_000, 4_200)
    // A lower one takes away little of it.
    expect(await reserve(0)).toBeWithin(3_800, 4_050)
  })
})

describe('a call settles', () => {
  for (const stream of [false, true]) {
    test(`what the upstream reported${stream ? ', with a stream' : ''}`, async () => {
      const limits = memoryLimits({ tokens: 10_000, requests: 5 })
      const app = openApp(() => streaming(answer()), { limits })
      const response = await app.post('/chat/completions', { ...chat, stream })
      expect(response.headers.get('x-ratelimit-remaining-tokens')).toMatch(/^\d+$/)
      await response.text()
      expect([limits.used, limits.held]).toEqual([{ tokens: 5, requests: 1 }, nothingHeld])
    })

    test(`nothing if it fails before the upstream accepts it${stream ? ', with a stream' : ''}`, async () => {
      const limits = memoryLimits({ tokens: 10_000, requests: 5 })
      const app = openApp(() => Response.json({ error: { message: 'no' } }, { status: 500 }), { limits })
      expect((await app.post('/chat/completions', { ...chat, stream })).status).toBe(500)
      expect([limits.used, limits.held]).toEqual([{}, nothingHeld])
    })
  }

  test('what was counted, and what may have been generated since, if the stream breaks', async () => {
    const limits = memoryLimits({ tokens: 10_000, requests: 5 })
    const app = openApp(() => streaming(answer(40).slice(0, 30), 'reset'), { limits })
    await (await app.post('/chat/completions', { ...chat, stream: true })).text()
    expect(limits.used.requests).toBe(1)
    expect(limits.used.tokens).toBeWithin(30 + 32, 100 + 32)
    expect(limits.held).toEqual(nothingHeld)
  })

  test('once for several attempts', async () => {
    const limits = memoryLimits({ tokens: 10_000, requests: 5 })
    const app = openApp(
      ({ url }) => (url.endsWith('/responses') ? new Response('not found', { status: 404 }) : streaming(answer())),
      { limits },
    )
    await (await app.post('/responses', { model: 'm', input: 'Hi', stream: true })).text()
    expect(app.asked.length).toBe(2)
    expect([limits.asked.length, limits.used, limits.held]).toEqual([1, { tokens: 5, requests: 1 }, nothingHeld])
  })
})

describe('a stream that uses more than it reserved', () => {
  const options = { usualOutputTokens: 10 }

  test('takes more, and is complete', async () => {
    const limits = memoryLimits({ tokens: 10_000 })
    const app = openApp(() => streaming(answer(200)), { limits, ...options })
    const data = dataOf(await (await app.post('/chat/completions', { ...chat, stream: true })).text())
    expect(data.at(-1)).toBe('[DONE]')
    expect(limits.extensions.length).toBeGreaterThan(0)
    expect(limits.held).toEqual({ tokens: 0 })
  })

  const forms = [
    ['/chat/completions', { ...chat, stream: true }, 'insufficient_quota'],
    ['/responses', { model: 'm', input: 'Hi', stream: true }, 'insufficient_quota'],
    ['/messages', { ...chat, max_tokens: 5_000, stream: true }, 'rate_limit_error'],
  ] as const
  for (const [path, body, code] of forms) {
    test(`ends with an error event of ${path} when nothing is left`, async () => {
      const limits = memoryLimits({ tokens: 60, requests: 9 })
      // One event a read, as they arrive over a network.
      const app = openApp(({ signal }) => slowly(answer(500), signal), {
        ...{ limits, ...options },
        upstreams: [{ url: 'http://upstream.invalid/v1', chatOnly: true }],
      })
      const text = await (await app.post(path, body)).text()
      const last = JSON.parse(dataOf(text).at(-1) ?? '{}')
      expect(JSON.stringify(last)).toContain(code)
      expect(text).toContain('word 2 ')
      expect(text).not.toContain('word 400 ')
      expect(app.asked[0]?.signal.aborted || cancelled > 0).toBe(true)
      expect(limits.held).toEqual({ tokens: 0, requests: 0 })
      expect(limits.used.tokens).toBeWithin(15, 64)
    })
  }

  test('without a stream for the caller is a partial response', async () => {
    const limits = memoryLimits({ tokens: 60 })
    const app = openApp(({ signal }) => slowly(answer(500), signal), { limits, ...options })
    const response = await app.post('/chat/completions', chat)
    expect([response.status, response.headers.get('x-upstream-partialresponse')]).toEqual([200, 'true'])
    const { choices } = (await response.json()) as { choices: { message: { content: string } }[] }
    expect(choices[0]?.message.content).toStartWith('word 0 word 1 ')
    expect(choices[0]?.message.content).not.toContain('word 400 ')
    expect(limits.held).toEqual({ tokens: 0 })
  })
})

/** With the real limits: no one knows yet how much a call of this model uses, so 1,000 tokens are expected. */
describe('a limit with less than a call is expected to use', () => {
  const open = async (userLimits: readonly Limit[], options: Parameters<typeof openApp>[1] = {}, words = 2) => {
    const store = openStore('sqlite::memory:')
    await store.migrate()
    const limits = usageLimits({ store: store.limits, userLimits })
    const app = openApp(({ signal }) => slowly(answer(words), signal), { limits, ...options })
    const report = async () => (await limits.report({ user: 'ann' })).map(({ used, reserved }) => [used, reserved])
    const close = async () => {
      await limits.stop()
      await store.close()
    }
    return { post: app.post, asked: app.asked, report, [Symbol.asyncDispose]: close }
  }
  const day = (unit: 'tokens' | 'cost', amount: number): Limit => ({ unit, amount, window: 'day' })

  for (const stream of [false, true]) {
    test(`lets calls begin until it is used up${stream ? ', with streams' : ''}`, async () => {
      await using it = await open([day('tokens', 60)])
      const first = await it.post('/chat/completions', { ...chat, stream })
      expect([first.status, await first.text()]).toEqual([200, expect.stringContaining('word 1 ')])
      expect(await it.report()).toEqual([[5, 0]])
    })
  }

  test('ends a stream that needs more, after what there was', async () => {
    await using it = await open([day('tokens', 60)], {}, 500)
    const text = await (await it.post('/chat/completions', { ...chat, stream: true })).text()
    expect(text).toContain('word 2 ')
    expect(text).toContain('insufficient_quota')
    const [[used = 0, reserved] = []] = await it.report()
    expect([used >= 57 && used <= 60, reserved]).toEqual([true, 0])
    // Nothing goes upstream when not even that is left.
    expect((await it.post('/chat/completions', chat)).status).toBe(429)
    expect(it.asked).toHaveLength(1)
  })

  test('books what has arrived and could not be passed on, as far as there was room', async () => {
    const long = [chunk({ role: 'assistant' }), chunk({ content: 'word '.repeat(20_000) }), ...answer(0)]
    await using it = await open([day('tokens', 3_000)], { fetch: async () => streaming(long) })
    const text = await (await it.post('/chat/completions', { ...chat, stream: true })).text()
    expect([text.includes('word word '), text.includes('insufficient_quota')]).toEqual([false, true])
    const [[used = 0, reserved] = []] = await it.report()
    expect([used >= 2_950 && used <= 3_000, reserved]).toEqual([true, 0])
    expect((await it.post('/chat/completions', chat)).status).toBe(429)
  })

  test('counts the cost that is covered', async () => {
    const prices = { m: { input: 1, output: 1_000 } }
    await using it = await open([day('tokens', 5_000), day('cost', 0.06)], { prices }, 500)
    const text = await (await it.post('/chat/completions', { ...chat, stream: true })).text()
    expect(text).toContain('word 2 ')
    expect(text).toContain('insufficient_quota')
    const [, [cost = 0] = []] = await it.report()
    expect(cost).toBeWithin(0.057, 0.060_000_1)
  })

  test('that others hold is not said to be reached, when the client ends the wait', async () => {
    const body = Promise.withResolvers<Response>()
    const limits = [day('tokens', 200)]
    await using it = await open(limits, { fetch: () => body.promise })
    const first = it.post('/chat/completions', { ...chat, max_tokens: 190 })
    const second = await it.post(
      '/chat/completions',
      { ...chat, max_tokens: 190 },
      { headers: { 'x-stainless-timeout': '0.3' } },
    )
    expect(second.status).toBe(408)
    expect(await second.text()).toContain('timeout has passed while the call waited')
    body.resolve(streaming(answer()))
    expect((await first).status).toBe(200)
    expect(await it.report()).toEqual([[5, 0]])
  })

  test('rejects a call that could not be stopped', async () => {
    const upstreams = [{ url: 'http://upstream.invalid/v1', models: [{ id: 'm', streams: false }] }]
    await using it = await open([day('tokens', 60)], { upstreams })
    const response = await it.post('/chat/completions', chat)
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, null])
    expect(await response.json()).toMatchObject({
      error: { message: 'the call may use more than the limit of 60 tokens a day of the user allows' },
    })
    expect(it.asked).toHaveLength(0)
  })
})

let cancelled = 0

/** A stream with one event in each read. */
const slowly = (data: readonly (object | string)[], signal: AbortSignal): Response => {
  let at = 0
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (signal.aborted) return controller.error(signal.reason)
        const next = data[at++]
        if (next === undefined) return controller.close()
        const text = typeof next === 'string' ? next : JSON.stringify(next)
        controller.enqueue(new TextEncoder().encode(`data: ${text}\n\n`))
      },
      cancel() {
        cancelled++
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

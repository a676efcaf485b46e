import { expect, test } from 'bun:test'
import type { TextGenerationOptions } from '../../plugins/text-generation/index.ts'
import { usageLimits } from '../../plugins/usage-limits/index.ts'
import { openStore } from '../../src/store/index.ts'
import { chunk, openApp, type UpstreamRequest, usageChunk } from './fixture.ts'
import { memoryLimits } from './limits-fixture.ts'

const inputTokens = 3

/** What an upstream generates for a call. */
interface Output {
  /** Events with text, of three characters each. */
  readonly events: number
  /** Tokens of an event. The gateway counts one until the upstream has said more. */
  readonly eventTokens?: number
  /** Tokens before the first event, which no event shows. */
  readonly hidden?: number
}

const usageOf = (output: number) => ({
  prompt_tokens: inputTokens,
  completion_tokens: output,
  total_tokens: inputTokens + output,
})

/** An upstream that adds up what it generates, and generates only what is read. */
const openUpstream = () => {
  const sum = { tokens: 0, calls: 0 }
  const stream = ({ events, eventTokens = 1, hidden = 0 }: Output, signal: AbortSignal): Response => {
    let sent = 0
    sum.calls++
    sum.tokens += inputTokens + hidden
    const encoder = new TextEncoder()
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          if (signal.aborted) return controller.error(signal.reason)
          const send = (data: object) => controller.enqueue(encoder.encode(`data: ${JSON.stringify(data)}\n\n`))
          if (sent++ < events) {
            sum.tokens += eventTokens
            return send(chunk({ content: 'ab ' }))
          }
          send(chunk({}, 'stop'))
          send({ ...usageChunk, usage: usageOf(hidden + events * eventTokens) })
          controller.enqueue(encoder.encode('data: [DONE]\n\n'))
          controller.close()
        },
      },
      { highWaterMark: 0 },
    )
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  }
  return { sum, stream }
}

/** A gateway with a limit of tokens, whose user has made some calls with this output. */
const open = async (amount: number, learnt: readonly Output[], options: Partial<TextGenerationOptions> = {}) => {
  const store = openStore('sqlite::memory:')
  await store.migrate()
  const limits = usageLimits({ store: store.limits, userLimits: [{ unit: 'tokens', amount, window: 'month' }] })
  const { sum, stream } = openUpstream()
  let output: Output = { events: 1 }
  let background = 0
  const respond = ({ url, method, signal }: UpstreamRequest): Response => {
    if (!url.includes('/responses')) return stream(output, signal)
    const id = method === 'GET' ? url.slice(url.lastIndexOf('/') + 1) : `resp_${++background}`
    const answer = { id, object: 'response', output: [] }
    if (method === 'POST') {
      sum.calls++
      sum.tokens += inputTokens + output.events
      return Response.json({ ...answer, status: 'in_progress' })
    }
    const usage = { input_tokens: inputTokens, output_tokens: output.events, total_tokens: inputTokens + output.events }
    return Response.json({ ...answer, status: 'completed', usage })
  }
  const app = openApp(respond, { limits, objects: store, ...options })
  const chat = async (streams: boolean) => {
    const body = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], stream: streams }
    const response = await app.post('/chat/completions', body)
    return { status: response.status, text: await response.text() }
  }
  /** Sends 20 calls at once, each with this output. */
  const callAtOnce = async <Result>(each: Output, call: (nth: number) => Promise<Result>) => {
    output = each
    return Promise.all(Array.from({ length: 20 }, (_, nth) => call(nth)))
  }
  for (output of learnt) await chat(true)
  return {
    ...{ app, sum, chat, callAtOnce },
    used: async () => (await limits.report({ user: 'ann' }))[0]?.used ?? 0,
    async [Symbol.asyncDispose]() {
      await limits.stop()
      await store.close()
    },
  }
}

const short: readonly Output[] = Array(5).fill({ events: 50 })

test('20 calls at once that generate 80 times as much as before are cut at the limit, streams or not', async () => {
  await using it = await open(20_000, short)
  const answers = await it.callAtOnce({ events: 4_000 }, (nth) => it.chat(nth % 2 === 0))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  // Each has generated one event that it did not pass on.
  expect(it.sum.tokens).toBeWithin(19_000, 20_000 + 20 + 1)
  expect(await it.used()).toBeWithin(19_000, 20_000 + 1)
}, 300_000)

test('20 calls at once whose text has more tokens than are counted are cut at the limit, once a call has shown it', async () => {
  await using it = await open(23_000, [{ events: 1_000, eventTokens: 3 }])
  await it.callAtOnce({ events: 4_000, eventTokens: 3 }, (nth) => it.chat(nth % 2 === 0))
  expect(it.sum.tokens).toBeWithin(22_000, 23_200)
}, 300_000)

test('calls whose output is not seen exceed a limit by about one of them, once a call has shown it', async () => {
  const hidden = { events: 5, hidden: 4_000 }
  // Short ones in between change what is usual, and not what such a call may use.
  await using it = await open(60_000, [hidden, ...Array(6).fill({ events: 5, hidden: 10 })])
  await it.callAtOnce(hidden, (nth) => it.chat(nth % 2 === 0))
  expect(it.sum.tokens).toBeWithin(57_000, 60_000 + 1.1 * 4_008)
  expect(await it.used()).toBe(it.sum.tokens)
}, 300_000)

test('before that, each call in flight exceeds it by what it has used beyond its reservation, and no further one begins', async () => {
  await using it = await open(20_000, short)
  const answers = await it.callAtOnce({ events: 5, hidden: 4_000 }, (nth) => it.chat(nth % 2 === 0))
  const accepted = answers.filter(({ status }) => status === 200).length
  expect(it.sum.tokens - 5 * 53).toBe(accepted * 4_008)
  expect(await it.used()).toBe(it.sum.tokens)
  expect(await it.chat(true)).toMatchObject({ status: 429 })
}, 300_000)

const background = { model: 'm', input: 'Hi', background: true }

test('background responses without a maximum, which cannot be stopped, reserve as much as a chat may generate', async () => {
  await using it = await open(20_000, short)
  const responses = await it.callAtOnce({ events: 4_000 }, () => it.app.post('/responses', background))
  for (let nth = 1; nth <= it.sum.calls; nth++) await it.app.get(`/responses/resp_${nth}`)
  const statuses = responses.map(({ status }) => status).sort()
  expect(statuses).toEqual([...Array(4).fill(200), ...Array(16).fill(429)])
  expect(it.sum.tokens).toBeLessThanOrEqual(20_000)
  expect(await it.used()).toBe(it.sum.tokens)
}, 300_000)

test('such responses reserve the most that the user has used of the model, if that is more', async () => {
  await using it = await open(50_000, [])
  await it.callAtOnce({ events: 10_000 }, async (nth) => {
    if (nth > 0) return
    await it.app.post('/responses', background)
    await it.app.get('/responses/resp_1')
  })
  const responses = await it.callAtOnce({ events: 10_000 }, () => it.app.post('/responses', background))
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(3)
  expect(it.sum.tokens).toBeLessThanOrEqual(50_000)
}, 300_000)

const reservedBy = async (body: object, options: Partial<TextGenerationOptions>) => {
  const limits = memoryLimits({ tokens: 1_000_000 })
  const app = openApp(() => Response.json({}), { limits, ...options })
  await app.post('/completions', { model: 'm', prompt: 'Hi', ...body })
  return (limits.asked[0]?.uses.tokens ?? 0) - 1
}

test('a call that cannot be stopped reserves the maximum that is known', async () => {
  const upstreams = [{ url: 'http://upstream.invalid/v1', streams: false, maxTokens: 9_000 }]
  expect(await reservedBy({}, {})).toBe(4_096)
  expect(await reservedBy({}, { defaultMaxTokens: null })).toBe(4_096)
  expect(await reservedBy({}, { defaultMaxTokens: 2_000 })).toBe(2_000)
  expect(await reservedBy({ n: 2 }, { defaultMaxTokens: 2_000 })).toBe(4_000)
  expect(await reservedBy({}, { upstreams })).toBe(9_000)
  expect(await reservedBy({ max_tokens: 300 }, { upstreams })).toBe(300)
  // It is lowered before it is sent.
  expect(await reservedBy({ max_tokens: 50_000 }, { upstreams })).toBe(9_000)
  // Some upstreams prefer this field, which is not lowered: it allows any output.
  expect(await reservedBy({ max_tokens: 300, n_predict: -1 }, { upstreams })).toBe(4_096)
})

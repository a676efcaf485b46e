/** Runs with `--all`: callers of whole gateways with calls of all kinds, for as long as their streams take. */
import { expect, test } from 'bun:test'
import { type LimitReport, type UsageLimits, usageLimits } from 'sluice/usage-limits'
import { openStore } from '../../../src/store/index.ts'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import { MODEL } from '../../video-generation/fixture.ts'
import { type Random, randomFrom } from './random.ts'

const amount = 8_000
const videos = 7
const inputTokens = 12

/** An upstream that counts what it generates: one token in each event, and as many responses as are asked for. */
const startUpstream = (seed: number) => {
  const random = randomFrom(seed)
  const sum = { tokens: 0, largest: 0, calls: 0 }
  const usages = new Map<string, number>()
  const chunk = (index: number, delta: object, more: object = {}) =>
    `data: ${JSON.stringify({
      ...{ id: 'chat-1', object: 'chat.completion.chunk', created: 1, model: 'm' },
      choices: [{ index, delta, finish_reason: null }],
      ...more,
    })}\n\n`
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      const id = pathname.split('/')[3] ?? ''
      if (request.method === 'GET' && pathname.includes('/responses/')) {
        const output = usages.get(id) ?? 0
        const usage = { input_tokens: inputTokens, output_tokens: output, total_tokens: inputTokens + output }
        return Response.json({
          id,
          object: 'response',
          created_at: 1,
          model: 'm',
          status: 'completed',
          output: [],
          usage,
        })
      }
      if (request.method === 'GET') return Response.json({ object: 'list', data: [] })
      const body = (await request.json()) as { readonly n?: number; readonly max_output_tokens?: number }
      sum.calls++
      sum.tokens += inputTokens
      let used = inputTokens
      const count = (tokens: number) => {
        used += tokens
        sum.tokens += tokens
        sum.largest = Math.max(sum.largest, used)
      }
      if (pathname.endsWith('/responses')) {
        const output = random.integer(1, body.max_output_tokens ?? 60)
        const response = `resp_${sum.calls}`
        usages.set(response, output)
        count(output)
        return Response.json({
          id: response,
          object: 'response',
          created_at: 1,
          model: 'm',
          status: 'in_progress',
          output: [],
        })
      }
      const { n = 1 } = body
      const wanted = random.integer(20, 120)
      let isCancelled = false
      const encoder = new TextEncoder()
      const stream = new ReadableStream<Uint8Array>({
        async pull(controller) {
          // Some upstreams think for a while before their first text.
          if (random.chance(0.2)) await Bun.sleep(100)
          for (let sent = 0; sent < wanted; sent += 5) {
            await Bun.sleep(40 * n)
            if (isCancelled) return
            for (let index = 0; index < n; index++)
              controller.enqueue(encoder.encode(chunk(index, { content: 'ab ' }).repeat(5)))
            count(5 * n)
          }
          const output = Math.ceil(wanted / 5) * 5 * n
          const usage = {
            ...{ prompt_tokens: inputTokens, completion_tokens: output, total_tokens: inputTokens + output },
          }
          const ends = Array.from({ length: n }, (_, index) =>
            chunk(index, {}, { choices: [{ index, delta: {}, finish_reason: 'stop' }] }),
          )
          controller.enqueue(encoder.encode(`${ends.join('')}${chunk(0, {}, { choices: [], usage })}data: [DONE]\n\n`))
          controller.close()
        },
        cancel() {
          isCancelled = true
        },
      })
      return new Response(stream, { headers: { 'content-type': 'text/event-stream' } })
    },
  })
  return { url: `http://127.0.0.1:${server.port}/v1`, sum, stop: () => server.stop(true) }
}

interface Caller {
  readonly gateways: readonly TestGateway[]
  readonly token: string
  readonly random: Random
  readonly statuses: Record<string, number>
}

/** Calls of all kinds until the limit of tokens refuses one that is as small as possible. */
const callUntilRefused = async ({ gateways, token, random, statuses }: Caller): Promise<void> => {
  const messages = [{ role: 'user', content: 'go on' }]
  const send = async (kind: string, path: string, body: object, more: RequestInit = {}): Promise<string> => {
    const { url } = random.pick(gateways)
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...more.headers }
    try {
      const response = await fetch(url + path, { method: 'POST', body: JSON.stringify(body), ...more, headers })
      const text = await response.text()
      statuses[`${kind} ${response.status}`] = (statuses[`${kind} ${response.status}`] ?? 0) + 1
      if (response.status !== 200 || path !== '/v1/responses') return `${response.status} ${text}`
      await fetch(`${url}/v1/responses/${JSON.parse(text).id}`, { headers })
      return '200'
    } catch {
      statuses[`${kind} aborted`] = (statuses[`${kind} aborted`] ?? 0) + 1
      return ''
    }
  }
  const makeVideo = () => {
    const content = [{ type: 'text', text: 'a cat' }]
    return send('video', '/api/v3/contents/generations/tasks', { model: MODEL, content })
  }
  // All callers at once: more than there may be.
  await makeVideo()
  for (;;) {
    const stream = random.chance(0.6)
    const chat = { model: 'm', messages, stream, max_tokens: 150 }
    const kind = random.integer(0, 15)
    if (kind === 0) await makeVideo()
    else if (kind === 1) {
      await send('background', '/v1/responses', { model: 'm', input: 'go on', background: true, max_output_tokens: 60 })
    } else if (kind === 2) {
      await send('n', '/v1/chat/completions', { ...chat, n: 2 })
    } else if (kind === 3) {
      await send('odd n', '/v1/chat/completions', { ...chat, n: '100' })
    } else if (kind === 4) {
      const headers = { 'x-stainless-timeout': random.pick(['1e-9', '0.001', '0.05']) }
      await send('timeout', '/v1/chat/completions', { ...chat, stream: false }, { headers })
    } else if (kind === 5) {
      const signal = AbortSignal.timeout(random.integer(1, 300))
      await send('abort', '/v1/chat/completions', chat, { signal })
    } else {
      const outcome = await send('chat', '/v1/chat/completions', chat)
      if (outcome.startsWith('429')) return
    }
  }
}

test('over two gateways, calls of all kinds, odd and aborted ones use at most the amount, and at least 95 % of it', async () => {
  const upstream = startUpstream(3)
  const store = openStore('sqlite::memory:')
  const userLimits = [
    { unit: 'tokens', amount, window: 'day', model: 'm' },
    { unit: 'videos', amount: videos, window: 'day' },
    { unit: 'requests', amount: 100_000, window: 'day' },
  ] as const
  const processes: UsageLimits[] = []
  const start = (emulator?: TestGateway['emulator']) =>
    startGateway({
      emulator,
      store,
      text: { upstreams: [{ url: upstream.url }] },
      limitsOf: (of) => {
        const limits = usageLimits({ store: of.limits, userLimits })
        processes.push(limits)
        return limits
      },
    })
  const gateway = await start()
  const gateways = [gateway, await start(gateway.emulator)]
  try {
    const { token, id: user } = await gateway.addUser('ann')
    const statuses: Record<string, number> = {}
    const callers = Array.from({ length: 20 }, (_, nth) =>
      callUntilRefused({ gateways, token, random: randomFrom(nth + 1), statuses }),
    )
    await Promise.all(callers)
    let reports: readonly LimitReport[] = []
    for (let tries = 0; tries < 50; tries++) {
      reports = (await processes[0]?.report({ user })) ?? []
      if (reports[0]?.reserved === 0) break
      await Bun.sleep(200)
    }
    const created = gateway.emulator.video.tasks().length
    const { tokens, largest } = upstream.sum
    expect(tokens, JSON.stringify(statuses)).toBeWithin(0.95 * amount, amount + largest + 1)
    expect(reports[0]?.used).toBeWithin(0.95 * amount, amount + largest + 1)
    // All that was held is booked or given back.
    expect(reports[0]?.reserved).toBe(0)
    expect(created).toBe(videos)
    expect((reports[1]?.used ?? 0) + (reports[1]?.reserved ?? 0)).toBe(videos)
    expect(statuses['odd n 400']).toBeGreaterThan(0)
    expect(statuses['odd n 200']).toBeUndefined()
  } finally {
    upstream.stop()
    for (const each of gateways.toReversed()) await each[Symbol.asyncDispose]()
    await Promise.all(processes.map((each) => each.stop()))
    await store.close()
  }
}, 300_000)

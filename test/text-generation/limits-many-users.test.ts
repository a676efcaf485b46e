import { expect, test } from 'bun:test'
import { type Limit, usageLimits } from '../../plugins/usage-limits/index.ts'
import { openStore } from '../../src/store/index.ts'
import { StoreClock } from '../usage-limits/fixture.ts'
import { chunk, openApp, streaming, type UpstreamRequest, usageChunk } from './fixture.ts'

const messages = [{ role: 'user', content: 'Hi' }]
const day = (unit: 'tokens' | 'requests', amount: number): Limit => ({ unit, amount, window: 'day' })

/** Every caller is the user in the header `x-user`. */
const open = async (
  userLimits: readonly Limit[],
  respond: (asked: UpstreamRequest) => Response | Promise<Response>,
) => {
  const store = openStore('sqlite::memory:')
  await store.migrate()
  const limits = usageLimits({ store: store.limits, userLimits })
  const clock = new StoreClock()
  const reserved: number[] = []
  const app = openApp(respond, {
    limits: {
      ...limits,
      reserve: async (call) => {
        const reservation = await limits.reserve(call)
        reserved.push(reservation?.reserved.tokens ?? 0)
        return reservation
      },
    },
    clock,
    identify: (request) => ({ user: request.headers.get('x-user') ?? '' }),
  })
  const post = (user: string, body: object = {}, signal?: AbortSignal) =>
    app.post(
      '/chat/completions',
      { model: 'm', messages, max_tokens: 60_000, ...body },
      { headers: { 'x-user': user }, signal },
    )
  const used = async (user: string) => (await limits.report({ user })).map(({ used }) => used)
  const close = async () => {
    await limits.stop()
    await store.close()
  }
  return { post, used, clock, reserved, asked: app.asked, [Symbol.asyncDispose]: close }
}

/** An answer with one word and so many tokens that nobody sees. */
const reasoning = (tokens: number) => {
  const usage = { prompt_tokens: 3, completion_tokens: tokens, total_tokens: 3 + tokens }
  return streaming([
    chunk({ role: 'assistant' }),
    chunk({ content: 'Hi' }),
    chunk({}, 'stop'),
    { ...usageChunk, usage },
  ])
}

test('what one user uses of a model says nothing about others, and makes it unusable for nobody', async () => {
  let tokens = 31_000
  await using it = await open([day('tokens', 100_000)], () => reasoning(tokens))
  for (const user of ['ann', 'ann', 'ann', 'bob', 'bob']) expect((await it.post(user)).status).toBe(200)
  expect(it.reserved[2]).toBeGreaterThan(30_000)
  expect((await it.post('cid')).status).toBe(200)
  expect(it.reserved[5]).toBeWithin(1_001, 1_010)
  // What most users of a model use, is used by the next one, too.
  tokens = 200
  for (const user of ['dan', 'eva', 'fay', 'gil', 'hal', 'ida', 'jim']) await it.post(user)
  await it.post('kim')
  expect(it.reserved[13]).toBeWithin(201, 300)
})

test('an estimate that is above the whole limit refuses nobody', async () => {
  await using it = await open([day('tokens', 3_000)], () => reasoning(20))
  expect((await it.post('ann')).status).toBe(200)
  await using high = await open([day('tokens', 40_000)], () => reasoning(31_000))
  await high.post('ann')
  // Of 9,000 tokens that are left, one more call may begin.
  expect((await high.post('ann')).status).toBe(200)
  expect(high.reserved[1]).toBeWithin(8_000, 9_000)
})

test('what a user has used says nothing any more after an hour without a call', async () => {
  await using it = await open([day('tokens', 1_000_000)], () => reasoning(31_000))
  await it.post('ann')
  await it.post('ann')
  await it.clock.pass(3_700_000)
  await it.post('ann')
  expect(it.reserved[1]).toBeGreaterThan(30_000)
  expect(it.reserved[2]).toBeWithin(1_001, 1_010)
})

for (const stream of [false, true])
  test(`a call that is aborted before the first byte counts as a request, and what a model may have generated${stream ? ', with a stream' : ''}`, async () => {
    let silent = false
    let arrived = Promise.withResolvers<void>()
    await using it = await open([day('tokens', 1_000_000), day('requests', 5)], ({ signal }) => {
      if (!silent) return reasoning(31_000)
      arrived.resolve()
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    })
    await (await it.post('ann', { stream })).text()
    const [before = 0] = await it.used('ann')
    silent = true
    const statuses: number[] = []
    for (let nth = 0; nth < 6; nth++) {
      arrived = Promise.withResolvers()
      const client = new AbortController()
      const calling = it.post('ann', { stream }, client.signal).then(
        ({ status }) => void statuses.push(status),
        () => {},
      )
      await Promise.race([arrived.promise, calling])
      client.abort(new Error('left'))
      await calling
    }
    const [tokens = 0, requests] = await it.used('ann')
    expect(requests).toBe(5)
    expect(it.asked).toHaveLength(5)
    expect(statuses).toContain(429)
    // Four calls, each with the input and a third of a second.
    expect(tokens - before).toBeWithin(4 * 32, 4 * 50)
  })

test('a stream that arrives in one piece passes on only what is reserved', async () => {
  const words = Array.from({ length: 2_000 }, (_, at) => chunk({ content: `word ${at} ` }))
  await using it = await open([day('tokens', 5_000)], () =>
    streaming([chunk({ role: 'assistant' }), ...words, chunk({}, 'stop'), '[DONE]']),
  )
  const texts = await Promise.all(
    Array.from({ length: 20 }, async (_, nth) => {
      const response = await it.post('ann', { stream: nth % 2 === 0 })
      return response.status === 200 ? response.text() : ''
    }),
  )
  // Each event counts as one token at least.
  const passed = texts.reduce((sum, text) => sum + (text.match(/word \d+/g)?.length ?? 0), 0)
  const [used = 0] = await it.used('ann')
  expect(passed).toBeWithin(2_000, 5_000)
  expect(used).toBeWithin(passed, 5_001)
  expect(texts.filter((text) => text.includes('insufficient_quota')).length).toBeGreaterThan(0)
}, 300_000)

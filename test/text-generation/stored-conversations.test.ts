import { expect, test } from 'bun:test'
import { Background } from '../../plugins/shared/background/background.ts'
import { type Body, bodyOf, lastMessages, respond, storedOpener } from './stored-fixture.ts'
import { testStore } from './stored-responses.ts'

const store = testStore()
const open = storedOpener(store)
const id = (prefix: string, nth: number) => `${prefix}_gw_${nth.toString(16).padStart(32, '0')}`

test('a conversation of 1,000 turns is continued and listed', async () => {
  const turns = 1_000
  for (let nth = 0; nth < turns; nth++) {
    const own = { type: 'message', id: id('msg', 2 * nth), role: 'user', content: `question ${nth}` }
    const answer = { type: 'message', id: id('msg', 2 * nth + 1), role: 'assistant', content: `answer ${nth}` }
    const stored = await store.storeResponse(
      {
        ...{ id: id('resp', nth), user: 'ann', previous: nth === 0 ? undefined : id('resp', nth - 1) },
        ...{ response: '{"output":[]}', createdAt: Date.now(), expiresAt: Date.now() + 100_000 },
        items: [own, answer].map((item, at) => ({ id: item.id, isOutput: at === 1, json: JSON.stringify(item) })),
      },
      2 ** 26,
    )
    expect(stored).toBe(true)
  }
  const app = open()
  const last = id('resp', turns - 1)
  await respond(app, 'ann', { input: 'one more', previous_response_id: last })
  const sent = lastMessages(app)
  expect(sent).toHaveLength(2 * turns + 1)
  expect([sent[0], sent[1], sent.at(-2), sent.at(-1)]).toEqual([
    ...['user: question 0', 'assistant: answer 0', `assistant: answer ${turns - 1}`, 'user: one more'],
  ])
  let after = ''
  const listed: string[] = []
  for (let pages = 0; pages < 30; pages++) {
    const path = `/responses/${last}/input_items?order=asc&limit=100${after && `&after=${after}`}`
    const [, page] = await bodyOf(app.as('ann', 'GET', path))
    listed.push(...page.data.map((item: Body) => item.id))
    after = page.last_id
    if (!page.has_more) break
  }
  expect(listed).toEqual(Array.from({ length: 2 * turns - 1 }, (_, nth) => id('msg', nth)))
}, 300_000)

test('many requests continue one response at the same time, each on its own', async () => {
  const app = open()
  const first = await respond(app, 'bob', { input: 'first' })
  const ways = Array.from({ length: 20 }, (_, nth) => `way ${nth}`)
  const made = await Promise.all(
    ways.map((input, nth) => respond(app, 'bob', { input, previous_response_id: first.id, stream: nth % 2 === 0 })),
  )
  expect(new Set(made.map((each) => each.id)).size).toBe(ways.length)
  for (const [nth, { id: previous_response_id }] of made.entries()) {
    await respond(app, 'bob', { input: 'on', previous_response_id })
    expect(lastMessages(app)).toEqual([
      ...['user: first', 'assistant: answer x', `user: way ${nth}`, 'assistant: answer x', 'user: on'],
    ])
  }
})

test('a conversation whose earlier turn was deleted has no gap: it cannot be continued', async () => {
  const app = open()
  const first = await respond(app, 'cyd', { input: 'one' })
  const second = await respond(app, 'cyd', { input: 'two', previous_response_id: first.id })
  await app.as('cyd', 'DELETE', `/responses/${first.id}`)
  expect((await app.as('cyd', 'GET', `/responses/${second.id}`)).status).toBe(200)
  const more = { model: 'm', input: 'three', previous_response_id: second.id }
  expect(await bodyOf(app.as('cyd', 'POST', '/responses', more))).toMatchObject([
    400,
    { error: { code: 'previous_response_not_found', param: 'previous_response_id' } },
  ])
})

test('a conversation lasts as long as it is continued: half the retention time before its end, all turns are renewed', async () => {
  let now = 1_000_000
  const renewals: number[] = []
  const storedResponses: typeof store = {
    ...store,
    storeResponse(response, maxBytes) {
      if (response.renews) renewals.push(now - 1_000_000)
      return store.storeResponse(response, maxBytes)
    },
  }
  const clock = { now: () => now, at: () => () => {} }
  const app = open(undefined, { clock, objectTtlMs: 1_000, storedResponses })
  const first = await respond(app, 'dan', { input: 'turn 0' })
  let last = first.id
  for (let turn = 1; turn < 10; turn++) {
    now += 300
    last = (await respond(app, 'dan', { input: `turn ${turn}`, previous_response_id: last })).id
  }
  expect(lastMessages(app).filter((text) => text.startsWith('user'))).toHaveLength(10)
  expect(renewals).toEqual([600, 1_200, 1_800, 2_400])
  expect((await app.as('dan', 'GET', `/responses/${first.id}`)).status).toBe(200)
  now += 1_000
  expect((await app.as('dan', 'GET', `/responses/${last}`)).status).toBe(404)
  expect(await store.sweepStoredResponses(now, 100)).toBe(10)
})

test('expired responses are removed from the store', async () => {
  const at = { createdAt: 1, expiresAt: 2 }
  for (let nth = 0; nth < 101; nth++)
    await store.storeResponse({ id: id('old', nth), user: 'eve', response: '{}', items: [], ...at }, 2 ** 26)
  const background = new Background()
  open(undefined, { background })
  const left = () => store.findStoredResponse('eve', id('old', 100), 1)
  for (let waits = 0; waits < 500 && (await left()); waits++) await new Promise((resolve) => setTimeout(resolve, 2))
  await background.stop()
  expect(await store.sweepStoredResponses(2, 1000)).toBe(0)
})

import { expect, test } from 'bun:test'
import { noAudit } from '../../plugins/shared/audit.ts'
import { JsonBody } from '../../plugins/shared/http/body/body.ts'
import { countInFlight, type InFlight } from '../../plugins/shared/http/in-flight.ts'
import { bytesPerTurn, nextTurn, readJson, turns } from '../../plugins/shared/json/json.ts'
import { Problem } from '../../plugins/shared/problem.ts'
import type { StoredItemHead, StoredResponseStore } from '../../plugins/text-generation/index.ts'
import { continueRequest } from '../../plugins/text-generation/objects/stored/continuation.ts'
import { createStoredResponseRoutes } from '../../plugins/text-generation/objects/stored/routes.ts'
import { testStore } from './stored-responses.ts'

const store = testStore()
const id = (prefix: string, nth: number) => `${prefix}_gw_${nth.toString(16).padStart(32, '0')}`
const mib = 2 ** 20
const bounds = { maxTurns: 4_096, maxBytes: 2 ** 26 }

/** Stores a conversation of turns with one item each. Returns the id of the last. */
const conversation = async (user: string, from: number, sizes: readonly number[]): Promise<string> => {
  for (const [nth, size] of sizes.entries()) {
    const item = { type: 'message', id: id('msg', from + nth), role: 'user', content: 'x'.repeat(size) }
    const stored = {
      ...{ id: id('resp', from + nth), user, previous: nth === 0 ? undefined : id('resp', from + nth - 1) },
      ...{ response: '{"output":[]}', createdAt: Date.now(), expiresAt: Date.now() + 100_000 },
      items: [{ id: item.id, isOutput: false, json: JSON.stringify(item) }],
    }
    expect(await store.storeResponse(stored, 2 ** 28)).toBe(true)
  }
  return id('resp', from + sizes.length - 1)
}

/** The store, and the bytes of each call that reads items. */
const counting = () => {
  const reads: { readonly user: string; readonly items: number; readonly bytes: number }[] = []
  const lists: (readonly string[])[] = []
  const counted: StoredResponseStore = {
    ...store,
    listStoredItems(user, responses) {
      lists.push(responses)
      return store.listStoredItems(user, responses)
    },
    readStoredItems(user, items) {
      reads.push({ user, items: items.length, bytes: items.reduce((sum, { bytes }) => sum + bytes, 0) })
      return store.readStoredItems(user, items)
    },
  }
  return { counted, reads, lists }
}

const continuing = (used: StoredResponseStore, user: string, previous: string, inFlight?: Partial<InFlight>) => {
  const json = readJson(JSON.stringify({ model: 'm', input: 'y', previous_response_id: previous }))
  const request = new Request('http://localhost/v1/responses')
  if (inFlight) countInFlight(request, inFlight as InFlight)
  const options = { store: used, now: Date.now(), maxBytes: 2 ** 26 }
  return Promise.resolve(continueRequest(new JsonBody(json, json.bytes), { user, request }, options))
}

const refusing = {
  reading() {
    throw new Problem(429, 'too many bytes of bodies at once')
  },
}

test('a request over the limit on bytes is refused before anything of its conversation is read', async () => {
  const { counted, reads, lists } = counting()
  const last = await conversation('ann', 0, [mib, mib])
  await expect(continuing(counted, 'ann', last, refusing)).rejects.toMatchObject({ status: 429 })
  expect([reads, lists]).toEqual([[], []])
})

test('an item over the limit on bytes, or more than a request may contain, is not read', async () => {
  const { counted, reads } = counting()
  await conversation('ann', 50, [mib])
  const ask = (maxBytes: number, inFlight: Partial<InFlight>) => {
    const json = readJson(JSON.stringify({ model: 'm', input: [{ type: 'item_reference', id: id('msg', 50) }] }))
    const request = new Request('http://localhost/v1/responses')
    countInFlight(request, inFlight as InFlight)
    const options = { store: counted, now: Date.now(), maxBytes }
    return Promise.resolve(continueRequest(new JsonBody(json, json.bytes), { user: 'ann', request }, options))
  }
  await expect(ask(2 ** 26, refusing)).rejects.toMatchObject({ status: 429 })
  await expect(ask(mib, { reading() {} })).rejects.toMatchObject({ status: 400 })
  expect(reads).toEqual([])
  await ask(2 ** 26, { reading() {} })
  expect(reads).toHaveLength(1)
})

test('a conversation is read in calls of the length of a turn, or of one item', async () => {
  const { counted, reads } = counting()
  const sizes = [...Array.from({ length: 600 }, () => 10), ...Array.from({ length: 10 }, () => 300_000), 3 * mib]
  const { body } = await continuing(counted, 'ann', await conversation('ann', 100, sizes))
  expect(body.json.get('input')?.elements()).toHaveLength(sizes.length + 1)
  for (const { items, bytes } of reads) expect(items === 1 || (bytes <= bytesPerTurn && items <= 256)).toBe(true)
  expect(reads.reduce((sum, { items }) => sum + items, 0)).toBe(sizes.length)
  expect(reads.length).toBeLessThan(10)
}, 300_000)

test('input_items reads its page only', async () => {
  const { counted, reads } = counting()
  const last = await conversation('ann', 1_000, [500, 2 * mib, 600, 2 * mib, 700])
  const routes = createStoredResponseRoutes({ store: counted, maxRequestBytes: 2 ** 26, clock: Date, audit: noAudit })
  const request = new Request(`http://localhost/v1/responses/${last}/input_items?order=asc&limit=1`)
  const response = await routes('ListInputItems', { request, user: 'ann', id: last })
  expect(await response?.json()).toMatchObject({ data: [{ id: id('msg', 1_000) }], has_more: true })
  expect(reads).toMatchObject([{ items: 1 }])
  expect(reads[0]?.bytes).toBeLessThan(1_000)
})

test('a user reads one large conversation at a time, and others do not wait for it', async () => {
  const held = Promise.withResolvers<void>()
  const begun: string[] = []
  const slow: StoredResponseStore = {
    ...store,
    async readStoredItems(user, items) {
      begun.push(user)
      if (user === 'cyd') await held.promise
      return store.readStoredItems(user, items)
    },
  }
  const cyds = await conversation('cyd', 2_000, [2 * mib])
  const dans = await conversation('dan', 2_100, [2 * mib])
  const both = [continuing(slow, 'cyd', cyds), continuing(slow, 'cyd', cyds)]
  await continuing(slow, 'dan', dans)
  expect(begun.toSorted()).toEqual(['cyd', 'dan'])
  held.resolve()
  await Promise.all(both)
  expect(begun.filter((user) => user === 'cyd')).toHaveLength(2)
})

test('each large reading begins in a turn of the event loop of its own', async () => {
  let begun = 0
  const counted: StoredResponseStore = {
    ...store,
    readStoredItems(user, items) {
      begun++
      return store.readStoredItems(user, items)
    },
  }
  const last = await conversation('hal', 2_400, [2 * mib])
  const before = turns.count
  const atBegin: number[] = []
  const routes = createStoredResponseRoutes({ store: counted, maxRequestBytes: 2 ** 26, clock: Date, audit: noAudit })
  const list = async () => {
    const request = new Request(`http://localhost/v1/responses/${last}/input_items?limit=1`)
    await routes('ListInputItems', { request, user: 'hal', id: last })
    atBegin.push(turns.count - before)
  }
  await Promise.all([list(), list(), list()])
  expect(begun).toBe(3)
  // One before each reading, and two or more to compose 2 MiB.
  expect(atBegin.at(-1)).toBeGreaterThanOrEqual(9)
})

test('a reading that fails does not stop the next one of its user', async () => {
  const failing: StoredResponseStore = { ...store, readStoredItems: () => Promise.reject(new Error('broken')) }
  const eves = await conversation('eve', 2_200, [2 * mib])
  const [failed, next] = [continuing(failing, 'eve', eves), continuing(store, 'eve', eves)]
  await expect(failed).rejects.toMatchObject({ status: 500 })
  expect((await next).previous).toBe(eves)
})

test('a response that is removed while it is read is not found', async () => {
  const last = await conversation('fay', 2_300, [500, 500])
  const removing: StoredResponseStore = {
    ...store,
    async readStoredItems(user, items: readonly StoredItemHead[]) {
      await store.removeStoredResponse(user, id('resp', 2_300))
      return store.readStoredItems(user, items)
    },
  }
  await expect(continuing(removing, 'fay', last)).rejects.toMatchObject({ code: 'previous_response_not_found' })
})

test('the turns of a conversation are found without its items, also beyond one query', async () => {
  const last = await conversation(
    'gil',
    3_000,
    Array.from({ length: 600 }, () => 10),
  )
  const found = await store.findStoredConversation('gil', last, Date.now(), bounds)
  expect(found?.turns.map((turn) => turn.id)).toEqual(Array.from({ length: 600 }, (_, nth) => id('resp', 3_000 + nth)))
  for (const [maxTurns, cut] of [
    [599, 'too long'],
    [256, 'too long'],
    [600, undefined],
  ] as const) {
    const some = await store.findStoredConversation('gil', last, Date.now(), { ...bounds, maxTurns })
    expect([some?.turns.length, some?.cut]).toEqual([maxTurns, cut])
  }
}, 300_000)

test('one turn of the event loop continues one of all that wait for a turn', async () => {
  const order: string[] = []
  let ended = false
  const tick = () => {
    order.push('|')
    if (!ended) setImmediate(tick)
  }
  setImmediate(tick)
  const work = async (name: string) => {
    for (let step = 0; step < 3; step++) {
      await nextTurn()
      order.push(name)
    }
  }
  await Promise.all(['a', 'b', 'c'].map(work))
  ended = true
  expect(order.join('').replaceAll('|', '')).toBe('abcabcabc')
  expect(order.join('')).not.toMatch(/[abc]{2}/)
})

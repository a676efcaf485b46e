import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createAudit, createNodeServer, withRequestIds } from 'sluice'
import { createFileLinks, createResultStorage } from 'sluice/file-storage'
import { openStore } from 'sluice/store'
import { ark, createUpstream, rest } from 'sluice/upstream-proxy'
import { createVideoService } from 'sluice/video-generation'
import { databaseNames, migratedDatabase } from '../support/database.ts'

// A host app in JavaScript has no types. What it passes by mistake is an error that says what is wrong, before anything else happens.

const secrets = ['sixteen bytes or more']
const publicUrl = 'http://host.example'
const key = 'results/a-1.mp4'

/** Runs with anything, as plain JavaScript does, and returns the error. */
const failure = async (run: () => unknown): Promise<unknown> => {
  try {
    return { returned: await run() }
  } catch (error) {
    return error
  }
}

const untyped = <Value extends object>(value: Value) =>
  value as unknown as Record<keyof Value, (...given: unknown[]) => unknown>

describe('a link to a file', () => {
  test.each([undefined, null, '', 5, 'a', '../../etc/passwd', 'a/../b', 'a/b?c', `a/${'b'.repeat(1_000)}`])(
    'is not signed for the key %p',
    async (wrong) => {
      const links = untyped(createFileLinks({ publicUrl, secrets }))
      expect(await failure(() => links.urlOf(wrong, 1e12))).toBeInstanceOf(TypeError)
    },
  )

  test.each([undefined, null, Number.NaN, Number.POSITIVE_INFINITY, -5, 0, 1e300, '5', new Date(1e12)])(
    'is not signed until %p',
    async (time) => {
      const links = untyped(createFileLinks({ publicUrl, secrets }))
      expect(await failure(() => links.urlOf(key, time))).toBeInstanceOf(TypeError)
    },
  )

  test.each([
    {},
    { publicUrl: '' },
    { publicUrl: 5 },
    { publicUrl, prefix: 'no slash' },
    { publicUrl, prefix: '/../a' },
  ])('is not made with the options %p', async (options) => {
    expect(await failure(() => createFileLinks({ secrets, ...options } as never))).toBeInstanceOf(TypeError)
  })
})

test('a result is not copied without a user, with a name that leaves its folder, or until no time', async () => {
  const calls: unknown[] = []
  const note = (...given: unknown[]) => void calls.push(given)
  const storage = { put: note, find: note, read: note, remove: note, removeUnfinished: note }
  const store = { reserveFile: note, commitFile: note }
  const results = createResultStorage({ ...{ publicUrl, secrets, fetch: note }, storage, store } as never)
  const file = { url: 'http://a.example', name: 'a', media: 'video', user: 'ann', expiresAt: 1e12 } as const
  for (const wrong of [
    { user: undefined },
    { user: '' },
    { user: 5 },
    { name: '../a' },
    { name: undefined },
    { expiresAt: undefined },
  ])
    expect(await failure(() => results.copy({ ...file, ...wrong } as never))).toBeInstanceOf(TypeError)
  expect(calls).toEqual([])
})

test.each([
  rest({ url: 'http://a.example', key: 'key' }),
  ark({ url: 'http://a.example', accessKey: 'AK', secretKey: 'secret key', region: 'cn-beijing' }),
])('GetAsset with an empty id is a 404 without a call', async (kind) => {
  const calls: unknown[] = []
  const upstream = createUpstream({ kind, fetch: async (url) => calls.push(url) as never })
  expect(await failure(() => upstream.send({ action: 'GetAsset', id: '' }))).toMatchObject({ status: 404 })
  expect(calls).toEqual([])
})

const noUsers = [undefined, null, '', 0, 5, {}, ['ann'], 'ann\0', 'ann\ud800', 'a'.repeat(1_025)]

test('the tasks of a video service ask no store for a user who is no text, or for a page without bounds', async () => {
  const calls: PropertyKey[] = []
  const get = (_: object, name: PropertyKey) => {
    calls.push(name)
    return async () => undefined
  }
  const store = new Proxy({}, { get })
  const tasks = untyped(createVideoService({ store } as never).tasks)
  calls.length = 0
  const id = 'cgt-20260101000000-00000000000000000000'
  const page = { offset: 0, limit: 10 }
  for (const user of noUsers) {
    expect(await failure(() => tasks.list(user, {}, page))).toBeInstanceOf(TypeError)
    expect(await failure(() => tasks.find(user, id))).toBeInstanceOf(TypeError)
    expect(await failure(() => tasks.remove(user, id))).toBeInstanceOf(TypeError)
    expect(await failure(() => tasks.create({ user }, {}, new Request(publicUrl)))).toBeInstanceOf(TypeError)
  }
  for (const wrong of [
    undefined,
    {},
    { limit: -1 },
    { limit: 0 },
    { limit: 1e9 },
    { limit: '5' },
    { offset: -1, limit: 1 },
    { offset: 0.5, limit: 1 },
  ])
    expect(await failure(() => tasks.list('ann', {}, wrong))).toBeInstanceOf(TypeError)
  for (const mode of ['destroy', 1, '', null])
    expect(await failure(() => tasks.remove('ann', id, mode))).toBeInstanceOf(TypeError)
  expect(calls).toEqual([])
})

test('a server, request ids and an audit trail need what they work with', async () => {
  for (const nothing of [undefined, null, {}, '']) {
    expect(await failure(() => createNodeServer(nothing as never))).toBeInstanceOf(TypeError)
    expect(await failure(() => withRequestIds(nothing as never))).toBeInstanceOf(TypeError)
    expect(await failure(() => createAudit(nothing as never))).toBeInstanceOf(TypeError)
  }
  const [store, addressOf] = [{}, () => undefined]
  for (const wrong of [
    { store, keepMs: 1 },
    { store, addressOf, keepMs: -1 },
    { addressOf, keepMs: 1 },
  ])
    expect(await failure(() => createAudit(wrong as never))).toBeInstanceOf(TypeError)
})

describe.each(databaseNames)('the store on %s', (kind) => {
  let database: Awaited<ReturnType<typeof migratedDatabase>>
  beforeAll(async () => {
    database = await migratedDatabase(kind)
  })
  afterAll(() => database.remove())

  test('has no secret without a name, which could be guessed', async () => {
    const store = openStore(database.url, { deadlineMs: 60_000 })
    await store.migrate()
    for (const name of [undefined, null, '', 5, {}])
      expect(await failure(() => store.secret(name as never))).toBeInstanceOf(TypeError)
    expect(await store.secret('pages')).toHaveLength(43)
    await store.close()
  })

  test('adds no event without a user, of a type that nobody can subscribe to, or with data that is no JSON object', async () => {
    const store = openStore(database.url, { deadlineMs: 60_000 })
    await store.migrate()
    const event = { user: 'ann', type: 'order.sent', data: '{"order":7}', at: 1_000 }
    for (const wrong of [
      ...noUsers.map((user) => ({ user })),
      ...[undefined, '', 'order', 'order.sent\nid: 5', 'order.%', 'stream.end', 5].map((type) => ({ type })),
      ...[undefined, '', '{', '[]', 'null', '{}\n\nid: 5', { order: 7 }, `"${'a'.repeat(2 ** 20)}"`].map((data) => ({
        data,
      })),
      ...[undefined, Number.NaN, 0.5, '5', new Date()].map((at) => ({ at })),
    ])
      expect(await failure(() => store.addEvent({ ...event, ...wrong } as never))).toBeInstanceOf(TypeError)
    expect(await store.eventsAfter(0, 10)).toEqual([])
    await store.addEvent(event)
    expect(await store.eventsAfter(0, 10)).toHaveLength(1)
    await store.close()
  })
})

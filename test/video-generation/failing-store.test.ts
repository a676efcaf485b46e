import { expect, test } from 'bun:test'
import type { VideoQueue } from '../../plugins/video-generation/store/queue.ts'
import { openStore } from '../../src/store/index.ts'
import { openVideoFixture } from './fixture.ts'

/** A fixture whose store rejects some calls while `failing` names them. */
const openFailing = async () => {
  const store = openStore('sqlite::memory:')
  await store.migrate()
  const failing = new Set<keyof VideoQueue>()
  const failingStore = new Proxy(store, {
    get: (target, name: keyof typeof store & keyof VideoQueue) =>
      failing.has(name) ? () => Promise.reject(new Error('connect 10.0.0.7:5432')) : target[name],
  })
  const slots = { '*': { running: 1, waitingPerUser: 10, waitingBytesPerUser: 1e6 } }
  const fixture = await openVideoFixture({ store: failingStore, gateway: { slots } })
  return { fixture, failing, [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose]() }
}

test('a task that was created has an answer with its id, also if its place in the queue cannot be read', async () => {
  await using it = await openFailing()
  await it.fixture.ann.created()
  it.failing.add('videoQueuePlace')
  const { status, json } = await it.fixture.ann.create()
  expect([status, json]).toEqual([200, { id: expect.any(String) }])
  it.failing.clear()
  expect(await it.fixture.ann.statusOf(json.id)).toBe('queued')
})

test.each(['videoTask', 'cancelWaitingVideoTask'] as const)(
  'a task that cannot be cancelled because %s fails is a 500 that says so, and not why',
  async (call) => {
    await using it = await openFailing()
    await it.fixture.ann.created()
    const waiting = await it.fixture.ann.created()
    it.failing.add(call)
    const { status, json } = await it.fixture.ann.send('DELETE', `/${waiting}`)
    expect([status, json.error.message]).toEqual([500, 'the task could not be cancelled or deleted'])
  },
)

import { expect, test } from 'bun:test'
import { systemClock } from '../../plugins/shared/clock.ts'
import { openStore, type Store } from '../../src/store/index.ts'
import { openVideoFixture, until } from './fixture.ts'

/** A store after whose first claim the process is suspended for a while. */
const suspending = (seconds: number) => {
  let suspended = 0
  const opened = openStore('sqlite::memory:')
  const store: Store = {
    ...opened,
    async addVideoTask(...args) {
      const added = await opened.addVideoTask(...args)
      suspended ||= seconds * 1000
      return added
    },
  }
  const clock = { ...systemClock, now: () => Date.now() + suspended }
  return { store, clock }
}

test('a claim that is about to end is given back, and submitted with the next one', async () => {
  const { store, clock } = suspending(31)
  await using fixture = await openVideoFixture({ store, gateway: { clock, slots: { '*': { running: 1 } } } })
  const id = await fixture.ann.created()
  await until(async () => (await fixture.ann.statusOf(id)) === 'running')
  expect(await store.videoTask(fixture.ann.id, id)).toMatchObject({ attempts: 2 })
  expect(fixture.emulator.video.tasks()).toHaveLength(1)
  await store.close()
})

test('without a queue the caller gets an error, and no task is created', async () => {
  const { store, clock } = suspending(31)
  await using fixture = await openVideoFixture({ store, gateway: { clock } })
  expect((await fixture.ann.create()).status).toBe(502)
  expect(fixture.emulator.video.tasks()).toHaveLength(0)
  expect((await fixture.ann.send('GET', '')).json.total).toBe(0)
  expect((await fixture.ann.create()).status).toBe(200)
  await store.close()
})

import { expect, test } from 'bun:test'
import { keepWhileFull } from '../../plugins/asset-library/watch/asset-event-queue.ts'
import type { AssetProgress } from '../../plugins/asset-library/watch/asset-events.ts'
import { noLog } from '../../plugins/shared/problem.ts'
import { VirtualClock } from '../support/virtual-clock.ts'

const progress: AssetProgress = { type: 'asset.processing', data: '{}', at: 0 }
const watch = (asset: string) => ({ asset, group: 'g', user: 'ann', createdAt: 0, dueAt: 0 })

const open = () => {
  const clock = new VirtualClock()
  const state = { failure: undefined as Error | undefined, recorded: [] as string[] }
  const record = async (what: string) => {
    if (state.failure) throw state.failure
    state.recorded.push(what)
  }
  const events = keepWhileFull(
    {
      watchAsset: ({ asset }: { readonly asset: string }) => record(`created ${asset}`),
      assetDeleted: (asset: string) => record(`deleted ${asset}`),
    },
    { clock, log: noLog },
  )
  return { clock, state, events }
}

const full = () => Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })

test('events of assets are recorded in their order as soon as the database has room', async () => {
  const { clock, state, events } = open()
  state.failure = full()
  await events.watchAsset(watch('a'), progress)
  await clock.pass(5_000)
  state.failure = undefined
  // Behind the first one, which still waits.
  await events.assetDeleted('a', 'ann', progress)
  await events.watchAsset(watch('b'), progress)
  expect(state.recorded).toEqual([])
  await clock.pass(1_000)
  expect(state.recorded).toEqual(['created a', 'deleted a', 'created b'])
  await events.watchAsset(watch('c'), progress)
  expect(state.recorded).toHaveLength(4)
  expect(clock.pending).toBe(0)
})

test('an event that the database does not accept rejects, or delays no other', async () => {
  const { clock, state, events } = open()
  state.failure = new Error('not accepted')
  await expect(events.watchAsset(watch('a'), progress)).rejects.toThrow('not accepted')
  state.failure = full()
  await events.watchAsset(watch('b'), progress)
  state.failure = new Error('not accepted')
  await clock.pass(1_000)
  state.failure = undefined
  await events.watchAsset(watch('c'), progress)
  expect([state.recorded, clock.pending]).toEqual([['created c'], 0])
})

test('at most 10,000 events wait for room', async () => {
  const { clock, state, events } = open()
  state.failure = full()
  for (let count = 0; count < 10_000; count++) await events.watchAsset(watch(`a${count}`), progress)
  await expect(events.watchAsset(watch('b'), progress)).rejects.toThrow('too many events of assets wait')
  state.failure = undefined
  await clock.pass(1_000)
  while (state.recorded.length < 10_000) await new Promise(setImmediate)
  expect(state.recorded.at(-1)).toBe('created a9999')
})

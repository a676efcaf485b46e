import { expect, test } from 'bun:test'
import { watchAssets } from '../../plugins/asset-library/watch/asset-watch.ts'
import { Background } from '../../plugins/shared/background/background.ts'
import { toJson } from '../../plugins/shared/json/json.ts'
import { noLog } from '../../plugins/shared/problem.ts'
import { UpstreamInvalidError } from '../../plugins/upstream-proxy/index.ts'

const now = 1_700_000_000_000

/** What one round does with assets that were polled so many times. A call of the upstream fails, and so does the look-up of group `lost`. */
const roundOf = async (
  watches: readonly { readonly asset: string; readonly group: string; readonly polls: number }[],
) => {
  const done = Promise.withResolvers<readonly { readonly asset: string; readonly dueAt: number }[]>()
  const background = new Background({ sleep: () => new Promise((resolve) => setImmediate(resolve)) })
  const events = {
    takeLease: async () => true,
    releaseLease: async () => {},
    dueAssetWatches: async () => watches.map((watch) => ({ ...watch, user: 'ann', createdAt: now, dueAt: now })),
    endAssetWatch: async () => {},
    postponeAssetWatches: async (due: readonly { readonly asset: string; readonly dueAt: number }[]) => {
      done.resolve(due)
      void background.stop()
    },
  }
  const owners = {
    async group(_: string, id: string) {
      if (id === 'lost') throw new Error('this row cannot be read')
      return { id, type: 'AIGC' }
    },
  }
  const library = {
    upstream: { send: () => Promise.reject(new UpstreamInvalidError('no JSON')) },
    clock: { now: () => now },
  }
  type Watched = Parameters<typeof watchAssets>
  watchAssets(
    { ...library, log: noLog } as unknown as Watched[0],
    events as unknown as Watched[1],
    owners as unknown as Watched[2],
    background,
  )
  return new Map((await done.promise).map(({ asset, dueAt }) => [asset, dueAt - now]))
}

test('an asset that cannot be read is asked for less and less often, at least every minute', async () => {
  const polls = [0, 1, 3, 6, 7, 30]
  const pauses = await roundOf(polls.map((count) => ({ asset: String(count), group: `g${count}`, polls: count })))
  expect(polls.map((count) => pauses.get(String(count)))).toEqual([4_800, 7_680, 19_661, 60_000, 60_000, 60_000])
})

test('an asset whose group cannot be looked up is put off like one that cannot be read', async () => {
  const pauses = await roundOf([
    { asset: 'poisoned', group: 'lost', polls: 3 },
    { asset: 'a', group: 'g', polls: 0 },
    { asset: 'b', group: 'g', polls: 0 },
  ])
  expect([...pauses]).toEqual([
    ['poisoned', 19_661],
    ['a', 4_800],
    ['b', 4_800],
  ])
})

test('when the server stops, a round that reads page after page sends no further call', async () => {
  const background = new Background({ sleep: () => new Promise((resolve) => setImmediate(resolve)) })
  const Items = Array.from({ length: 100 }, (_, nth) => ({
    ...{ Id: `other-${nth}`, GroupId: 'g', Status: 'Active', UpdateTime: new Date(now).toISOString() },
  }))
  let calls = 0
  let stopped: Promise<boolean> | undefined
  const library = {
    upstream: {
      async send() {
        // Each page is full of later changes: there is a next one.
        if (++calls === 3) stopped = background.stop()
        return { json: toJson({ Result: { Items } }) }
      },
    },
    clock: { now: () => now },
  }
  const postponed = Promise.withResolvers<number>()
  const events = {
    takeLease: async () => true,
    releaseLease: async () => {},
    dueAssetWatches: async () =>
      ['a', 'b', 'c'].map((asset) => ({ asset, group: 'g', polls: 0, user: 'ann', createdAt: now, dueAt: now })),
    postponeAssetWatches: async (due: readonly object[]) => postponed.resolve(due.length),
  }
  type Watched = Parameters<typeof watchAssets>
  watchAssets(
    { ...library, log: noLog } as unknown as Watched[0],
    events as unknown as Watched[1],
    { group: async (_: string, id: string) => ({ id, type: 'AIGC' }) } as unknown as Watched[2],
    background,
  )
  expect(await postponed.promise).toBe(3)
  expect([await stopped, calls]).toEqual([true, 3])
})

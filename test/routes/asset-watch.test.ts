import { beforeAll, expect, test } from 'bun:test'
import { Background } from '../../plugins/shared/background/background.ts'
import { systemClock } from '../../plugins/shared/clock.ts'
import { type Emulator, startEmulator } from '../../src/emulator/index.ts'
import type { Store } from '../../src/store/index.ts'
import { repeatOnDatabases } from '../support/database.ts'
import { startGateway, type User } from '../support/gateway.ts'
import { kinds, newGroup, picture, repeatedKinds } from './fixture.ts'

repeatOnDatabases('assets in progress', (database) => {
  let store: Store
  let second: Store
  beforeAll(async () => {
    store = await database.open()
    second = await database.open()
  })

  /** Two gateways of one account and database. Time passes only by `pass`. */
  const open = async (kindOf: (typeof repeatedKinds)[number]['kindOf']) => {
    const emulator: Emulator = await startEmulator({ processingMs: 60_000, limits: {} })
    const background = new Background()
    let now = Date.now()
    const clock = { ...systemClock, now: () => now }
    const options = { emulator, kindOf, clock, background }
    const first = await startGateway({ ...options, store, events: store })
    const other = await startGateway({ ...options, store: second, events: second })
    return {
      emulator,
      first,
      other,
      pass: (ms: number) => {
        now += ms
        emulator.library.advance(ms)
      },
      due: () => store.dueAssetWatches(now, 10),
      calls: (action: string) => emulator.calls.filter((call) => call.action === action).length,
      async [Symbol.asyncDispose]() {
        await background.stop()
        await first[Symbol.asyncDispose]()
        await other[Symbol.asyncDispose]()
        await emulator.stop()
      },
    }
  }
  const create = async (user: User, GroupId: string, more: object = {}) => {
    const reply = await user.ask('POST', '/assets', { ...picture, GroupId, ...more })
    expect(reply.status).toBe(200)
    return reply.json.Result.Id as string
  }
  const eventsOf = async ({ id }: User) => {
    const events = await store.eventsOf(id, 0, 1_000)
    return events.map(({ type, data }) => ({ type, ...JSON.parse(data) }))
  }
  const until = async (isTrue: () => Promise<boolean>) => {
    while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 20))
  }

  for (const { kind, kindOf } of repeatedKinds) {
    test(`become events of their user, once, when their state changes (${kind})`, async () => {
      await using gateways = await open(kindOf)
      const { first, pass } = gateways
      const [ann, bob] = [await first.addUser(`ann-${kind}`), await first.addUser(`bob-${kind}`)]
      const group = await newGroup(ann, 'a')
      const good = await create(ann, group)
      const bad = await create(ann, group, { URL: 'https://x.example/fail-FaceMismatch/a.png' })
      const started = (Id: string) => ({ type: 'asset.processing', Id, GroupId: group, Status: 'Processing' })
      expect(await eventsOf(ann)).toEqual([started(good), started(bad)])
      // Still in progress: nothing new.
      pass(10_000)
      await until(async () => gateways.calls('GetAsset') >= 2)
      // What was answered before time passes is recorded before, too: else it would be due again after that.
      await until(async () => (await gateways.due()).length === 0)
      expect(await eventsOf(ann)).toHaveLength(2)
      pass(120_000)
      await until(async () => (await eventsOf(ann)).length === 4)
      const [, , ...ended] = await eventsOf(ann)
      expect(ended.toSorted((a, b) => (a.type < b.type ? -1 : 1))).toMatchObject([
        { type: 'asset.active', Id: good, GroupId: group, Status: 'Active' },
        {
          type: 'asset.failed',
          Id: bad,
          GroupId: group,
          Status: 'Failed',
          Error: { Code: 'FaceMismatch', Advice: { change: 'other_picture' } },
        },
      ])
      expect((await ann.ask('DELETE', `/assets/${good}`)).status).toBe(200)
      expect((await eventsOf(ann)).slice(4)).toEqual([{ type: 'asset.deleted', Id: good }])
      expect(await eventsOf(bob)).toEqual([])
      expect(await store.dueAssetWatches(Number.MAX_SAFE_INTEGER, 10)).toEqual([])
    }, 300_000)
  }

  test('cost one list call for all groups of a type, whoever owns them', async () => {
    await using gateways = await open(kinds.rest)
    const { first, other, pass } = gateways
    const users = await Promise.all(['carl', 'dora', 'emil'].map((name) => first.addUser(name)))
    for (const user of users) {
      for (const name of ['a', 'b']) {
        const group = await newGroup(user, name)
        for (let count = 0; count < 8; count++) await create(user, group)
      }
    }
    gateways.emulator.clearCalls()
    pass(120_000)
    await until(async () => (await Promise.all(users.map(eventsOf))).every((events) => events.length === 32))
    expect([gateways.calls('ListAssets'), gateways.calls('GetAsset')]).toEqual([1, 0])
    for (const user of users) {
      const types = (await eventsOf(user)).map(({ type }) => type).sort()
      expect(types).toEqual([...Array(16).fill('asset.active'), ...Array(16).fill('asset.processing')])
    }
    expect(other.url).not.toBe(first.url)
  }, 300_000)

  test('are forgotten when they are gone, or their group is not the user’s any more', async () => {
    await using gateways = await open(kinds.rest)
    const { first, emulator, pass } = gateways
    const ann = await first.addUser('ann of gone assets')
    const [kept, lost] = [await newGroup(ann, 'kept'), await newGroup(ann, 'lost')]
    const gone = await create(ann, kept)
    for (let count = 0; count < 3; count++) await create(ann, lost)
    emulator.library.deleteAsset(gone)
    await store.removeGroup({ id: lost, user: ann.id })
    pass(120_000)
    await until(async () => (await store.dueAssetWatches(Number.MAX_SAFE_INTEGER, 10)).length === 0)
    expect((await eventsOf(ann)).map(({ type }) => type)).toEqual(Array(4).fill('asset.processing'))
  }, 300_000)

  test('wait while the upstream fails', async () => {
    await using gateways = await open(kinds.rest)
    const { first, emulator, pass } = gateways
    const ann = await first.addUser('ann of a failing upstream')
    await create(ann, await newGroup(ann, 'a'))
    const fault = emulator.faults.add({ kind: 'status', status: 503, action: 'GetAsset', times: 1 })
    pass(120_000)
    await fault.waitForHits(1)
    expect(await eventsOf(ann)).toHaveLength(1)
    expect(await store.dueAssetWatches(Number.MAX_SAFE_INTEGER, 10)).toHaveLength(1)
    await until(async () => (await eventsOf(ann)).length === 2)
  }, 300_000)

  test('are found when more have changed at once than a page of the list has', async () => {
    await using gateways = await open(kinds.rest)
    const { first, pass } = gateways
    const ann = await first.addUser('ann of many assets')
    const groups = [await newGroup(ann, 'a'), await newGroup(ann, 'b')]
    for (let count = 0; count < 130; count++) await Promise.all(groups.map((group) => create(ann, group)))
    gateways.emulator.clearCalls()
    pass(120_000)
    await until(async () => (await store.dueAssetWatches(Number.MAX_SAFE_INTEGER, 1)).length === 0)
    const types = Map.groupBy(await eventsOf(ann), ({ type }) => type)
    expect([types.get('asset.active')?.length, types.get('asset.processing')?.length]).toEqual([260, 260])
    expect(gateways.calls('GetAsset')).toBe(0)
    // What is due at once is 200 assets: each time, at most all three pages are read. The lease has ended with the time
    // that has passed, so that each of the processes may do it.
    expect(gateways.calls('ListAssets')).toBeLessThanOrEqual(2 * 2 * 3)
    // What has changed before the others were created is not read again for them.
    pass(600_000)
    for (let count = 0; count < 3; count++) await create(ann, groups[0] ?? '')
    gateways.emulator.clearCalls()
    pass(5_000)
    await until(async () => (await gateways.due()).length === 0)
    expect([gateways.calls('ListAssets'), gateways.calls('GetAsset')]).toEqual([1, 0])
  }, 300_000)
})

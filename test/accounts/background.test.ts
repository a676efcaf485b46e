import { expect, setDefaultTimeout, test } from 'bun:test'
import { reconcileOptionsOf } from '../../plugins/asset-library/routes/reconcile.ts'
import { watchAssets } from '../../plugins/asset-library/watch/asset-watch.ts'
import { createOwnership, reconcile } from '../../plugins/ownership/index.ts'
import { Background } from '../../plugins/shared/background/background.ts'
import { systemClock } from '../../plugins/shared/clock.ts'
import { noLog } from '../../plugins/shared/problem.ts'
import { createUpstreamOfAccounts, rest } from '../../plugins/upstream-proxy/index.ts'
import type { Store } from '../../src/store/index.ts'
import { repeatOnDatabases } from '../support/database.ts'
import { groupOn, openAccounts } from './fixture.ts'

setDefaultTimeout(60_000)

/** No two emulators of a database give the same ids. */
let accountNumber = 0

const openOn = async (store: Store) => {
  const fixture = await openAccounts({
    gateway: { store },
    emulator: () => ({ account: accountNumber++ }),
  })
  const upstream = createUpstreamOfAccounts(
    fixture.emulators.map((emulator, index) => ({ name: ['a', 'b'][index] ?? '', kind: rest(emulator.rest) })),
  )
  return { ...fixture, upstream }
}

repeatOnDatabases('with several accounts', (database) => {
  test('a group whose answer was lost is looked for, and found, on the account of its call', async () => {
    const store = await database.open()
    await using fixture = await openOn(store)
    const { ann, emulators, upstream } = fixture
    await groupOn(fixture, ann, 'b', 'one')
    emulators[1]?.faults.add({ kind: 'reset-after', action: 'CreateAssetGroup' })
    expect((await ann.ask('POST', '/assets/groups', { Name: 'lost' })).status).toBe(502)
    // Of that name, on the other account and of nobody.
    emulators[0]?.library.addGroup({ name: 'lost' })
    for (const { calls } of emulators) (calls as unknown[]).length = 0
    await reconcile(reconcileOptionsOf({ upstream, claimMs: 60_000, clock: systemClock }, store))
    const made = emulators[1]?.library.groups().find(({ name }) => name === 'lost')
    expect(await store.group(made?.id ?? '')).toMatchObject({ user: ann.id, name: 'lost', account: 'b' })
    expect(emulators.map(({ calls }) => calls.length)).toEqual([0, 1])
  })

  test('a renamed group stays on its account', async () => {
    const store = await database.open()
    await using fixture = await openOn(store)
    const { ann, emulators, upstream } = fixture
    const group = await groupOn(fixture, ann, 'b', 'one')
    emulators[1]?.faults.add({ kind: 'reset-after', action: 'UpdateAssetGroup' })
    expect((await ann.ask('PUT', `/assets/groups/${group}`, { Name: 'two' })).status).toBe(502)
    await reconcile(reconcileOptionsOf({ upstream, claimMs: 60_000, clock: systemClock }, store))
    expect(await store.group(group)).toMatchObject({ user: ann.id, name: 'two', account: 'b' })
    expect((await ann.ask('PUT', `/assets/groups/${group}`, { Name: 'three' })).status).toBe(200)
    expect(await store.group(group)).toMatchObject({ name: 'three', account: 'b' })
  })

  test('a lent group keeps its account', async () => {
    const store = await database.open()
    await using fixture = await openOn(store)
    const { ann, bob, emulators } = fixture
    const group = await groupOn(fixture, ann, 'b', 'one')
    const asset = emulators[1]?.library.addAsset({ groupId: group }).id
    expect((await ann.ask('POST', `/assets/groups/${group}/shares`, { User: bob.id })).status).toBe(200)
    expect((await bob.ask('GET', '/assets?scope=all')).json.Result.Items).toMatchObject([{ Id: asset }])
    expect((await bob.ask('GET', `/assets/${asset}`)).status).toBe(200)
    expect((await bob.ask('GET', `/assets/groups/${group}`)).json.Result).toMatchObject({
      Account: 'b',
      Access: 'read',
    })
  })

  test('the groups and assets of accounts are counted, but not those that were deleted', async () => {
    const store = await database.open()
    await using fixture = await openOn(store)
    const before = await store.accountUse()
    const group = await groupOn(fixture, fixture.ann, 'b', 'counted')
    const id = crypto.randomUUID()
    await store.adoptGroup({ id, user: fixture.ann.id, type: 'AIGC', name: 'old', createdAt: 1 })
    for (const asset of ['counted-1', 'counted-2']) await store.recordAsset(asset, group)
    await store.markAssetDeleted?.('counted-2', 1)
    const use = await store.accountUse()
    const added = ['', 'a', 'b'].map((name) => (use.get(name) ?? 0) - (before.get(name) ?? 0))
    expect(added).toEqual([1, 0, 2])
  })
})

test('assets in progress of one account are told of while another one does not respond, and those are put off', async () => {
  const background = new Background({ sleep: () => new Promise((resolve) => setImmediate(resolve)) })
  const done = Promise.withResolvers<void>()
  const ended: string[] = []
  const postponed: string[] = []
  const note = () => {
    if (ended.length + postponed.length === 8) done.resolve()
  }
  const watches = ['a', 'b'].flatMap((account) =>
    [0, 1, 2, 3].map((nth) => ({
      ...{
        asset: `${account}-${nth}`,
        group: `group-${account}`,
        user: 'ann',
        createdAt: Date.now(),
        dueAt: 0,
        polls: 0,
      },
    })),
  )
  const events = {
    takeLease: async () => true,
    releaseLease: async () => {},
    dueAssetWatches: async () => (ended.length === 0 ? watches : []),
    async endAssetWatch(asset: string) {
      ended.push(asset)
      note()
    },
    async postponeAssetWatches(due: readonly { readonly asset: string }[]) {
      for (const { asset } of due) postponed.push(asset)
      note()
    },
  }
  await using fixture = await openAccounts()
  const [live, dead] = fixture.emulators
  live?.library.addGroup({ id: 'group-a', name: 'x' })
  for (const nth of [0, 1, 2, 3]) live?.library.addAsset({ id: `a-${nth}`, groupId: 'group-a' })
  await fixture.store.adoptGroup({ id: 'group-a', user: 'ann', type: 'AIGC', name: 'a', account: 'a', createdAt: 1 })
  await fixture.store.adoptGroup({ id: 'group-b', user: 'ann', type: 'AIGC', name: 'b', account: 'b', createdAt: 1 })
  if (!live || !dead) throw new Error('there are two emulators')
  const upstream = createUpstreamOfAccounts([
    { name: 'a', kind: rest(live.rest) },
    { name: 'b', kind: rest(dead.rest) },
  ])
  await dead.stop()
  const owners = createOwnership({ store: fixture.store, defaultAccount: 'a' })
  type Watched = Parameters<typeof watchAssets>
  watchAssets({ upstream, clock: systemClock, log: noLog }, events as unknown as Watched[1], owners, background)
  await done.promise
  void background.stop()
  expect([ended.sort(), postponed.sort()]).toEqual([
    ['a-0', 'a-1', 'a-2', 'a-3'],
    ['b-0', 'b-1', 'b-2', 'b-3'],
  ])
})

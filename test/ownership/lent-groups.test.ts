import { expect, test } from 'bun:test'
import { createOwnership, type LentGroupRecord, RevisionClock, type ShareStore } from 'sluice/ownership'
import { createUpstream, rest } from 'sluice/upstream-proxy'
import { JsonBody } from '../../plugins/shared/http/body/body.ts'
import { readJson } from '../../plugins/shared/json/json.ts'
import type { OwnedId } from '../../plugins/shared/owned-id.ts'
import { MemoryStore } from './memory.ts'

const openFixture = () => {
  let now = 0
  const store = new MemoryStore()
  const group = store.add({ id: 'g-ann', user: 'ann', name: 'lent' })
  store.add({ id: 'k-ann', user: 'ann', name: 'kept' })
  store.assetGroups.set('a-ann', 'g-ann')
  /** Where the upstream has the assets. */
  const places = new Map([['a-ann', 'g-ann']])
  const lent: LentGroupRecord[] = [{ ...group, access: 'use' }]
  const uses: string[] = []
  const shares: ShareStore = {
    lendGroup: async () => 'full',
    revokeShare: async () => false,
    returnGroup: async () => 'returned',
    sharedUses: async () => [],
    sharesOf: async () => [],
    groupsLentTo: async (user) => (user === 'bob' ? lent : []),
    recordGroupUse: async (user, id) => {
      uses.push(id)
      return user === 'bob' && lent.some((each) => each.id === id)
    },
  }
  const clock = { now: () => now }
  const revisionClock = new RevisionClock(() => store.revision(), { clock })
  const locate = async (id: string) => ({ group: places.get(id), evidence: id })
  const owners = createOwnership({ store, shares, locate, revisionClock, clock })
  const pass = (ms: number) => {
    now += ms
  }
  return { store, owners, places, lent, shares, uses, pass, revisionClock, clock }
}

const refused = expect.objectContaining({ status: 403 })
const outcome = (asked: Promise<unknown>) =>
  asked.then(
    () => 'found',
    (error: unknown) => error,
  )

test('a lent asset is where the upstream has it, whatever the store has recorded', async () => {
  const { owners, places } = openFixture()
  expect(await owners.readableAsset('bob', 'a-ann')).toMatchObject({
    id: 'a-ann',
    group: { id: 'g-ann', access: 'use' },
  })
  expect(await owners.usableAsset('bob', 'a-ann')).toMatchObject({ group: { id: 'g-ann' } })
  places.set('a-ann', 'k-ann')
  expect(await outcome(owners.readableAsset('bob', 'a-ann'))).toEqual(refused)
  expect(await outcome(owners.usableAsset('bob', 'a-ann'))).toEqual(refused)
  places.delete('a-ann')
  expect(await outcome(owners.readableAsset('bob', 'a-ann'))).toEqual(refused)
})

test('without `locate`, a lent asset is where the store has recorded it', async () => {
  const { store, shares, clock } = openFixture()
  const owners = createOwnership({ store, shares, clock })
  expect(await owners.readableAsset('bob', 'a-ann')).toMatchObject({ group: { id: 'g-ann' } })
  expect(await outcome(owners.readableAsset('bob', 'a-none'))).toEqual(refused)
})

test('what is only read cannot be used, and neither can what has expired', async () => {
  const { owners, lent, store, pass } = openFixture()
  const [group] = lent
  if (!group) throw new Error('nothing is lent')
  lent[0] = { ...group, access: 'read' }
  lent.push({ ...group, access: 'use', until: 1_000 })
  expect(await outcome(owners.usableAsset('bob', 'a-ann'))).toBe('found')
  expect([await owners.areLent('bob', ['g-ann']), await owners.areLent('bob', ['g-ann', 'k-ann'])]).toEqual([
    true,
    false,
  ])
  pass(1_000)
  expect(await outcome(owners.usableAsset('bob', 'a-ann'))).toEqual(refused)
  expect(await owners.areLent('bob', ['g-ann'])).toBe(false)
  expect(await owners.readableGroup('bob', 'g-ann')).toMatchObject({ access: 'read' })
  lent.length = 0
  store.raise()
  pass(1_000)
  expect(await outcome(owners.readableGroup('bob', 'g-ann'))).toEqual(refused)
})

test('the methods that change something do not find what is lent', async () => {
  const { owners } = openFixture()
  expect(await outcome(owners.group('bob', 'g-ann'))).toEqual(refused)
  expect(await outcome(owners.asset('bob', 'a-ann'))).toEqual(refused)
  expect(await outcome(owners.locateAsset('bob', 'a-ann'))).toEqual(refused)
  expect(await outcome(Promise.resolve().then(() => owners.select('bob', 'AIGC', ['g-ann'])))).toEqual(refused)
  expect(await owners.groupsOf('bob')).toEqual([])
})

test('an operation that changes something does not accept what is lent: nothing is sent', async () => {
  const { owners } = openFixture()
  const sent: string[] = []
  const kind = rest({ url: 'http://upstream.invalid/api/media/proxy', key: 'upstream-key' })
  const fetch = async (url: string) => {
    sent.push(url)
    return Response.json({ Result: { Items: [], TotalCount: 0 } })
  }
  const upstream = createUpstream({ kind, fetch })
  const group = (await owners.readableGroup('bob', 'g-ann')) as unknown as OwnedId<'group'>
  const asset = (await owners.readableAsset('bob', 'a-ann')) as unknown as OwnedId<'asset'>
  const body = new JsonBody(readJson('{}'))
  for (const operation of [
    { action: 'UpdateAssetGroup', group, method: 'PUT', body },
    { action: 'DeleteAssetGroup', group },
    { action: 'CreateAsset', group, body },
    { action: 'UpdateAsset', asset, method: 'PUT', body },
    { action: 'DeleteAsset', asset },
  ] as const)
    expect(await outcome(upstream.send(operation))).toBeInstanceOf(TypeError)
  expect(sent).toEqual([])
  const copy = { ...group }
  const query = { groupType: 'AIGC', sortBy: 'CreateTime', sortOrder: 'Asc', paging: { maxResults: 1 } } as const
  expect(await outcome(upstream.send({ action: 'ListAssets', query: { ...query, groups: [copy] } }))).toBeInstanceOf(
    TypeError,
  )
  expect(await outcome(upstream.send({ action: 'ListAssets', query: { ...query, groups: [group] } }))).toBe('found')
  expect(sent).toHaveLength(1)
})

test('a use is recorded in the store for each group, and nothing is lent without a store', async () => {
  const { owners, uses, store, lent } = openFixture()
  const [group] = lent
  if (group) lent.push({ ...group, id: 'b-ann' })
  expect(await owners.recordUse('bob', ['g-ann', 'b-ann'])).toBe(true)
  expect(uses).toEqual(['b-ann', 'g-ann'])
  expect(await owners.recordUse('bob', ['g-ann', 'k-ann'])).toBe(false)
  expect(await owners.recordUse('eve', ['g-ann'])).toBe(false)
  const alone = createOwnership({ store })
  expect([await alone.recordUse('bob', []), await alone.recordUse('bob', ['g-ann'])]).toEqual([true, false])
  expect(await outcome(alone.readableGroup('bob', 'g-ann'))).toEqual(refused)
})

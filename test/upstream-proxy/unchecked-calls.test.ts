import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createOwnership } from 'sluice/ownership'
import {
  ark,
  createUpstream,
  findGroups,
  groupBatches,
  type MediaKind,
  rest,
  type Upstream,
} from 'sluice/upstream-proxy'
import { type Emulator, startEmulator } from '../../src/emulator/index.ts'
import { MemoryStore } from '../ownership/memory.ts'
import { bodyOf, failure, ownAsset, ownGroup } from './scripted-upstream.ts'

// A host app in JavaScript has no types: what it passes by mistake must not reach the upstream.

let emulator: Emulator
beforeAll(async () => {
  emulator = await startEmulator()
  const group = emulator.library.addGroup({ name: 'of another user' }).id
  emulator.library.addAsset({ groupId: group })
})
afterAll(() => emulator.stop())

const kinds: readonly (readonly [string, () => MediaKind])[] = [
  ['rest', () => rest(emulator.rest)],
  ['ark', () => ark(emulator.ark)],
]

/** A client whose type accepts any operation, and the number of its calls. */
const openUntyped = (kind: MediaKind) => {
  const calls: string[] = []
  const upstream = createUpstream({
    kind,
    fetch: (url, init) => {
      calls.push(url)
      return fetch(url, init)
    },
  })
  const send: (operation: unknown) => Promise<unknown> = upstream.send as never
  return { upstream, calls, send }
}

const list = (groups: unknown, action = 'ListAssets') => ({
  action,
  query: {
    ...{ groupType: 'AIGC', groups, sortBy: 'CreateTime', sortOrder: 'Desc' },
    paging: { pageNumber: 1, pageSize: 100 },
  },
})

const [group, asset] = [ownGroup('group-1'), ownAsset('asset-1')]
const body = bodyOf('{}')
const changing = { ...group }
const manyGroups = Array.from({ length: 101 }, (_, nth) => ownGroup(`group-${nth}`))

const rejected: Readonly<Record<string, unknown>> = {
  'no groups': list([]),
  'no groups, for a list of groups': list([], 'ListAssetGroups'),
  'groups that are undefined': list(undefined),
  'groups that are null': list(null),
  'groups that are a text': list('group-1'),
  'groups that are an object': list({}),
  'one group that is not in an array': list(group),
  'more than a hundred groups': list(manyGroups),
  'the ids of groups': list(['group-1']),
  'undefined among the groups': list([group, undefined]),
  'an object with the fields of a group': list([{ id: 'group-1', user: 'ann', type: 'AIGC', name: 'x', createdAt: 0 }]),
  'a copy of an owned group': list([changing]),
  'an object that inherits from an owned group': list([Object.create(group)]),
  'an asset as a group': list([asset]),
  'no type of groups': { action: 'ListAssets', query: { ...list([group]).query, groupType: undefined } },
  'no query': { action: 'ListAssets' },
  'a search without a name': { action: 'FindAssetGroups', groupType: 'AIGC' },
  'a search for an empty name': { action: 'FindAssetGroups', groupType: 'AIGC', name: '' },
  'a search for several names': { action: 'FindAssetGroups', groupType: 'AIGC', name: [] },
  'a deletion by id': { action: 'DeleteAsset', asset: 'asset-1' },
  'a deletion of a forged asset': { action: 'DeleteAsset', asset: { id: 'asset-1' } },
  'a deletion of a group as an asset': { action: 'DeleteAsset', asset: group },
  'a deletion of an asset as a group': { action: 'DeleteAssetGroup', group: asset },
  'a change of a forged group': { action: 'UpdateAssetGroup', group: { id: 'g' }, method: 'PUT', body },
  'a change of a forged asset': { action: 'UpdateAsset', asset: { id: 'a' }, method: 'PUT', body },
  'a change with a body that nobody has read': { action: 'UpdateAsset', asset, method: 'PUT', body: { json: {} } },
  'an asset in a forged group': { action: 'CreateAsset', group: { id: 'group-1' }, body },
  'a group from a plain object': { action: 'CreateAssetGroup', body: { Name: 'x' } },
  'a forged verification': { action: 'GetVisualValidateResult', verification: { id: 'v' } },
  'an asset without an id': { action: 'GetAsset' },
  'an asset whose id is an array': { action: 'GetAsset', id: ['asset-1'] },
  'an action of Object.prototype': { action: 'constructor' },
  'no action': {},
}

describe.each(kinds)('%s: the client throws TypeError before a call', (_, kindOf) => {
  test.each(Object.entries(rejected))('for %s', async (_, operation) => {
    const { send, calls } = openUntyped(kindOf())
    expect(await failure(send(operation))).toBeInstanceOf(TypeError)
    expect(calls).toEqual([])
  })

  test('for no operation', async () => {
    const { send, calls } = openUntyped(kindOf())
    for (const operation of [undefined, null, '']) expect(await failure(send(operation))).toBeInstanceOf(TypeError)
    expect(calls).toEqual([])
  })

  test('for a search of findGroups without a name, which would be one of the whole account', async () => {
    const { upstream, calls } = openUntyped(kindOf())
    const find: (upstream: Upstream, ...names: readonly unknown[]) => Promise<unknown> = findGroups as never
    for (const name of [undefined, null, '', {}])
      expect(await failure(find(upstream, 'AIGC', name))).toBeInstanceOf(TypeError)
    expect(await failure(find(upstream, undefined, 'name'))).toBeInstanceOf(TypeError)
    expect(calls).toEqual([])
  })

  test('and a user without groups costs no call with groupBatches', async () => {
    const { upstream, calls } = openUntyped(kindOf())
    const owners = createOwnership({ store: new MemoryStore() })
    for (const groups of groupBatches(await owners.groupsOf('ann')))
      await upstream.send({
        ...(list(groups) as { action: 'ListAssets' }),
        query: { ...list(groups).query, groups },
      } as never)
    expect(calls).toEqual([])
  })

  test('groups that the host removes while the call waits are still sent', async () => {
    const seen: string[] = []
    const kind = kindOf()
    const upstream = createUpstream({
      kind: {
        ...kind,
        outgoing(operation) {
          if ('query' in operation) seen.push(operation.query.groups.map(({ id }) => id).join())
          return kind.outgoing(operation)
        },
      },
      limits: { perSecond: { ListAssets: 1_000 } },
    })
    const groups = [group]
    const listed = upstream.send(list(groups) as never)
    groups.length = 0
    await listed
    expect(seen).toEqual(['group-1'])
  })
})

test('an owned group keeps the id that was checked', async () => {
  const store = new MemoryStore()
  store.add({ id: 'group-1', user: 'ann' })
  const owners = createOwnership({ store })
  const owned = (await owners.group('ann', 'group-1')) as { id: string }
  expect(() => {
    owned.id = 'group-2'
  }).toThrow(TypeError)
  expect(Object.isFrozen(store.owned.get('group-1'))).toBe(false)
})

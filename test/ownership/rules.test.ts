import { describe, expect, test } from 'bun:test'
import { type AssetCaller, createOwnership, type OwnershipOptions, RevisionClock } from 'sluice/ownership'
import { Problem } from '../../plugins/shared/problem.ts'
import { MemoryStore } from './memory.ts'

const openFixture = (locate?: OwnershipOptions<string>['locate']) => {
  let now = 0
  const store = new MemoryStore()
  store.add({ id: 'g-ann', user: 'ann', name: 'one' })
  store.add({ id: 'f-ann', user: 'ann', type: 'LivenessFace' })
  store.add({ id: 'g-bob', user: 'bob' })
  store.assetGroups.set('a-ann', 'g-ann')
  store.assetGroups.set('a-face', 'f-ann')
  store.assetGroups.set('a-bob', 'g-bob')
  const revisionClock = new RevisionClock(() => store.revision(), { clock: { now: () => now } })
  const owners = createOwnership<string>({ store, locate, revisionClock })
  return {
    store,
    owners,
    pass: (ms: number) => {
      now += ms
    },
  }
}

/** Status and body of the error response. */
const response = async (asking: unknown): Promise<string> => {
  try {
    return `owned ${JSON.stringify(await asking)}`
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const response = error.toResponse()
    return `${response.status} ${JSON.stringify([...response.headers])} ${await response.text()}`
  }
}

const hostile = [
  '',
  '.',
  '..',
  'g-ann/',
  'g-ann ',
  ' g-ann',
  'G-ANN',
  'g-ann\0',
  'g%2Dann',
  '__proto__',
  5,
  null,
  undefined,
  ['g-ann'],
  { id: 'g-ann' },
]

describe('access to a group', () => {
  test('is allowed to its owner, with any type or with its type', async () => {
    const { owners } = openFixture()
    expect(await owners.group('ann', 'g-ann')).toMatchObject({ id: 'g-ann', user: 'ann', name: 'one' })
    expect(await owners.group('ann', 'g-ann', 'AIGC')).toMatchObject({ id: 'g-ann' })
    expect(await owners.group('ann', 'f-ann', 'LivenessFace')).toMatchObject({ id: 'f-ann' })
  })

  test('fails with the same response for a foreign, unknown or malformed id and for another type', async () => {
    const { owners } = openFixture()
    const expected = await response(owners.group('ann', 'g-none'))
    expect(expected).toStartWith('403 ')
    expect(expected).toContain('group_id does not belong to your asset groups')
    expect(await response(owners.group('ann', 'g-bob'))).toBe(expected)
    expect(await response(owners.group('ann', 'g-ann', 'LivenessFace'))).toBe(expected)
    expect(await response(owners.group('', 'g-ann'))).toBe(expected)
    for (const id of hostile) expect(await response(owners.group('ann', id))).toBe(expected)
  })

  test('does not leak cached knowledge of another caller', async () => {
    const { owners } = openFixture()
    await owners.group('bob', 'g-bob')
    expect(await response(owners.group('ann', 'g-bob'))).toBe(await response(owners.group('ann', 'g-none')))
  })

  test('a list has only groups of the user and type, even if the store returns others', async () => {
    const { owners, store, pass } = openFixture()
    expect((await owners.groupsOf('ann')).map(({ id }) => id).sort()).toEqual(['f-ann', 'g-ann'])
    expect((await owners.groupsOf('ann', 'LivenessFace')).map(({ id }) => id)).toEqual(['f-ann'])
    store.groupsOf = async () => [...store.owned.values()]
    store.raise()
    pass(1000)
    expect((await owners.groupsOf('ann')).map(({ id }) => id).sort()).toEqual(['f-ann', 'g-ann'])
  })

  test('a selection is rejected when it contains one foreign group', async () => {
    const { owners } = openFixture()
    expect(await owners.select('ann', 'AIGC', undefined)).toEqual(await owners.groupsOf('ann', 'AIGC'))
    expect((await owners.select('ann', 'AIGC', ['g-ann', 'g-ann'])).map(({ id }) => id)).toEqual(['g-ann'])
    for (const ids of [['g-bob'], ['g-ann', 'g-bob'], ['g-ann', 'none'], ['f-ann'], ['\0', 'g-ann']]) {
      await expect(owners.select('ann', 'AIGC', ids)).rejects.toThrow(
        'GroupIds contain asset groups not belonging to you',
      )
    }
  })
})

describe('access to an asset', () => {
  test('with a record in the store needs no lookup upstream', async () => {
    const calls: string[] = []
    const { owners } = openFixture(async (asset) => {
      calls.push(asset)
      return { group: undefined, evidence: 'gone' }
    })
    const groups = await owners.groupsOf('ann')
    for (const [id, groupId] of [
      ['a-ann', 'g-ann'],
      ['a-face', 'f-ann'],
    ]) {
      const group = groups.find((each) => each.id === groupId)
      expect(await owners.asset('ann', id)).toEqual({ id, group, evidence: undefined } as never)
    }
    expect(calls).toEqual([])
  })

  test('without a record needs one call of locate', async () => {
    const calls: string[] = []
    const { owners } = openFixture(async (asset) => {
      calls.push(asset)
      return { group: 'g-ann', evidence: 'seen' }
    })
    expect(await owners.asset('ann', 'a-new')).toMatchObject({ id: 'a-new', evidence: 'seen' })
    expect(await owners.asset('ann', 'a-new')).toMatchObject({ id: 'a-new', evidence: undefined })
    expect(calls).toEqual(['a-new'])
  })

  test('is looked up for the user of the request', async () => {
    const callers: AssetCaller[] = []
    const { owners } = openFixture(async (_asset, caller) => {
      callers.push(caller)
      return { group: 'g-ann', evidence: 'seen' }
    })
    const request = new Request('http://sluice.test/')
    await owners.asset('ann', 'a-new', request)
    await owners.locateAsset('ann', 'a-new')
    expect(callers).toEqual([{ user: 'ann', request }, { user: 'ann' }])
    expect(callers[0]?.request).toBe(request)
  })

  test('fails with the same response for a foreign, unknown and malformed id', async () => {
    const assetGroups: Record<string, string> = { 'a-bob': 'g-bob', 'a-lost': 'g-nobody', 'a-bob-2': 'g-bob' }
    for (const locate of [undefined, async (asset: string) => ({ group: assetGroups[asset], evidence: asset })]) {
      const { owners } = openFixture(locate)
      const expected = await response(owners.asset('ann', 'a-none'))
      expect(expected).toStartWith('403 ')
      expect(expected).toContain('asset not found in your asset group')
      for (const id of ['a-bob', 'a-bob-2', 'a-lost', ...hostile]) {
        expect(await response(owners.asset('ann', id))).toBe(expected)
        expect(await response(owners.locateAsset('ann', id))).toBe(expected)
      }
    }
  })

  test('with `locatesAsset` always calls locate, whose result overrides the store', async () => {
    const { owners } = openFixture(async () => ({ group: 'g-bob', evidence: 'moved' }))
    expect(await response(owners.locateAsset('ann', 'a-ann'))).toStartWith('403')
    expect(await owners.locateAsset('bob', 'a-ann')).toMatchObject({ evidence: 'moved' })
  })

  test('passes the upstream’s response for a deleted asset of the caller', async () => {
    const { owners } = openFixture(async () => ({ group: undefined, evidence: '404' }))
    expect(await owners.locateAsset('ann', 'a-ann')).toMatchObject({ evidence: '404' })
    expect(await response(owners.locateAsset('bob', 'a-ann'))).toStartWith('403')
  })

  test('needs no store call after a list or a recording', async () => {
    const { owners, store } = openFixture(() => Promise.reject(new Error('must not be asked')))
    const group = await owners.group('ann', 'g-ann')
    owners.cacheGroup('a-cached', group)
    await owners.record('a-recorded', group)
    expect(store.assetGroups.get('a-recorded')).toBe('g-ann')
    for (const id of ['a-cached', 'a-recorded']) expect(await owners.asset('ann', id)).toMatchObject({ id })
  })
})

describe('a cached entry ends', () => {
  test('at once when this process removes the group', async () => {
    const { owners, store } = openFixture()
    const group = await owners.group('ann', 'g-ann')
    await owners.asset('ann', 'a-ann')
    await owners.remove(group)
    expect(store.owned.has('g-ann')).toBeFalse()
    expect(await response(owners.group('ann', 'g-ann'))).toStartWith('403')
    expect(await response(owners.asset('ann', 'a-ann'))).toStartWith('403')
  })

  test('within a second when another process removes the group', async () => {
    const { owners, store, pass } = openFixture()
    await owners.asset('ann', 'a-ann')
    await store.removeGroup({ id: 'g-ann' })
    pass(1000)
    expect(await response(owners.group('ann', 'g-ann'))).toStartWith('403')
    expect(await response(owners.asset('ann', 'a-ann'))).toStartWith('403')
  })

  test('when an asset has moved or its record has changed', async () => {
    const { owners, store } = openFixture(async () => ({ group: 'f-ann', evidence: 'now there' }))
    const asset = await owners.asset('ann', 'a-ann')
    store.assetGroups.delete('a-ann')
    owners.moved(asset)
    expect(await owners.asset('ann', 'a-ann')).toMatchObject({ evidence: 'now there' })
    const group = await owners.group('ann', 'g-ann')
    await owners.describe(group, 'new words')
    owners.changed(group)
    expect(await owners.group('ann', 'g-ann')).toMatchObject({ description: 'new words' })
  })

  test('but not after a failed removal', async () => {
    const { owners, store } = openFixture()
    const group = await owners.group('ann', 'g-ann')
    store.failing.add('removeGroup')
    expect(await response(owners.remove(group))).toStartWith('500')
    expect(await owners.group('ann', 'g-ann')).toMatchObject({ id: 'g-ann' })
  })
})

describe('a store error rejects every request', () => {
  for (const method of ['revision', 'group', 'groupOfAsset', 'groupsOf'] as const) {
    test(`${method} fails: 500 without details`, async () => {
      const { owners, store } = openFixture()
      store.failing.add(method)
      const asking = {
        revision: () => owners.group('ann', 'g-ann'),
        group: () => owners.group('ann', 'g-ann'),
        groupOfAsset: () => owners.asset('ann', 'a-ann'),
        groupsOf: () => owners.groupsOf('ann'),
      }[method]
      const refused = await response(asking())
      expect(refused).toStartWith('500')
      expect(refused).toContain('ownership could not be checked')
      expect(refused).not.toContain('secret')
    })
  }
})

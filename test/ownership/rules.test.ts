import { describe, expect, test } from 'bun:test'
import { createOwnership, Freshness, type Located } from 'sluice/ownership'
import { Problem } from '../../plugins/shared/problem.ts'
import { MemoryStore } from './memory.ts'

const scene = (locate?: (asset: string) => Promise<Located<string>>) => {
  let now = 0
  const store = new MemoryStore()
  store.add({ id: 'g-ann', user: 'ann', name: 'one' })
  store.add({ id: 'f-ann', user: 'ann', type: 'LivenessFace' })
  store.add({ id: 'g-bob', user: 'bob' })
  store.places.set('a-ann', 'g-ann')
  store.places.set('a-face', 'f-ann')
  store.places.set('a-bob', 'g-bob')
  const freshness = new Freshness(() => store.revision(), { now: () => now })
  const owners = createOwnership<string>({ store, locate, freshness })
  return {
    store,
    owners,
    pass: (ms: number) => {
      now += ms
    },
  }
}

/** A refusal as its caller reads it, byte for byte. */
const answer = async (asking: unknown): Promise<string> => {
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

describe('a group is its owner’s alone', () => {
  test('of any type, or of the type asked for', async () => {
    const { owners } = scene()
    expect(await owners.group('ann', 'g-ann')).toMatchObject({ id: 'g-ann', user: 'ann', name: 'one' })
    expect(await owners.group('ann', 'g-ann', 'AIGC')).toMatchObject({ id: 'g-ann' })
    expect(await owners.group('ann', 'f-ann', 'LivenessFace')).toMatchObject({ id: 'f-ann' })
  })

  test('foreign, absent, of another type or malformed: one answer, byte for byte', async () => {
    const { owners } = scene()
    const expected = await answer(owners.group('ann', 'g-none'))
    expect(expected).toStartWith('403 ')
    expect(expected).toContain('group_id does not belong to your asset groups')
    expect(await answer(owners.group('ann', 'g-bob'))).toBe(expected)
    expect(await answer(owners.group('ann', 'g-ann', 'LivenessFace'))).toBe(expected)
    expect(await answer(owners.group('', 'g-ann'))).toBe(expected)
    for (const id of hostile) expect(await answer(owners.group('ann', id))).toBe(expected)
  })

  test('who knows it from another caller’s question learns nothing', async () => {
    const { owners } = scene()
    await owners.group('bob', 'g-bob')
    expect(await answer(owners.group('ann', 'g-bob'))).toBe(await answer(owners.group('ann', 'g-none')))
  })

  test('groups are listed per user and type, whatever a store slips in', async () => {
    const { owners, store, pass } = scene()
    expect((await owners.groupsOf('ann')).map(({ id }) => id).sort()).toEqual(['f-ann', 'g-ann'])
    expect((await owners.groupsOf('ann', 'LivenessFace')).map(({ id }) => id)).toEqual(['f-ann'])
    store.groupsOf = async () => [...store.owned.values()]
    store.raise()
    pass(1000)
    expect((await owners.groupsOf('ann')).map(({ id }) => id).sort()).toEqual(['f-ann', 'g-ann'])
  })

  test('a selection is the caller’s in whole, or refused in whole', async () => {
    const { owners } = scene()
    expect(await owners.select('ann', 'AIGC', undefined)).toEqual(await owners.groupsOf('ann', 'AIGC'))
    expect((await owners.select('ann', 'AIGC', ['g-ann', 'g-ann'])).map(({ id }) => id)).toEqual(['g-ann'])
    for (const ids of [['g-bob'], ['g-ann', 'g-bob'], ['g-ann', 'none'], ['f-ann'], ['\0', 'g-ann']]) {
      expect(owners.select('ann', 'AIGC', ids)).rejects.toThrow('GroupIds contain asset groups not belonging to you')
    }
  })
})

describe('an asset belongs to the owner of its group', () => {
  test('known to the store, nobody else is asked', async () => {
    const asked: string[] = []
    const { owners } = scene(async (asset) => {
      asked.push(asset)
      return { group: undefined, evidence: 'gone' }
    })
    for (const id of ['a-ann', 'a-face'])
      expect(await owners.asset('ann', id)).toEqual({ id, evidence: undefined } as never)
    expect(asked).toEqual([])
  })

  test('unknown to the store, whoever can locate it is asked, once', async () => {
    const asked: string[] = []
    const { owners } = scene(async (asset) => {
      asked.push(asset)
      return { group: 'g-ann', evidence: 'seen' }
    })
    expect(await owners.asset('ann', 'a-new')).toMatchObject({ id: 'a-new', evidence: 'seen' })
    expect(await owners.asset('ann', 'a-new')).toMatchObject({ id: 'a-new', evidence: undefined })
    expect(asked).toEqual(['a-new'])
  })

  test('foreign, absent or malformed: one answer, byte for byte, whoever is asked', async () => {
    const places: Record<string, string> = { 'a-bob': 'g-bob', 'a-lost': 'g-nobody', 'a-bob-2': 'g-bob' }
    for (const locate of [undefined, async (asset: string) => ({ group: places[asset], evidence: asset })]) {
      const { owners } = scene(locate)
      const expected = await answer(owners.asset('ann', 'a-none'))
      expect(expected).toStartWith('403 ')
      expect(expected).toContain('asset not found in your asset group')
      for (const id of ['a-bob', 'a-bob-2', 'a-lost', ...hostile]) {
        expect(await answer(owners.asset('ann', id))).toBe(expected)
        expect(await answer(owners.examine('ann', id))).toBe(expected)
      }
    }
  })

  test('examined, the one who locates it has the word, and is believed over the store', async () => {
    const { owners } = scene(async () => ({ group: 'g-bob', evidence: 'moved' }))
    expect(await answer(owners.examine('ann', 'a-ann'))).toStartWith('403')
    expect(await owners.examine('bob', 'a-ann')).toMatchObject({ evidence: 'moved' })
  })

  test('gone but known to have been the caller’s, the evidence says that it is gone', async () => {
    const { owners } = scene(async () => ({ group: undefined, evidence: '404' }))
    expect(await owners.examine('ann', 'a-ann')).toMatchObject({ evidence: '404' })
    expect(await answer(owners.examine('bob', 'a-ann'))).toStartWith('403')
  })

  test('what was learned from a list, or recorded, needs no question', async () => {
    const { owners, store } = scene(() => Promise.reject(new Error('must not be asked')))
    const group = await owners.group('ann', 'g-ann')
    owners.learn('a-learned', group)
    await owners.record('a-recorded', group)
    expect(store.places.get('a-recorded')).toBe('g-ann')
    for (const id of ['a-learned', 'a-recorded']) expect(await owners.asset('ann', id)).toMatchObject({ id })
  })
})

describe('memory does not outlive what it remembers', () => {
  test('a group that was removed, here and at once', async () => {
    const { owners, store } = scene()
    const group = await owners.group('ann', 'g-ann')
    await owners.asset('ann', 'a-ann')
    await owners.remove(group)
    expect(store.owned.has('g-ann')).toBeFalse()
    expect(await answer(owners.group('ann', 'g-ann'))).toStartWith('403')
    expect(await answer(owners.asset('ann', 'a-ann'))).toStartWith('403')
  })

  test('a group that was removed elsewhere, within a second', async () => {
    const { owners, store, pass } = scene()
    await owners.asset('ann', 'a-ann')
    await store.removeGroup({ id: 'g-ann' })
    pass(1000)
    expect(await answer(owners.group('ann', 'g-ann'))).toStartWith('403')
    expect(await answer(owners.asset('ann', 'a-ann'))).toStartWith('403')
  })

  test('an asset that moved, and a record that changed', async () => {
    const { owners, store } = scene(async () => ({ group: 'f-ann', evidence: 'now there' }))
    const asset = await owners.asset('ann', 'a-ann')
    store.places.delete('a-ann')
    owners.moved(asset)
    expect(await owners.asset('ann', 'a-ann')).toMatchObject({ evidence: 'now there' })
    const group = await owners.group('ann', 'g-ann')
    await owners.describe(group, 'new words')
    owners.changed(group)
    expect(await owners.group('ann', 'g-ann')).toMatchObject({ description: 'new words' })
  })

  test('a removal that failed forgets nothing', async () => {
    const { owners, store } = scene()
    const group = await owners.group('ann', 'g-ann')
    store.broken.add('removeGroup')
    expect(await answer(owners.remove(group))).toStartWith('500')
    expect(await owners.group('ann', 'g-ann')).toMatchObject({ id: 'g-ann' })
  })
})

describe('without an answer from the store nobody owns anything', () => {
  for (const method of ['revision', 'group', 'groupOfAsset', 'groupsOf'] as const) {
    test(`${method} fails: 500, and no reason is given`, async () => {
      const { owners, store } = scene()
      store.broken.add(method)
      const asking = {
        revision: () => owners.group('ann', 'g-ann'),
        group: () => owners.group('ann', 'g-ann'),
        groupOfAsset: () => owners.asset('ann', 'a-ann'),
        groupsOf: () => owners.groupsOf('ann'),
      }[method]
      const refused = await answer(asking())
      expect(refused).toStartWith('500')
      expect(refused).toContain('ownership could not be checked')
      expect(refused).not.toContain('secret')
    })
  }
})

import { describe, expect, test } from 'bun:test'
import { openStore, type Store } from '../../src/store/index.ts'
import { eachKind, newAsset, newGroup, openFixture } from './fixture.ts'

/** A store that records its calls, except the periodic reads of the revision, and notes of uses, which it only buffers. */
const counted = (): { store: Store; asked: string[] } => {
  const asked: string[] = []
  const store = new Proxy(openStore('sqlite::memory:'), {
    get: (target, name: keyof Store) => {
      if (name !== 'revision' && name !== 'noteUse') asked.push(name)
      return target[name]
    },
  })
  return { store, asked }
}

describe.each(eachKind)('with an upstream of kind $kind', ({ kindOf }) => {
  test('a detail with a cached token and asset makes no store call and one upstream call', async () => {
    const { store, asked } = counted()
    await using fixture = await openFixture({ kindOf, store })
    const id = await newAsset(fixture.ann, await newGroup(fixture.ann, 'a'))
    await fixture.ann.ask('GET', `/assets/${id}`)
    const costs = async (method: string, body?: object) => {
      asked.length = 0
      fixture.calls()
      expect((await fixture.ann.ask(method, `/assets/${id}`, body)).status).toBe(200)
      return { store: [...asked], upstream: fixture.calls().map(({ action }) => action) }
    }
    expect(await costs('GET')).toEqual({ store: [], upstream: ['GetAsset'] })
    expect(await costs('PATCH', { Name: 'b' })).toEqual({ store: [], upstream: ['UpdateAsset'] })
    expect(await costs('PUT', { Name: 'c' })).toEqual({ store: [], upstream: ['UpdateAsset'] })
    expect(await costs('DELETE')).toEqual({ store: ['markAssetDeleted'], upstream: ['DeleteAsset'] })
  })

  test('a listed asset is cached', async () => {
    const { store, asked } = counted()
    await using fixture = await openFixture({ kindOf, store })
    const groupId = await newGroup(fixture.ann, 'a')
    const { id } = fixture.emulator.library.addAsset({ groupId })
    await newAsset(fixture.ann, groupId)
    await fixture.ann.ask('GET', '/assets')
    asked.length = 0
    fixture.calls()
    expect((await fixture.ann.ask('DELETE', `/assets/${id}`)).status).toBe(200)
    expect(fixture.calls().map(({ action }) => action)).toEqual(['DeleteAsset'])
    expect(asked).toEqual(['markAssetDeleted'])
  })

  test('a list with any filters makes one upstream call and no store call', async () => {
    const { store, asked } = counted()
    await using fixture = await openFixture({ kindOf, store })
    const group = await newGroup(fixture.ann, 'a')
    await newAsset(fixture.ann, group)
    // The first list reads the creation time of the group.
    for (const questions of [['groupsOf', 'dateGroups'], ['groupsOf']]) {
      asked.length = 0
      expect((await fixture.ann.ask('GET', '/assets/groups')).status).toBe(200)
      expect(asked).toEqual(questions)
    }
    for (const path of [
      '/assets',
      `/assets?GroupIds=${group}&Name=a`,
      '/assets/groups',
      `/assets/groups?GroupIds=${group}`,
    ]) {
      asked.length = 0
      fixture.calls()
      expect((await fixture.ann.ask('GET', path)).status).toBe(200)
      expect([asked, fixture.calls().length]).toEqual([[], 1])
    }
  })
})

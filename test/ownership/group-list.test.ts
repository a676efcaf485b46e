import { describe, expect, test } from 'bun:test'
import { createOwnership, RevisionClock } from 'sluice/ownership'
import { openStore } from '../../src/store/index.ts'
import { MemoryStore } from './memory.ts'

const openFixture = () => {
  let now = 0
  const store = new MemoryStore()
  store.add({ id: 'g-ann', user: 'ann' })
  store.add({ id: 'f-ann', user: 'ann', type: 'LivenessFace' })
  store.add({ id: 'g-bob', user: 'bob' })
  const owners = createOwnership({
    store,
    revisionClock: new RevisionClock(() => store.revision(), { clock: { now: () => now } }),
  })
  return {
    ...{ store, owners },
    ids: async (user: string, type?: string) => (await owners.groupsOf(user, type)).map(({ id }) => id),
    /** Store calls about groups since the last call of this function. */
    calls: () => store.calls.splice(0).filter((method) => method !== 'revision'),
    pass: (ms: number) => {
      now += ms
    },
  }
}

describe('the cached groups of a user', () => {
  test('need one store call for all types', async () => {
    const { ids, calls } = openFixture()
    for (let nth = 0; nth < 3; nth++) {
      expect(await ids('ann', 'AIGC')).toEqual(['g-ann'])
      expect(await ids('ann', 'LivenessFace')).toEqual(['f-ann'])
      expect(await ids('ann', 'none')).toEqual([])
      expect(await ids('bob', 'AIGC')).toEqual(['g-bob'])
    }
    expect(calls()).toEqual(['groupsOf', 'groupsOf'])
  })

  test('do not include an empty result', async () => {
    const { ids, calls, store } = openFixture()
    expect(await ids('eve')).toEqual([])
    store.add({ id: 'g-eve', user: 'eve' })
    expect(await ids('eve')).toEqual(['g-eve'])
    expect(calls()).toEqual(['groupsOf', 'groupsOf'])
  })
})

describe('a change of the cached groups', () => {
  test('in this process is visible at once', async () => {
    const { ids, owners, store, pass } = openFixture()
    await ids('ann')
    store.add({ id: 'g-new', user: 'ann' })
    owners.changed({ id: 'g-new', user: 'ann' })
    expect(await ids('ann', 'AIGC')).toEqual(['g-ann', 'g-new'])
    await owners.date('ann', [{ id: 'g-new', createdAt: 5 }])
    expect((await owners.groupsOf('ann')).find(({ id }) => id === 'g-new')).toMatchObject({ createdAt: 5, dated: 1 })
    const group = await owners.group('ann', 'g-new')
    pass(1)
    await owners.remove(group)
    expect(await ids('ann', 'AIGC')).toEqual(['g-ann'])
  })

  test('in another process is visible within a second, and at once where the request names the group', async () => {
    const { ids, owners, store, pass } = openFixture()
    await ids('ann')
    store.add({ id: 'g-new', user: 'ann' })
    store.raise()
    expect(await ids('ann', 'AIGC')).toEqual(['g-ann'])
    const named = await owners.select('ann', 'AIGC', ['g-new'])
    expect(named.map(({ id }) => id)).toEqual(['g-new'])
    store.add({ id: 'g-newer', user: 'ann' })
    store.raise()
    expect(await ids('ann', 'AIGC')).toEqual(['g-ann', 'g-new'])
    await owners.group('ann', 'g-newer')
    expect(await ids('ann', 'AIGC')).toEqual(['g-ann', 'g-new', 'g-newer'])
    store.owned.delete('g-newer')
    store.owned.delete('g-new')
    store.raise()
    pass(900)
    expect(await ids('ann', 'AIGC')).toEqual(['g-ann'])
  })

  test('causes no second list call for a named and listed group', async () => {
    const { ids, owners, calls } = openFixture()
    await ids('ann')
    await owners.group('ann', 'g-ann')
    await ids('ann')
    expect(calls()).toEqual(['groupsOf', 'group'])
  })

  test('of one user causes no store calls for other users', async () => {
    await using database = {
      store: openStore('sqlite::memory:'),
      async [Symbol.asyncDispose]() {
        await this.store.close()
      },
    }
    const { store } = database
    await store.migrate()
    const lists: string[] = []
    const groupsOf = (user: string) => {
      lists.push(user)
      return store.groupsOf(user)
    }
    const owners = createOwnership({ store: { ...store, groupsOf } })
    const adopt = (id: string, user: string) => store.adoptGroup({ id, user, type: 'AIGC', name: id, createdAt: 1 })
    for (const user of ['ann', 'bob']) await adopt(`g-${user}`, user)
    const look = async () => [(await owners.groupsOf('ann')).length, (await owners.groupsOf('bob')).length]
    expect(await look()).toEqual([1, 1])
    await adopt('g-more', 'ann')
    // This change uses the store directly, not the rules.
    expect(await look()).toEqual([2, 1])
    expect(lists).toEqual(['ann', 'bob', 'ann'])
  })
})

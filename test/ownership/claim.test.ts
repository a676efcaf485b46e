import { describe, expect, test } from 'bun:test'
import { claimed, type Effect } from 'sluice/ownership'
import { MemoryStore } from './memory.ts'

const wanted = { user: 'ann', type: 'AIGC', name: 'cats', createdAt: 1000, dueAt: 61_000 }

class Failed extends Error {
  readonly effect: Effect
  constructor(effect: Effect) {
    super(effect)
    this.effect = effect
  }
}

/** Creates a group under a claim; `make` is the upstream. */
const create = (
  store: MemoryStore,
  make: () => Promise<string>,
  want: Partial<typeof wanted & { renames: string }> = {},
) =>
  claimed({
    store,
    wanted: { ...wanted, ...want },
    make,
    idOf: (id) => id,
    effectOf: (error) => (error as Failed).effect,
    now: () => 2000,
  })

const refusal = (creating: Promise<unknown>) =>
  creating.then(
    () => 'made',
    (error: { status?: number; message: string }) => `${error.status} ${error.message}`,
  )

describe('a group is made under a claim on its name', () => {
  test('and is its maker’s afterwards', async () => {
    const store = new MemoryStore()
    expect(await create(store, async () => 'g-1')).toBe('g-1')
    expect([...store.owned.values()]).toEqual([
      { id: 'g-1', user: 'ann', type: 'AIGC', name: 'cats', description: undefined, createdAt: 2000 },
    ])
    expect(store.open.size).toBe(0)
    expect(store.asked).toEqual(['claim', 'confirm'])
  })

  test('of many at once exactly one reaches the upstream', async () => {
    const store = new MemoryStore()
    let made = 0
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => refusal(create(store, async () => `g-${++made}`))),
    )
    expect(made).toBe(1)
    expect(answers.filter((answer) => answer === 'made')).toHaveLength(1)
    expect(new Set(answers)).toEqual(
      new Set(['made', '400 an asset group with the same Name and GroupType already exists']),
    )
  })

  test('another user, type or name is nobody’s rival', async () => {
    const store = new MemoryStore()
    let made = 0
    for (const other of [{}, { user: 'bob' }, { type: 'LivenessFace' }, { name: 'Cats' }]) {
      expect(await refusal(create(store, async () => `g-${++made}`, other))).toBe('made')
    }
  })

  test('a rename keeps the group and frees its old name', async () => {
    const store = new MemoryStore()
    store.add({ id: 'g-1', user: 'ann', name: 'dogs', createdAt: 5 })
    await create(store, async () => 'g-1', { renames: 'g-1' })
    expect([...store.owned.values()]).toMatchObject([{ id: 'g-1', name: 'cats' }])
    expect(await refusal(create(store, async () => 'g-2', { name: 'dogs' }))).toBe('made')
  })
})

describe('what fails leaves nothing stranded', () => {
  test('the store before: the upstream is not asked', async () => {
    const store = new MemoryStore()
    store.broken.add('claim')
    let asked = false
    const creating = create(store, async () => {
      asked = true
      return 'g'
    })
    expect(await refusal(creating)).toBe('500 failed to check asset group')
    expect(asked).toBeFalse()
  })

  test('the upstream for certain: the name is free at once', async () => {
    const store = new MemoryStore()
    expect(await refusal(create(store, () => Promise.reject(new Failed('none'))))).toBe('undefined none')
    expect(store.open.size).toBe(0)
    expect(await refusal(create(store, async () => 'g'))).toBe('made')
  })

  test('the upstream with doubts: the name is free, the claim is kept and due at once', async () => {
    const store = new MemoryStore()
    await refusal(create(store, () => Promise.reject(new Failed('doubtful'))))
    expect([...store.open.values()]).toMatchObject([{ state: 'unresolved', name: 'cats' }])
    expect(await refusal(create(store, async () => 'g'))).toBe('made')
  })

  test('the upstream without a word: the name is held, the next try hears why, and the claim is due in a second', async () => {
    const store = new MemoryStore()
    await refusal(create(store, () => Promise.reject(new Failed('unknown'))))
    expect([...store.open.values()]).toMatchObject([{ state: 'pending', endedAt: 2000, dueAt: 3000 }])
    expect(await refusal(create(store, async () => 'g'))).toBe(
      '400 an earlier request for the same Name and GroupType is still being settled; try again shortly',
    )
    expect(await refusal(create(store, async () => 'g', { user: 'bob' }))).toBe('made')
  })

  test('the store, when asked why the name is held: the caller hears of the store', async () => {
    const store = new MemoryStore()
    await create(store, async () => 'g')
    store.broken.add('isUnsettled')
    expect(await refusal(create(store, async () => 'g'))).toBe('500 failed to check asset group')
  })

  test('the store after the upstream’s failure: the caller hears of the upstream, the claim stays', async () => {
    for (const [effect, method] of [
      ['none', 'release'],
      ['doubtful', 'doubt'],
      ['unknown', 'keep'],
    ] as const) {
      const store = new MemoryStore()
      store.broken.add(method)
      expect(await refusal(create(store, () => Promise.reject(new Failed(effect))))).toBe(`undefined ${effect}`)
      expect([...store.open.values()]).toMatchObject([{ state: 'pending' }])
    }
  })

  test('the store after the upstream’s success: the claim stays to be settled', async () => {
    const store = new MemoryStore()
    store.broken.add('confirm')
    expect(await refusal(create(store, async () => 'g'))).toBe('500 failed to record asset group')
    expect([...store.open.values()]).toMatchObject([{ state: 'pending', name: 'cats', endedAt: 2000, dueAt: 3000 }])
    expect(store.owned.size).toBe(0)
  })

  test('an id that has an owner is never handed over', async () => {
    const store = new MemoryStore()
    store.add({ id: 'g-bob', user: 'bob', name: 'other' })
    expect(await refusal(create(store, async () => 'g-bob'))).toBe('500 failed to record asset group')
    expect(store.owned.get('g-bob')).toMatchObject({ user: 'bob' })
    expect([...store.open.values()]).toMatchObject([{ state: 'unresolved' }])
  })
})

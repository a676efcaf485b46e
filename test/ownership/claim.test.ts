import { describe, expect, test } from 'bun:test'
import { type ClaimEffect, withClaim } from 'sluice/ownership'
import { MemoryStore } from './memory.ts'

const wanted = { user: 'ann', type: 'AIGC', name: 'cats', createdAt: 1000, dueAt: 61_000 }

class Failed extends Error {
  readonly effect: ClaimEffect
  constructor(effect: ClaimEffect) {
    super(effect)
    this.effect = effect
  }
}

/** Creates a group with a claim. `make` is the upstream call. */
const create = (
  store: MemoryStore,
  make: () => Promise<string>,
  want: Partial<typeof wanted & { renames: string }> = {},
) =>
  withClaim({
    store,
    wanted: { ...wanted, ...want },
    send: make,
    idOf: (id) => id,
    effectOf: (error) => (error as Failed).effect,
    clock: { now: () => 2000, at: () => () => {} },
  })

const rejectionOf = (creating: Promise<unknown>) =>
  creating.then(
    () => 'made',
    (error: { status?: number; message: string }) => `${error.status} ${error.message}`,
  )

describe('a creation with a claim on the name', () => {
  test('makes the caller the owner of the group', async () => {
    const store = new MemoryStore()
    expect(await create(store, async () => 'g-1')).toBe('g-1')
    expect([...store.owned.values()]).toEqual([
      { id: 'g-1', user: 'ann', type: 'AIGC', name: 'cats', description: undefined, createdAt: 2000 },
    ])
    expect(store.open.size).toBe(0)
    expect(store.calls).toEqual(['claim', 'confirm'])
  })

  test('of several concurrent ones only one reaches the upstream', async () => {
    const store = new MemoryStore()
    let made = 0
    const responses = await Promise.all(
      Array.from({ length: 50 }, () => rejectionOf(create(store, async () => `g-${++made}`))),
    )
    expect(made).toBe(1)
    expect(responses.filter((response) => response === 'made')).toHaveLength(1)
    expect(new Set(responses)).toEqual(
      new Set(['made', '400 an asset group with the same Name and GroupType already exists']),
    )
  })

  test('does not conflict with another user, type or name', async () => {
    const store = new MemoryStore()
    let made = 0
    for (const other of [{}, { user: 'bob' }, { type: 'LivenessFace' }, { name: 'Cats' }]) {
      expect(await rejectionOf(create(store, async () => `g-${++made}`, other))).toBe('made')
    }
  })

  test('a renaming keeps the group and frees its old name', async () => {
    const store = new MemoryStore()
    store.add({ id: 'g-1', user: 'ann', name: 'dogs', createdAt: 5 })
    await create(store, async () => 'g-1', { renames: 'g-1' })
    expect([...store.owned.values()]).toMatchObject([{ id: 'g-1', name: 'cats' }])
    expect(await rejectionOf(create(store, async () => 'g-2', { name: 'dogs' }))).toBe('made')
  })
})

describe('another renaming of a group', () => {
  const unknown =
    '400 the outcome of an earlier request for the same Name and GroupType is not known yet; try again shortly'

  test('is refused while one is in progress, and possible after it', async () => {
    const store = new MemoryStore()
    store.add({ id: 'g-1', user: 'ann', name: 'dogs' })
    const sent = Promise.withResolvers<string>()
    const first = create(store, () => sent.promise, { renames: 'g-1' })
    for (const name of ['cats', 'dogs', 'birds'])
      expect(await rejectionOf(create(store, async () => 'g-1', { renames: 'g-1', name }))).toBe(unknown)
    sent.resolve('g-1')
    expect(await first).toBe('g-1')
    expect(await rejectionOf(create(store, async () => 'g-1', { renames: 'g-1', name: 'birds' }))).toBe('made')
    expect(store.owned.get('g-1')?.name).toBe('birds')
  })

  test('is refused while the outcome of one is not known, which is checked at once', async () => {
    for (const effect of ['possible', 'unknown'] as const) {
      const store = new MemoryStore()
      store.add({ id: 'g-1', user: 'ann', name: 'dogs' })
      await rejectionOf(create(store, () => Promise.reject(new Failed(effect)), { renames: 'g-1' }))
      expect([...store.open.values()]).toMatchObject([{ dueAt: 2000 }])
      expect(await rejectionOf(create(store, async () => 'g-1', { renames: 'g-1', name: 'birds' }))).toBe(unknown)
    }
  })
})

describe('a failure', () => {
  test('of the store before the creation: no upstream call', async () => {
    const store = new MemoryStore()
    store.failing.add('claim')
    let calls = false
    const creating = create(store, async () => {
      calls = true
      return 'g'
    })
    expect(await rejectionOf(creating)).toBe('500 failed to check asset group')
    expect(calls).toBeFalse()
  })

  test('of the upstream, certainly not applied: the name is free at once', async () => {
    const store = new MemoryStore()
    expect(await rejectionOf(create(store, () => Promise.reject(new Failed('none'))))).toBe('undefined none')
    expect(store.open.size).toBe(0)
    expect(await rejectionOf(create(store, async () => 'g'))).toBe('made')
  })

  test('of the upstream, possibly applied: the name is free, and the claim remains and is due at once', async () => {
    const store = new MemoryStore()
    await rejectionOf(create(store, () => Promise.reject(new Failed('possible'))))
    expect([...store.open.values()]).toMatchObject([{ state: 'unresolved', name: 'cats' }])
    expect(await rejectionOf(create(store, async () => 'g'))).toBe('made')
  })

  test('of the upstream without a response: the name is reserved, the next request learns why, and the claim is due at once', async () => {
    const store = new MemoryStore()
    await rejectionOf(create(store, () => Promise.reject(new Failed('unknown'))))
    expect([...store.open.values()]).toMatchObject([{ state: 'pending', endedAt: 2000, dueAt: 2000 }])
    expect(await rejectionOf(create(store, async () => 'g'))).toBe(
      '400 the outcome of an earlier request for the same Name and GroupType is not known yet; try again shortly',
    )
    expect(await rejectionOf(create(store, async () => 'g', { user: 'bob' }))).toBe('made')
  })

  test('of the store while it reads why the name is reserved: the caller receives the store error', async () => {
    const store = new MemoryStore()
    await create(store, async () => 'g')
    store.failing.add('hasUnresolved')
    expect(await rejectionOf(create(store, async () => 'g'))).toBe('500 failed to check asset group')
  })

  test('of the store after an upstream failure: the caller receives the upstream error, and the claim remains', async () => {
    for (const [effect, method] of [
      ['none', 'release'],
      ['possible', 'markUnresolved'],
      ['unknown', 'postpone'],
    ] as const) {
      const store = new MemoryStore()
      store.failing.add(method)
      expect(await rejectionOf(create(store, () => Promise.reject(new Failed(effect))))).toBe(`undefined ${effect}`)
      expect([...store.open.values()]).toMatchObject([{ state: 'pending' }])
    }
  })

  test('of the store after an upstream success: the claim remains for reconciliation', async () => {
    const store = new MemoryStore()
    store.failing.add('confirm')
    expect(await rejectionOf(create(store, async () => 'g'))).toBe('500 failed to record asset group')
    expect([...store.open.values()]).toMatchObject([{ state: 'pending', name: 'cats', endedAt: 2000, dueAt: 2000 }])
    expect(store.owned.size).toBe(0)
  })

  test('an id with an owner never changes its owner', async () => {
    const store = new MemoryStore()
    store.add({ id: 'g-bob', user: 'bob', name: 'other' })
    expect(await rejectionOf(create(store, async () => 'g-bob'))).toBe('500 failed to record asset group')
    expect(store.owned.get('g-bob')).toMatchObject({ user: 'bob' })
    expect([...store.open.values()]).toMatchObject([{ state: 'unresolved' }])
  })
})

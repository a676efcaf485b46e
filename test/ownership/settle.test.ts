import { describe, expect, test } from 'bun:test'
import { getEventListeners } from 'node:events'
import { type Claim, type SettleOptions, settle, settleRegularly } from 'sluice/ownership'
import { silent } from '../../plugins/shared/problem.ts'
import { MemoryStore } from './memory.ts'

const wanted = { user: 'ann', type: 'AIGC', name: 'cats', createdAt: 1_000_000, dueAt: 1_060_000 }

interface Made {
  readonly id: string
  readonly createdAt: number | undefined
  readonly name?: string
}

/** Claims that were left open, groups that the upstream has, and a clock long after both. */
const scene = async (claims: readonly Partial<Claim>[], made: readonly Made[]) => {
  const store = new MemoryStore()
  for (const claim of claims) await store.claim({ ...wanted, ...claim })
  store.asked.length = 0
  const outcomes: unknown[] = []
  const options: SettleOptions = {
    store,
    find: async (_, name) => made.filter((group) => (group.name ?? 'cats') === name),
    now: () => 2_000_000,
    log: {
      ...silent,
      info: (fields) => {
        outcomes.push('outcome' in fields ? fields.outcome : fields)
      },
      warn: () => {
        outcomes.push('failed')
      },
    },
  }
  return { store, options, outcomes }
}

describe('a claim that is due is settled', () => {
  test('one group fits: it is the claimant’s', async () => {
    const { store, options, outcomes } = await scene([{}], [{ id: 'g', createdAt: 1_001_000 }])
    const told: string[] = []
    await settle({ ...options, onAdopted: ({ user, name }, group) => told.push(`${group} of ${user}, ${name}`) })
    expect(told).toEqual(['g of ann, cats'])
    expect(outcomes).toEqual(['adopted'])
    expect([...store.owned.values()]).toMatchObject([{ id: 'g', user: 'ann', name: 'cats', createdAt: 1_001_000 }])
    expect(store.open.size).toBe(0)
  })

  test('a group whose time cannot be read fits too', async () => {
    const { store, options } = await scene([{}], [{ id: 'g', createdAt: undefined }])
    await settle(options)
    expect(store.owned.has('g')).toBeTrue()
  })

  test('none fits: the name is free', async () => {
    for (const made of [[], [{ id: 'old', createdAt: 1_000 }], [{ id: 'late', createdAt: 1_999_999 }]]) {
      const { store, options, outcomes } = await scene([{}], made)
      await settle(options)
      expect(outcomes).toEqual(['released'])
      expect([store.owned.size, store.open.size]).toEqual([0, 0])
    }
  })

  test('a group that has an owner is not taken away', async () => {
    const { store, options, outcomes } = await scene([{}], [{ id: 'g', createdAt: 1_001_000 }])
    store.add({ id: 'g', user: 'bob' })
    await settle(options)
    expect(outcomes).toEqual(['released'])
    expect(store.owned.get('g')).toMatchObject({ user: 'bob' })
  })

  test('several fit: none is given away, the name is free, a person decides', async () => {
    const { store, options, outcomes } = await scene(
      [{}],
      [
        { id: 'g-1', createdAt: 1_001_000 },
        { id: 'g-2', createdAt: 1_002_000 },
      ],
    )
    await settle(options)
    expect(outcomes).toEqual(['ambiguous'])
    expect(store.owned.size).toBe(0)
    expect([...store.open.values()]).toMatchObject([{ state: 'unresolved' }])
    expect(await store.claim(wanted)).toBeDefined()
  })

  test('two users wait for the same name: neither gets the one group', async () => {
    const { store, options, outcomes } = await scene([{}, { user: 'bob' }], [{ id: 'g', createdAt: 1_001_000 }])
    await settle(options)
    expect(outcomes).toEqual(['rival', 'rival'])
    expect(store.owned.size).toBe(0)
    for (const claim of store.open.values()) expect(claim.dueAt).toBeGreaterThan(2_000_000)
  })

  test('what is not due is left alone', async () => {
    const { store, options } = await scene([{ dueAt: 3_000_000 }], [{ id: 'g', createdAt: 1_001_000 }])
    await settle(options)
    expect(store.open.size).toBe(1)
    expect(store.asked).toEqual(['lease'])
  })

  test('one that stays open is looked at ever more rarely, but at least once an hour', async () => {
    for (const [age, wait] of [
      [1_000_000, 1_000_000],
      [70_000, 70_000],
      [1_990_000, 1_990_000],
    ] as const) {
      const createdAt = 2_000_000 - age
      const { store, options } = await scene(
        [{ createdAt, dueAt: createdAt + 1 }],
        [
          { id: 'g-1', createdAt },
          { id: 'g-2', createdAt },
        ],
      )
      await settle(options)
      expect([...store.open.values()][0]?.dueAt).toBe(2_000_000 + Math.min(wait, 3_600_000))
    }
  })
})

describe('a claim whose time is not over, because the upstream may still be at it,', () => {
  const early = (now: number) => ({ now: () => now, callMs: 60_000 })
  const ended = { dueAt: 1_001_000, endedAt: 1_000_000 }

  test('is fulfilled as soon as one group fits', async () => {
    const { store, options, outcomes } = await scene([ended], [{ id: 'g', createdAt: 1_000_500 }])
    await settle({ ...options, ...early(1_001_000) })
    expect(outcomes).toEqual(['adopted'])
    expect([...store.owned.values()]).toMatchObject([{ id: 'g', user: 'ann' }])
  })

  test('keeps its name otherwise, and is looked at ever more rarely until its time is over', async () => {
    const cases: readonly (readonly Made[])[] = [
      [],
      [
        { id: 'g-1', createdAt: 1_000_000 },
        { id: 'g-2', createdAt: 1_000_000 },
      ],
    ]
    for (const made of cases) {
      const { store, options, outcomes } = await scene([ended], made)
      const looks: number[] = []
      for (let due = ended.dueAt; due < 1_060_000; due = (await store.nextDue()) ?? 0) {
        looks.push(due - 1_000_000)
        await settle({ ...options, ...early(due) })
        expect([...store.open.values()]).toMatchObject([{ state: 'pending', endedAt: 1_000_000 }])
      }
      expect(looks).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000])
      expect(new Set(outcomes)).toEqual(new Set(['kept']))
      expect(await store.nextDue()).toBe(1_060_000)
      await settle({ ...options, ...early(1_060_000) })
      expect(outcomes.at(-1)).toBe(made.length === 0 ? 'released' : 'ambiguous')
      expect(await store.claim(wanted)).toBeDefined()
    }
  })

  test('is not fulfilled while another claim could have made the group', async () => {
    const { store, options, outcomes } = await scene([ended, { user: 'bob' }], [{ id: 'g', createdAt: 1_000_500 }])
    await settle({ ...options, ...early(1_001_000) })
    expect(outcomes).toEqual(['kept'])
    expect(store.owned.size).toBe(0)
  })

  test('is looked at again soon when the upstream or the store could not be asked', async () => {
    const { store, options } = await scene([ended], [])
    await settle({ ...options, ...early(1_004_000), find: () => Promise.reject(new Error('down')) })
    expect([...store.open.values()]).toMatchObject([{ state: 'pending', dueAt: 1_008_000 }])
  })

  test('as a renaming: keeps the new name until then', async () => {
    const { store, options, outcomes } = await scene([{ ...ended, renames: 'g' }], [])
    store.add({ id: 'g', user: 'ann', name: 'dogs' })
    await settle({ ...options, ...early(1_001_000) })
    expect(outcomes).toEqual(['kept'])
    expect(await store.claim(wanted)).toBeUndefined()
  })
})

describe('a rename that is due is settled', () => {
  const group = { id: 'g', user: 'ann', name: 'dogs', createdAt: 7 }

  test('the upstream carries the new name: so does the record', async () => {
    const { store, options, outcomes } = await scene([{ renames: 'g' }], [{ id: 'g', createdAt: 7 }])
    store.add(group)
    await settle(options)
    expect(outcomes).toEqual(['renamed'])
    expect(store.owned.get('g')).toMatchObject({ name: 'cats', createdAt: 7 })
  })

  test('it does not: the record keeps the old one', async () => {
    const { store, options, outcomes } = await scene([{ renames: 'g' }], [{ id: 'another', createdAt: 7 }])
    store.add(group)
    await settle(options)
    expect(outcomes).toEqual(['released'])
    expect(store.owned.get('g')).toMatchObject({ name: 'dogs' })
    expect(store.open.size).toBe(0)
  })

  test('the group is gone: so is the claim', async () => {
    const { store, options } = await scene([{ renames: 'g' }], [{ id: 'g', createdAt: 7 }])
    await settle(options)
    expect([store.owned.size, store.open.size]).toEqual([0, 0])
  })
})

describe('settling never throws', () => {
  for (const method of ['lease', 'group', 'adopt', 'release', 'doubt'] as const) {
    test(`${method} fails: the claim comes up again`, async () => {
      const made = {
        release: [],
        doubt: [
          { id: 'a', createdAt: 1_001_000 },
          { id: 'b', createdAt: 1_001_000 },
        ],
      }
      const { store, options, outcomes } = await scene(
        [{}],
        made[method as 'release'] ?? [{ id: 'g', createdAt: 1_001_000 }],
      )
      store.broken.add(method)
      await settle(options)
      expect(outcomes).toEqual(['failed'])
      expect(store.open.size).toBe(1)
      expect(store.owned.size).toBe(0)
      store.broken.clear()
      await settle({ ...options, now: () => 9_000_000 })
      expect(outcomes).toHaveLength(2)
    })
  }

  test('the upstream cannot be asked: other claims are settled all the same', async () => {
    const { store, options, outcomes } = await scene(
      [{}, { name: 'dogs' }],
      [{ id: 'g', createdAt: 1_001_000, name: 'dogs' }],
    )
    await settle({
      ...options,
      find: (type, name) => (name === 'cats' ? Promise.reject(new Error('down')) : options.find(type, name)),
    })
    expect(outcomes).toEqual(['failed', 'adopted'])
    expect([...store.open.values()]).toMatchObject([{ name: 'cats', state: 'pending' }])
  })
})

describe('settling goes on until it is told to stop', () => {
  test('at once, again when a claim falls due, and leaves no listener behind', async () => {
    const stop = new AbortController()
    const { store, options } = await scene([{ dueAt: 0 }], [])
    let rounds = 0
    const lease = store.lease.bind(store)
    store.lease = async (now, until) => {
      if (++rounds === 3) stop.abort()
      return lease(now, until)
    }
    store.nextDue = async () => 0
    await settleRegularly({ ...options, signal: stop.signal, everyMs: 5 })
    expect(rounds).toBe(3)
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(0)
    expect(store.open.size).toBe(0)
  })

  test('a store that fails does not end it', async () => {
    const stop = new AbortController()
    const { store, options } = await scene([], [])
    store.broken.add('lease').add('nextDue')
    let rounds = 0
    const log = {
      ...silent,
      warn: () => {
        if (++rounds === 2) stop.abort()
      },
    }
    await settleRegularly({ ...options, log, signal: stop.signal, everyMs: 1 })
    expect(rounds).toBe(2)
  })

  test('told before it begins, it does nothing', async () => {
    const { store, options } = await scene([{}], [])
    await settleRegularly({ ...options, signal: AbortSignal.abort() })
    expect(store.asked).toEqual([])
  })
})

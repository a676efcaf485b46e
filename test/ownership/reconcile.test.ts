import { describe, expect, test } from 'bun:test'
import { getEventListeners } from 'node:events'
import { type Claim, type ReconcileOptions, reconcile, reconcileRegularly } from 'sluice/ownership'
import { Background } from '../../plugins/shared/background/background.ts'
import { noLog } from '../../plugins/shared/problem.ts'
import { MemoryStore } from './memory.ts'

const wanted = { user: 'ann', type: 'AIGC', name: 'cats', createdAt: 1_000_000, dueAt: 1_060_000 }

interface Made {
  readonly id: string
  readonly createdAt: number | undefined
  readonly name?: string
}

/** Open claims, groups of the upstream, and a later time. */
const openFixture = async (claims: readonly Partial<Claim>[], made: readonly Made[]) => {
  const store = new MemoryStore()
  for (const claim of claims) await store.claim({ ...wanted, ...claim })
  store.calls.length = 0
  const outcomes: unknown[] = []
  const options: ReconcileOptions = {
    store,
    find: async (_, name) => made.filter((group) => (group.name ?? 'cats') === name),
    clock: { now: () => 2_000_000 },
    log: {
      ...noLog,
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

describe('the reconciliation of a due claim', () => {
  test('one matching group: it belongs to the claimant', async () => {
    const { store, options, outcomes } = await openFixture([{}], [{ id: 'g', createdAt: 1_001_000 }])
    const logged: string[] = []
    await reconcile({ ...options, onAdopted: ({ user, name }, group) => logged.push(`${group} of ${user}, ${name}`) })
    expect(logged).toEqual(['g of ann, cats'])
    expect(outcomes).toEqual(['adopted'])
    expect([...store.owned.values()]).toMatchObject([{ id: 'g', user: 'ann', name: 'cats', createdAt: 1_001_000 }])
    expect(store.open.size).toBe(0)
  })

  test('a group with an unreadable time matches, too', async () => {
    const { store, options } = await openFixture([{}], [{ id: 'g', createdAt: undefined }])
    await reconcile(options)
    expect(store.owned.has('g')).toBeTrue()
  })

  test('no matching group: the name is free', async () => {
    for (const made of [[], [{ id: 'old', createdAt: 1_000 }], [{ id: 'late', createdAt: 1_999_999 }]]) {
      const { store, options, outcomes } = await openFixture([{}], made)
      await reconcile(options)
      expect(outcomes).toEqual(['released'])
      expect([store.owned.size, store.open.size]).toEqual([0, 0])
    }
  })

  test('a group with an owner keeps this owner', async () => {
    const { store, options, outcomes } = await openFixture([{}], [{ id: 'g', createdAt: 1_001_000 }])
    store.add({ id: 'g', user: 'bob' })
    await reconcile(options)
    expect(outcomes).toEqual(['released'])
    expect(store.owned.get('g')).toMatchObject({ user: 'bob' })
  })

  test('several matching groups: none is assigned, the name is free, and an administrator must decide', async () => {
    const { store, options, outcomes } = await openFixture(
      [{}],
      [
        { id: 'g-1', createdAt: 1_001_000 },
        { id: 'g-2', createdAt: 1_002_000 },
      ],
    )
    await reconcile(options)
    expect(outcomes).toEqual(['ambiguous'])
    expect(store.owned.size).toBe(0)
    expect([...store.open.values()]).toMatchObject([{ state: 'unresolved' }])
    expect(await store.claim(wanted)).toBeDefined()
  })

  test('two users claim the same name: none of them receives the group', async () => {
    const { store, options, outcomes } = await openFixture([{}, { user: 'bob' }], [{ id: 'g', createdAt: 1_001_000 }])
    await reconcile(options)
    expect(outcomes).toEqual(['rival', 'rival'])
    expect(store.owned.size).toBe(0)
    for (const claim of store.open.values()) expect(claim.dueAt).toBeGreaterThan(2_000_000)
  })

  test('a claim whose search never ends delays no other', async () => {
    const names = ['endless', 'a', 'b', 'c', 'd', 'e']
    const claims = names.map((name, index) => ({ name, createdAt: 1_000_000 + index }))
    const made = names.slice(1).map((name) => ({ id: `g-${name}`, createdAt: 1_001_000, name }))
    const { store, options } = await openFixture(claims, made)
    const { promise, reject } = Promise.withResolvers<never>()
    const find: ReconcileOptions['find'] = (type, name, from) =>
      name === 'endless' ? promise : options.find(type, name, from)
    const reconciled = reconcile({ ...options, find })
    while (store.owned.size < 5) await new Promise((resolve) => setImmediate(resolve))
    expect([...store.open.values()].map(({ name }) => name)).toEqual(['endless'])
    reject(new Error('no response'))
    await reconciled
  })

  test('a claim that is not due is not changed', async () => {
    const { store, options } = await openFixture([{ dueAt: 3_000_000 }], [{ id: 'g', createdAt: 1_001_000 }])
    await reconcile(options)
    expect(store.open.size).toBe(1)
    expect(store.calls).toEqual(['lease'])
  })

  test('an open claim is checked with increasing intervals up to an hour', async () => {
    for (const [age, wait] of [
      [1_000_000, 1_000_000],
      [70_000, 70_000],
      [1_990_000, 1_990_000],
    ] as const) {
      const createdAt = 2_000_000 - age
      const { store, options } = await openFixture(
        [{ createdAt, dueAt: createdAt + 1 }],
        [
          { id: 'g-1', createdAt },
          { id: 'g-2', createdAt },
        ],
      )
      await reconcile(options)
      expect([...store.open.values()][0]?.dueAt).toBe(2_000_000 + Math.min(wait, 3_600_000))
    }
  })
})

describe('a claim whose upstream call may still run', () => {
  const early = (now: number) => ({ clock: { now: () => now }, callMs: 60_000 })
  const ended = { dueAt: 1_001_000, endedAt: 1_000_000 }

  test('is fulfilled as soon as one group matches', async () => {
    const { store, options, outcomes } = await openFixture([ended], [{ id: 'g', createdAt: 1_000_500 }])
    await reconcile({ ...options, ...early(1_001_000) })
    expect(outcomes).toEqual(['adopted'])
    expect([...store.owned.values()]).toMatchObject([{ id: 'g', user: 'ann' }])
  })

  test('otherwise is checked with increasing intervals until its deadline, and keeps its name for four seconds, or while groups match', async () => {
    const cases: readonly (readonly Made[])[] = [
      [],
      [
        { id: 'g-1', createdAt: 1_000_000 },
        { id: 'g-2', createdAt: 1_000_000 },
      ],
    ]
    for (const made of cases) {
      const { store, options, outcomes } = await openFixture([ended], made)
      const looks: number[] = []
      for (let due = ended.dueAt; due < 1_060_000; due = (await store.nextDue()) ?? 0) {
        looks.push(due - 1_000_000)
        await reconcile({ ...options, ...early(due) })
        const isReserved = made.length > 0 || due < 1_004_000
        expect([...store.open.values()]).toMatchObject([
          { state: isReserved ? 'pending' : 'unresolved', endedAt: 1_000_000 },
        ])
      }
      expect(looks).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000])
      expect(outcomes).toEqual(looks.map((ms) => (made.length === 0 && ms === 4_000 ? 'name freed' : 'kept')))
      expect(await store.nextDue()).toBe(1_060_000)
      await reconcile({ ...options, ...early(1_060_000) })
      expect(outcomes.at(-1)).toBe(made.length === 0 ? 'released' : 'ambiguous')
      expect(await store.claim(wanted)).toBeDefined()
    }
  })

  test('is checked at once, then after a second', async () => {
    const { store, options } = await openFixture([{ dueAt: 1_000_000, endedAt: 1_000_000 }], [])
    await reconcile({ ...options, ...early(1_000_000) })
    expect([...store.open.values()]).toMatchObject([{ state: 'pending', dueAt: 1_001_000 }])
  })

  test('belongs to its user when it appears after its name was freed, unless the user has created another group', async () => {
    for (const again of [false, true]) {
      const made: Made[] = []
      const { store, options, outcomes } = await openFixture([ended], made)
      await reconcile({ ...options, ...early(1_004_000) })
      const next = await store.claim(wanted)
      if (next && again) await store.confirm(next, { id: 'g-2', createdAt: 1_005_000 })
      else if (next) await store.release(next)
      made.push({ id: 'g-1', createdAt: 1_001_000 })
      if (again) made.push({ id: 'g-2', createdAt: 1_005_000 })
      await reconcile({ ...options, ...early(1_008_000) })
      await reconcile({ ...options, ...early(1_060_000) })
      expect(outcomes).toEqual(['name freed', ...(again ? ['kept', 'taken'] : ['adopted'])])
      expect([...store.owned.keys()]).toEqual([again ? 'g-2' : 'g-1'])
      expect([...store.open.values()]).toMatchObject(again ? [{ state: 'unresolved' }] : [])
    }
  })

  test('is not fulfilled while another claim could have created the group', async () => {
    const { store, options, outcomes } = await openFixture(
      [ended, { user: 'bob' }],
      [{ id: 'g', createdAt: 1_000_500 }],
    )
    await reconcile({ ...options, ...early(1_001_000) })
    expect(outcomes).toEqual(['kept'])
    expect(store.owned.size).toBe(0)
  })

  test('is checked again soon after an error of upstream or store', async () => {
    const { store, options } = await openFixture([ended], [])
    await reconcile({ ...options, ...early(1_004_000), find: () => Promise.reject(new Error('down')) })
    expect([...store.open.values()]).toMatchObject([{ state: 'pending', dueAt: 1_008_000 }])
  })

  test('for a renaming keeps the new name until then', async () => {
    const { store, options, outcomes } = await openFixture([{ ...ended, renames: 'g' }], [])
    store.add({ id: 'g', user: 'ann', name: 'dogs' })
    await reconcile({ ...options, ...early(1_001_000) })
    expect(outcomes).toEqual(['kept'])
    expect(await store.claim(wanted)).toBeUndefined()
  })
})

test('a search is for groups from the time of the claim on, less the clock skew: created for a creation, updated for a renaming', async () => {
  const { store, options } = await openFixture([{}, { name: 'dogs', renames: 'g' }], [])
  store.add({ id: 'g', user: 'ann', name: 'old', createdAt: 7 })
  const searches: unknown[] = []
  await reconcile({
    ...options,
    find: async (...search) => {
      searches.push(search)
      return []
    },
  })
  expect(searches).toEqual([
    ['AIGC', 'cats', { by: 'CreateTime', time: 700_000 }],
    ['AIGC', 'dogs', { by: 'UpdateTime', time: 700_000 }],
  ])
})

describe('the reconciliation of a due renaming', () => {
  const group = { id: 'g', user: 'ann', name: 'dogs', createdAt: 7 }

  test('the upstream has the new name: the record gets it', async () => {
    const { store, options, outcomes } = await openFixture([{ renames: 'g' }], [{ id: 'g', createdAt: 7 }])
    store.add(group)
    await reconcile(options)
    expect(outcomes).toEqual(['renamed'])
    expect(store.owned.get('g')).toMatchObject({ name: 'cats', createdAt: 7 })
  })

  test('the upstream has the old name: the record keeps it', async () => {
    const { store, options, outcomes } = await openFixture([{ renames: 'g' }], [{ id: 'another', createdAt: 7 }])
    store.add(group)
    await reconcile(options)
    expect(outcomes).toEqual(['released'])
    expect(store.owned.get('g')).toMatchObject({ name: 'dogs' })
    expect(store.open.size).toBe(0)
  })

  test('another group has got the new name: the claim is checked again at growing intervals, of at most an hour', async () => {
    const { store, options, outcomes } = await openFixture([{ renames: 'g' }], [{ id: 'g', createdAt: 7 }])
    store.add(group)
    store.add({ id: 'other', user: 'ann', name: 'cats' })
    for (const [now, dueAt] of [
      [1_060_000, 1_120_000],
      [1_120_000, 1_240_000],
      [4_600_000, 8_200_000],
      [90_000_000, 93_600_000],
    ] as const) {
      await reconcile({ ...options, clock: { now: () => now } })
      expect([...store.open.values()]).toMatchObject([{ state: 'unresolved', dueAt }])
    }
    expect(outcomes).toEqual(Array(4).fill('overtaken'))
  })

  test('the group had the name before: the claim is kept until the call can have no effect any more', async () => {
    const { store, options, outcomes } = await openFixture(
      [{ renames: 'g', endedAt: 1_000_000, dueAt: 1_000_000 }],
      [{ id: 'g', createdAt: 7 }],
    )
    store.add({ ...group, name: 'cats' })
    for (const now of [1_000_000, 1_001_000, 1_050_000]) await reconcile({ ...options, clock: { now: () => now } })
    expect(store.open.size).toBe(1)
    await reconcile({ ...options, clock: { now: () => 1_060_000 } })
    expect(store.open.size).toBe(0)
    expect(outcomes).toEqual(['kept', 'kept', 'name freed', 'released'])
  })

  test('the upstream has deleted the group: the claim is removed', async () => {
    const { store, options } = await openFixture([{ renames: 'g' }], [{ id: 'g', createdAt: 7 }])
    await reconcile(options)
    expect([store.owned.size, store.open.size]).toEqual([0, 0])
  })
})

describe('reconciliation never throws', () => {
  for (const method of ['lease', 'group', 'adopt', 'release', 'markUnresolved'] as const) {
    test(`${method} fails: the claim is retried`, async () => {
      const made = {
        release: [],
        markUnresolved: [
          { id: 'a', createdAt: 1_001_000 },
          { id: 'b', createdAt: 1_001_000 },
        ],
      }
      const { store, options, outcomes } = await openFixture(
        [{}],
        made[method as 'release'] ?? [{ id: 'g', createdAt: 1_001_000 }],
      )
      store.failing.add(method)
      await reconcile(options)
      expect(outcomes).toEqual(['failed'])
      expect(store.open.size).toBe(1)
      expect(store.owned.size).toBe(0)
      store.failing.clear()
      await reconcile({ ...options, clock: { now: () => 9_000_000 } })
      expect(outcomes).toHaveLength(2)
    })
  }

  test('the upstream fails for one claim: the others are reconciled', async () => {
    const { store, options, outcomes } = await openFixture(
      [{}, { name: 'dogs' }],
      [{ id: 'g', createdAt: 1_001_000, name: 'dogs' }],
    )
    await reconcile({
      ...options,
      find: (type, name, from) =>
        name === 'cats' ? Promise.reject(new Error('down')) : options.find(type, name, from),
    })
    expect(outcomes).toEqual(['failed', 'adopted'])
    expect([...store.open.values()]).toMatchObject([{ name: 'cats', state: 'pending' }])
  })
})

/** Resolves when somebody has stopped the work, and it has ended. */
const ended = async (background: Background): Promise<void> => {
  await new Promise((resolve) => background.signal.addEventListener('abort', resolve, { once: true }))
  await background.stop()
}

describe('the reconciliation loop', () => {
  test('runs at the start and whenever a claim is due, and removes its listener at the end', async () => {
    const background = new Background()
    const { store, options } = await openFixture([{ dueAt: 0 }], [])
    let rounds = 0
    const lease = store.lease.bind(store)
    store.lease = async (now, until) => {
      if (++rounds === 3) void background.stop()
      return lease(now, until)
    }
    store.nextDue = async () => 0
    reconcileRegularly({ ...options, everyMs: 5 }, background)
    await ended(background)
    expect(rounds).toBe(3)
    expect(getEventListeners(background.signal, 'abort')).toHaveLength(0)
    expect(store.open.size).toBe(0)
  })

  test('continues after a store error', async () => {
    const background = new Background()
    const { store, options } = await openFixture([], [])
    store.failing.add('lease').add('nextDue')
    let rounds = 0
    const log = {
      ...noLog,
      warn: () => {
        if (++rounds === 2) void background.stop()
      },
    }
    reconcileRegularly({ ...options, log, everyMs: 1 }, background)
    await ended(background)
    expect(rounds).toBe(2)
  })

  test('does nothing when it is stopped before the start', async () => {
    const { store, options } = await openFixture([{}], [])
    const background = new Background()
    await background.stop()
    reconcileRegularly(options, background)
    await background.stop()
    expect(store.calls).toEqual([])
  })
})

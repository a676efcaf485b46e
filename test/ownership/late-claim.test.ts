import { describe, expect, test } from 'bun:test'
import { type Claim, type ClaimEffect, type WantedClaim, withClaim } from 'sluice/ownership'
import { VirtualClock } from '../support/virtual-clock.ts'
import { MemoryStore } from './memory.ts'

/** A store whose database freezes: calls that reach it fail for their caller, and inserts take effect when it thaws. */
class FreezingStore extends MemoryStore {
  frozen = false
  readonly late: (() => void)[] = []
  /** Attempts to end a claim while the database was frozen. */
  rejections = 0

  thaw(): void {
    this.frozen = false
  }

  /** The inserts of the frozen database take effect. */
  commitLate(): void {
    for (const commit of this.late.splice(0)) commit()
  }

  #reject(): never {
    this.rejections++
    throw new Error('the database did not respond in time')
  }

  override async claim(wanted: WantedClaim) {
    if (!this.frozen) return super.claim(wanted)
    this.late.push(() => this.open.set(wanted.id ?? '', { ...wanted, id: wanted.id ?? '', state: 'pending' }))
    return this.#reject()
  }

  override async release(claim: Claim) {
    return this.frozen ? this.#reject() : super.release(claim)
  }

  override async markUnresolved(claim: Claim, dueAt: number) {
    return this.frozen ? this.#reject() : super.markUnresolved(claim, dueAt)
  }

  override async postpone(claim: Claim, endedAt: number, dueAt: number) {
    return this.frozen ? this.#reject() : super.postpone(claim, endedAt, dueAt)
  }
}

const openFixture = () => {
  const store = new FreezingStore()
  const clock = new VirtualClock()
  const calls: string[] = []
  const create = (name: string, send: () => Promise<string> = async () => `g-${calls.length}`) =>
    withClaim({
      ...{ store, clock, idOf: (id: string) => id },
      wanted: { user: 'ann', type: 'AIGC', name, createdAt: clock.now(), dueAt: clock.now() + 60_000 },
      send: () => {
        calls.push(name)
        return send()
      },
      effectOf: (error) => (error as Error).message as ClaimEffect,
    }).then(
      () => 'made',
      (error: { status?: number; message: string }) => `${error.status} ${error.message}`,
    )
  return { store, clock, calls, create }
}

const unchecked = '500 failed to check asset group'

describe('a claim that a frozen database writes after the caller has got its error', () => {
  test.each([0, 1_000, 6_000])('is released, also if that is %d ms after the thaw', async (ms) => {
    const { store, clock, calls, create } = openFixture()
    store.frozen = true
    expect(await create('cats')).toBe(unchecked)
    await clock.pass(20_000)
    expect(store.rejections).toBeGreaterThan(1)
    store.thaw()
    await clock.pass(ms)
    store.commitLate()
    await clock.pass(9_000)
    expect(store.open.size).toBe(0)
    expect(calls).toEqual([])
    expect(await create('cats')).toBe('made')
    expect(clock.pending).toBeLessThanOrEqual(1)
  })

  test('is never one that another creation has made since', async () => {
    const { store, clock, create } = openFixture()
    store.frozen = true
    expect(await create('cats')).toBe(unchecked)
    store.thaw()
    expect(await create('cats')).toBe('made')
    await clock.pass(60_000)
    expect([...store.owned.values()]).toMatchObject([{ name: 'cats', user: 'ann' }])
  })

  test('is left to reconciliation after its time', async () => {
    const { store, clock, create } = openFixture()
    store.frozen = true
    expect(await create('cats')).toBe(unchecked)
    await clock.pass(120_000)
    expect(clock.pending).toBe(0)
    const before = store.rejections
    store.thaw()
    await clock.pass(60_000)
    expect(store.rejections).toBe(before)
    expect(store.calls).toEqual([])
  })
})

test('a thousand creations on a frozen database cost one attempt after each delay', async () => {
  const { store, clock, create } = openFixture()
  store.frozen = true
  await Promise.all(Array.from({ length: 2_000 }, (_, nth) => create(`name ${nth}`)))
  const before = store.rejections
  await clock.pass(30_000)
  expect(store.rejections - before).toBeLessThanOrEqual(10)
  expect(clock.pending).toBe(1)
  store.commitLate()
  store.thaw()
  await clock.pass(6_000)
  // The rest waits for reconciliation.
  expect(store.open.size).toBe(1_000)
})

describe('when the database is frozen at the end of a failed creation', () => {
  test.each([
    ['none', []],
    ['possible', [{ state: 'unresolved', name: 'cats' }]],
    ['unknown', [{ state: 'pending', endedAt: 1_000_000, dueAt: 1_000_000 }]],
  ] as const)('and its effect is %s, the claim ends as soon as it responds', async (effect, open) => {
    const { store, clock, create } = openFixture()
    const failing = async () => {
      store.frozen = true
      throw new Error(effect)
    }
    expect(await create('cats', failing)).toBe(`undefined ${effect}`)
    expect([...store.open.values()]).toMatchObject([{ state: 'pending' }])
    await clock.pass(10_000)
    store.thaw()
    await clock.pass(5_000)
    expect([...store.open.values()]).toMatchObject([...open])
  })
})

test('a claim whose end the store never accepts does not keep the ends of others waiting', async () => {
  const { store, clock, create } = openFixture()
  store.frozen = true
  for (const name of ['poisoned', 'cats', 'dogs']) {
    expect(await create(name)).toBe(unchecked)
    await clock.pass(1)
  }
  store.commitLate()
  const release = store.release.bind(store)
  store.release = async (claim) => {
    if (claim.name === 'poisoned') throw new Error('not accepted')
    return release(claim)
  }
  store.thaw()
  await clock.pass(10_000)
  expect([...store.open.values()].map(({ name }) => name)).toEqual(['poisoned'])
})

import { beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { Store } from '../../src/store/index.ts'
import { eachDatabase } from '../support/database.ts'

eachDatabase('lease', (database) => {
  let store: Store
  let other: Store
  beforeAll(async () => {
    store = await database.open()
    other = await database.open()
  })

  const claim = async (createdAt: number, dueAt: number) => {
    const made = await store.claim({ user: randomUUID(), type: 'AIGC', name: 'cats', createdAt, dueAt })
    if (!made) throw new Error('the name is taken')
    return made
  }
  const releaseAll = async () => {
    for (const open of await store.openClaims()) await store.release(open)
  }

  test('returns the due claims, oldest first, and `nextDue` returns the next due time', async () => {
    await releaseAll()
    expect(await store.nextDue()).toBeUndefined()
    const [late, early, pending] = [await claim(20, 100), await claim(10, 100), await claim(5, 101)]
    await store.markUnresolved(early, 100)
    expect(await store.nextDue()).toBe(100)
    expect(await store.lease(99, 500)).toEqual([])
    expect(await store.lease(100, 500)).toEqual([
      { ...early, state: 'unresolved', dueAt: 500 },
      { ...late, dueAt: 500 },
    ])
    expect(await store.nextDue()).toBe(pending.dueAt)
  })

  test('returns no claim twice before it is due again', async () => {
    await releaseAll()
    await claim(1, 100)
    expect(await store.lease(100, 500)).toHaveLength(1)
    expect(await store.lease(499, 900)).toHaveLength(0)
    expect(await store.lease(500, 900)).toHaveLength(1)
  })

  test('returns no group', async () => {
    await releaseAll()
    await store.confirm(await claim(1, 100), { id: randomUUID(), createdAt: 1 })
    expect(await store.lease(1_000, 2_000)).toEqual([])
    expect(await store.nextDue()).toBeUndefined()
  })

  test('returns at most 100 claims, the oldest', async () => {
    await releaseAll()
    await Promise.all(Array.from({ length: 120 }, (_, index) => claim(index, 100)))
    const leased = await store.lease(100, 500)
    expect(leased.map((each) => each.createdAt)).toEqual(Array.from({ length: 100 }, (_, index) => index))
    expect(await store.lease(100, 500)).toHaveLength(20)
  })

  test('returns each claim to one of several processes only', async () => {
    for (let round = 0; round < 10; round++) {
      await releaseAll()
      await Promise.all(Array.from({ length: 40 }, (_, index) => claim(index, 100)))
      const leased = await Promise.all(
        Array.from({ length: 8 }, (_, index) => (index % 2 ? store : other).lease(100, 500)),
      )
      const ids = leased.flat().map((each) => each.id)
      expect(ids).toHaveLength(40)
      expect(new Set(ids).size).toBe(40)
    }
  })
})

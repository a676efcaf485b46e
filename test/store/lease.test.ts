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
  const empty = async () => {
    for (const open of await store.openClaims()) await store.release(open)
  }

  test('gives what is due, oldest first, and says when the next falls due', async () => {
    await empty()
    expect(await store.nextDue()).toBeUndefined()
    const [late, early, pending] = [await claim(20, 100), await claim(10, 100), await claim(5, 101)]
    await store.doubt(early, 100)
    expect(await store.nextDue()).toBe(100)
    expect(await store.lease(99, 500)).toEqual([])
    expect(await store.lease(100, 500)).toEqual([
      { ...early, state: 'unresolved', dueAt: 500 },
      { ...late, dueAt: 500 },
    ])
    expect(await store.nextDue()).toBe(pending.dueAt)
  })

  test('gives nothing twice before it falls due again', async () => {
    await empty()
    await claim(1, 100)
    expect(await store.lease(100, 500)).toHaveLength(1)
    expect(await store.lease(499, 900)).toHaveLength(0)
    expect(await store.lease(500, 900)).toHaveLength(1)
  })

  test('gives no group', async () => {
    await empty()
    await store.confirm(await claim(1, 100), { id: randomUUID(), createdAt: 1 })
    expect(await store.lease(1_000, 2_000)).toEqual([])
    expect(await store.nextDue()).toBeUndefined()
  })

  test('gives at most 100, the oldest', async () => {
    await empty()
    await Promise.all(Array.from({ length: 120 }, (_, index) => claim(index, 100)))
    const leased = await store.lease(100, 500)
    expect(leased.map((each) => each.createdAt)).toEqual(Array.from({ length: 100 }, (_, index) => index))
    expect(await store.lease(100, 500)).toHaveLength(20)
  })

  test('gives each claim to one of several processes', async () => {
    for (let round = 0; round < 10; round++) {
      await empty()
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

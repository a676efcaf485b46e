import { beforeAll, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { Store } from '../../src/store/index.ts'
import { eachDatabase } from '../support/database.ts'

const wanted = (user: string, name = 'cats') => ({ user, type: 'AIGC', name, createdAt: 1_000, dueAt: 2_000 })

eachDatabase('claim', (database) => {
  let store: Store
  let other: Store
  beforeAll(async () => {
    store = await database.open()
    other = await database.open()
  })

  const claim = async (user: string, name?: string) => {
    const made = await store.claim(wanted(user, name))
    if (!made) throw new Error('the name is taken')
    return made
  }

  test('of 50 concurrent claims of one name, in two stores, exactly one succeeds', async () => {
    const user = randomUUID()
    const claims = await Promise.all(
      Array.from({ length: 50 }, (_, index) => (index % 2 ? store : other).claim(wanted(user))),
    )
    expect(claims.filter((claim) => claim !== undefined)).toHaveLength(1)
  })

  test('a name is unique per user and type', async () => {
    const user = randomUUID()
    expect(await store.claim(wanted(user))).toEqual({ ...wanted(user), id: expect.any(String), state: 'pending' })
    expect(await store.claim(wanted(user))).toBeUndefined()
    expect(await store.claim({ ...wanted(user), type: 'LivenessFace' })).toBeDefined()
    expect(await store.claim(wanted(randomUUID()))).toBeDefined()
    expect(await store.claim(wanted(user, 'Cats'))).toBeDefined()
  })

  test('a group holds its name like a claim', async () => {
    const user = randomUUID()
    await store.confirm(await claim(user), { id: randomUUID(), createdAt: 1 })
    expect(await store.claim(wanted(user))).toBeUndefined()
  })

  test('a claim is not listed as a group', async () => {
    const user = randomUUID()
    await claim(user)
    expect(await store.groupsOf(user)).toEqual([])
  })

  describe('release', () => {
    test('frees the name at once', async () => {
      const user = randomUUID()
      await store.release(await claim(user))
      expect(await store.claim(wanted(user))).toBeDefined()
    })

    test('does not change a group that the claim has meanwhile become', async () => {
      const user = randomUUID()
      const made = await claim(user)
      await other.confirm(made, { id: `g-${user}`, createdAt: 1 })
      await store.release(made)
      expect(await store.group(`g-${user}`)).toBeDefined()
    })
  })

  describe('keep', () => {
    test('holds the name, reports it as unsettled, and moves the due time', async () => {
      const user = randomUUID()
      const made = await claim(user)
      expect(await store.hasUnresolved(made)).toBe(false)
      await store.postpone(made, 1_500, 1_600)
      expect(await store.claim(wanted(user))).toBeUndefined()
      for (const [asked, unsettled] of [
        [made, true],
        [{ ...made, user: randomUUID() }, false],
        [{ ...made, type: 'LivenessFace' }, false],
        [{ ...made, name: 'Cats' }, false],
      ] as const) {
        expect(await other.hasUnresolved(asked)).toBe(unsettled)
      }
      const kept = { ...made, endedAt: 1_500, dueAt: 1_600 }
      expect(await store.openClaims()).toContainEqual(kept)
      expect(await other.lease(1_600, 5_000)).toContainEqual({ ...kept, dueAt: 5_000 })
    })

    test('does not change a group that the claim has meanwhile become', async () => {
      const user = randomUUID()
      const made = await claim(user)
      await other.confirm(made, { id: `g-${user}`, createdAt: 1 })
      await store.postpone(made, 1_500, 1_600)
      expect(await store.group(`g-${user}`)).toBeDefined()
      expect(await store.hasUnresolved(made)).toBe(false)
    })

    test('does not restore a claim that was released meanwhile', async () => {
      const user = randomUUID()
      const made = await claim(user)
      await store.release(made)
      await store.postpone(made, 1_500, 1_600)
      expect(await store.claim(wanted(user))).toBeDefined()
    })
  })

  describe('markUnresolved', () => {
    test('frees the name and keeps the claim', async () => {
      const user = randomUUID()
      const made = await claim(user)
      await store.markUnresolved(made, 9_000)
      expect(await store.claim(wanted(user))).toBeDefined()
      expect(await store.openClaims()).toContainEqual({ ...made, state: 'unresolved', dueAt: 9_000 })
    })

    test('restores a claim that was released meanwhile', async () => {
      const made = await claim(randomUUID())
      await store.release(made)
      await store.markUnresolved(made, 9_000)
      expect(await store.openClaims()).toContainEqual({ ...made, state: 'unresolved', dueAt: 9_000 })
    })

    test('does not change a group that the claim has meanwhile become', async () => {
      const user = randomUUID()
      const made = await claim(user)
      await other.confirm(made, { id: `g-${user}`, createdAt: 1 })
      await store.markUnresolved(made, 9_000)
      expect(await store.group(`g-${user}`)).toBeDefined()
    })

    test('keeps the known id of the group', async () => {
      const user = randomUUID()
      const made = await claim(user)
      await store.release(made)
      await claim(user)
      expect(await store.confirm(made, { id: `g-${user}`, createdAt: 1 })).toBe(false)
      await store.markUnresolved(made, 9_000)
      expect(await store.openClaims()).toContainEqual(expect.objectContaining({ id: made.id, group: `g-${user}` }))
    })
  })
})

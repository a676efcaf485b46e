import { beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { Store } from '../../src/store/index.ts'
import { eachDatabase } from '../support/database.ts'

eachDatabase('adopt', (database) => {
  let store: Store
  let other: Store
  beforeAll(async () => {
    store = await database.open()
    other = await database.open()
  })

  const claim = async (user: string, name: string) => {
    const made = await store.claim({ user, type: 'AIGC', name, createdAt: 1_000, dueAt: 2_000 })
    if (!made) throw new Error('the name is taken')
    return made
  }
  const openClaimsOf = async (user: string) => (await store.openClaims()).filter((open) => open.user === user)

  test('a claim without a rival adopts the group', async () => {
    const [user, name] = [randomUUID(), randomUUID()]
    expect(await store.adopt(await claim(user, name), { id: `g-${user}`, createdAt: 7 })).toBe('adopted')
    expect(await store.group(`g-${user}`)).toEqual({ id: `g-${user}`, user, type: 'AIGC', name, createdAt: 7 })
    expect(await openClaimsOf(user)).toEqual([])
  })

  test('an unresolved claim adopts the group too', async () => {
    const [user, name] = [randomUUID(), randomUUID()]
    const made = await claim(user, name)
    await store.markUnresolved(made, 9_000)
    expect(await store.adopt(made, { id: `g-${user}`, createdAt: 7 })).toBe('adopted')
  })

  test('any other open claim of the same type and name, of any user and in any state, is a rival', async () => {
    const [user, otherUser, name] = [randomUUID(), randomUUID(), randomUUID()]
    const made = await claim(user, name)
    const rival = await claim(otherUser, name)
    for (const state of ['pending', 'unresolved']) {
      if (state === 'unresolved') await store.markUnresolved(rival, 2_000)
      expect(await store.adopt(made, { id: `g-${user}`, createdAt: 7 })).toBe('rival')
      expect(await openClaimsOf(user)).toEqual([made])
    }
    await store.release(rival)
    expect(await store.adopt(made, { id: `g-${user}`, createdAt: 7 })).toBe('adopted')
  })

  test('a claim of another type, or another user’s group of the same name, is no rival', async () => {
    const [user, otherUser, name] = [randomUUID(), randomUUID(), randomUUID()]
    await store.confirm(await claim(otherUser, name), { id: `g-${otherUser}`, createdAt: 1 })
    await store.claim({ user: otherUser, type: 'LivenessFace', name, createdAt: 1_000, dueAt: 2_000 })
    expect(await store.adopt(await claim(user, name), { id: `g-${user}`, createdAt: 7 })).toBe('adopted')
  })

  test('a group that its owner has deleted meanwhile is taken: an older list of the upstream may still have it', async () => {
    const [user, owner, name] = [randomUUID(), randomUUID(), randomUUID()]
    const group = { id: `g-${owner}`, createdAt: 1 }
    await store.confirm(await claim(owner, name), group)
    const made = await claim(user, name)
    await other.removeGroup({ id: group.id, user: owner })
    expect(await store.adopt(made, group)).toBe('taken')
    expect(await store.group(group.id)).toBeUndefined()
    expect(await openClaimsOf(user)).toEqual([made])
  })

  test('a group is adopted by nobody while its owner deletes it', async () => {
    for (let round = 0; round < 20; round++) {
      const [user, owner, name] = [randomUUID(), randomUUID(), randomUUID()]
      const group = { id: `g-${owner}`, createdAt: 1 }
      await store.confirm(await claim(owner, name), group)
      const made = await claim(user, name)
      const removed = other.removeGroup({ id: group.id, user: owner })
      expect(await store.adopt(made, group)).toBe('taken')
      await removed
      expect(await store.adopt(made, group)).toBe('taken')
    }
  })

  test('a group with an owner, or a name that went to another group, is taken, and nothing changes', async () => {
    const [user, owner, name] = [randomUUID(), randomUUID(), randomUUID()]
    await store.confirm(await claim(owner, name), { id: `g-${owner}`, createdAt: 1 })
    const made = await claim(user, name)
    expect(await store.adopt(made, { id: `g-${owner}`, createdAt: 7 })).toBe('taken')
    expect(await openClaimsOf(user)).toEqual([made])
    expect((await store.group(`g-${owner}`))?.user).toBe(owner)

    await store.markUnresolved(made, 2_000)
    await store.confirm(await claim(user, name), { id: `first-${user}`, createdAt: 1 })
    expect(await store.adopt(made, { id: `g-${user}`, createdAt: 7 })).toBe('taken')
    expect(await openClaimsOf(user)).toEqual([{ ...made, state: 'unresolved' }])
  })

  test('two concurrent rivals never both adopt a group', async () => {
    for (let round = 0; round < 20; round++) {
      const [a, b, name] = [randomUUID(), randomUUID(), randomUUID()]
      const [first, second] = [await claim(a, name), await claim(b, name)]
      const outcomes = await Promise.all([
        store.adopt(first, { id: name, createdAt: 7 }),
        other.adopt(second, { id: name, createdAt: 7 }),
      ])
      expect(outcomes.filter((outcome) => outcome === 'adopted').length).toBeLessThan(2)
    }
  })

  test('of an adoption and a concurrent confirmation of the same group by another claim, exactly one succeeds', async () => {
    for (let round = 0; round < 40; round++) {
      const [a, b, name, id] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
      const [maker, finder] = [await claim(a, name), await claim(b, name)]
      const [confirmed, adopted] = await Promise.all([
        store.confirm(maker, { id, createdAt: 7 }),
        other.adopt(finder, { id, createdAt: 7 }),
      ])
      expect([confirmed, adopted === 'adopted'].filter(Boolean)).toHaveLength(1)
      expect((await store.group(id))?.user).toBe(confirmed ? a : b)
    }
  })

  test('with a concurrent confirm, doubt and release of the same claim, the group has one owner, or an open claim names it', async () => {
    for (let round = 0; round < 40; round++) {
      const [user, name, id] = [randomUUID(), randomUUID(), randomUUID()]
      const made = await claim(user, name)
      const [confirmed] = await Promise.all([
        store.confirm(made, { id, createdAt: 7 }),
        other.adopt(made, { id, createdAt: 7 }),
        round % 2 ? other.release(made) : other.markUnresolved(made, 9_000),
      ])
      expect(confirmed).toBe(true)
      expect(await store.groupsOf(user)).toHaveLength(1)
      expect(await openClaimsOf(user)).toEqual([])
    }
  })
})

import { beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { Store } from '../../src/store/index.ts'
import { eachDatabase } from '../support/database.ts'

eachDatabase('confirm', (database) => {
  let store: Store
  let other: Store
  beforeAll(async () => {
    store = await database.open()
    other = await database.open()
  })

  const claim = async (user: string, name = 'cats') => {
    const made = await store.claim({ user, type: 'AIGC', name, description: 'all', createdAt: 1_000, dueAt: 2_000 })
    if (!made) throw new Error('the name is taken')
    return made
  }
  const openClaimsOf = async (user: string) => (await store.openClaims()).filter((open) => open.user === user)

  test('makes the user the owner of the group, with its id and creation time', async () => {
    const user = randomUUID()
    expect(await store.confirm(await claim(user), { id: `g-${user}`, createdAt: 1_500 })).toBe(true)
    const group = { id: `g-${user}`, user, type: 'AIGC', name: 'cats', description: 'all', createdAt: 1_500 }
    expect(await other.group(`g-${user}`)).toEqual(group)
    expect(await other.groupsOf(user)).toEqual([group])
    expect(await openClaimsOf(user)).toEqual([])
  })

  test('is the outcome of a claim, which is open until then, also when its group belongs to another', async () => {
    const [user, foreign] = [randomUUID(), randomUUID()]
    const made = await claim(user)
    expect(await other.claimOutcome(made.id)).toBe('open')
    expect(await store.confirm(await claim(foreign), { id: `g-${foreign}`, createdAt: 1 })).toBe(true)
    expect(await store.confirm(made, { id: `g-${foreign}`, createdAt: 1 })).toBe(false)
    expect(await other.claimOutcome(made.id)).toBe('open')
    expect(await store.confirm(made, { id: `g-${user}`, createdAt: 1 })).toBe(true)
    expect(await other.claimOutcome(made.id)).toEqual({ group: `g-${user}` })
    const released = await claim(user, 'dogs')
    await store.release(released)
    expect(await other.claimOutcome(released.id)).toBeUndefined()
  })

  test('works for a claim that was released meanwhile', async () => {
    const user = randomUUID()
    const made = await claim(user)
    await other.release(made)
    expect(await store.confirm(made, { id: `g-${user}`, createdAt: 1 })).toBe(true)
    expect(await store.groupsOf(user)).toHaveLength(1)
  })

  test('works for a claim that became unresolved meanwhile', async () => {
    const user = randomUUID()
    const made = await claim(user)
    await other.markUnresolved(made, 9_000)
    expect(await store.confirm(made, { id: `g-${user}`, createdAt: 1 })).toBe(true)
    expect(await openClaimsOf(user)).toEqual([])
  })

  test('works for a claim that was already confirmed or adopted with that group', async () => {
    const user = randomUUID()
    const made = await claim(user, randomUUID())
    expect(await other.adopt(made, { id: `g-${user}`, createdAt: 1 })).toBe('adopted')
    expect(await store.confirm(made, { id: `g-${user}`, createdAt: 1 })).toBe(true)
    expect(await openClaimsOf(user)).toEqual([])
  })

  test('keeps the claim with the id of the group when the name is taken by now', async () => {
    const user = randomUUID()
    const made = await claim(user)
    await other.release(made)
    await store.confirm(await claim(user), { id: `first-${user}`, createdAt: 1 })
    expect(await store.confirm(made, { id: `g-${user}`, createdAt: 1 })).toBe(false)
    expect(await openClaimsOf(user)).toEqual([{ ...made, state: 'unresolved', group: `g-${user}` }])
    expect(await store.group(`g-${user}`)).toBeUndefined()
  })

  test('keeps the claim with the id of the group, and frees its name, when the group has an owner by now', async () => {
    const [user, thief] = [randomUUID(), randomUUID()]
    await store.confirm(await claim(thief), { id: `g-${user}`, createdAt: 1 })
    const made = await claim(user)
    expect(await store.confirm(made, { id: `g-${user}`, createdAt: 1 })).toBe(false)
    expect(await openClaimsOf(user)).toEqual([{ ...made, state: 'unresolved', group: `g-${user}` }])
    expect((await store.group(`g-${user}`))?.user).toBe(thief)
    await claim(user)
  })

  test('adds an unresolved claim for the group when the claim was adopted with another group', async () => {
    const user = randomUUID()
    const made = await claim(user, randomUUID())
    await other.adopt(made, { id: `wrong-${user}`, createdAt: 1 })
    expect(await store.confirm(made, { id: `g-${user}`, createdAt: 1 })).toBe(false)
    expect((await store.group(`wrong-${user}`))?.user).toBe(user)
    expect(await openClaimsOf(user)).toEqual([
      { ...made, id: expect.any(String), state: 'unresolved', group: `g-${user}` },
    ])
  })

  test('succeeds for one of many users who confirm one group concurrently, and keeps the claims of all others', async () => {
    const users = Array.from({ length: 12 }, () => randomUUID())
    const claims = await Promise.all(users.map((user) => claim(user)))
    const id = randomUUID()
    const confirmed = await Promise.all(
      claims.map((made, index) => (index % 2 ? store : other).confirm(made, { id, createdAt: 1 })),
    )
    expect(confirmed.filter(Boolean)).toHaveLength(1)
    expect((await store.openClaims()).filter((open) => open.group === id)).toHaveLength(11)
  })
})

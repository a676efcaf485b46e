import { beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { Store } from '../../src/store/index.ts'
import { eachDatabase } from '../support/database.ts'

eachDatabase('admin changes of claims and groups', (database) => {
  let store: Store
  let other: Store
  beforeAll(async () => {
    store = await database.open()
    other = await database.open()
  })

  const wanted = (user: string) => ({ user, type: 'AIGC', name: 'cats', createdAt: 1_000 })
  const claim = async (user: string, more: { renames?: string; description?: string } = {}) => {
    const made = await store.claim({ ...wanted(user), dueAt: 2_000, ...more })
    if (!made) throw new Error('the name is taken')
    return made
  }
  const openClaimsOf = async (user: string) => (await store.openClaims()).filter((open) => open.user === user)

  test('adopting a group raises the revision', async () => {
    const [user, id] = [randomUUID(), randomUUID()]
    const before = await store.revision()
    expect(await store.adoptGroup({ ...wanted(user), id })).toBeUndefined()
    expect(await store.group(id)).toEqual({ ...wanted(user), id })
    expect(await store.revision()).toBeGreaterThan(before)
  })

  test('adopting a group resolves an open claim of the same user, type and name', async () => {
    const [user, id] = [randomUUID(), randomUUID()]
    const made = await claim(user, { description: 'all' })
    await store.markUnresolved(made, 2_000)
    await claim(randomUUID())
    expect(await store.adoptGroup({ ...wanted(user), createdAt: 9_000, id })).toBeUndefined()
    expect(await store.group(id)).toEqual({ ...wanted(user), id, description: 'all' })
    expect(await openClaimsOf(user)).toEqual([])
  })

  test('of several open claims, only the one that names the group is resolved', async () => {
    const user = randomUUID()
    const unknown = await claim(user)
    await store.markUnresolved(unknown, 2_000)
    const known = await claim(user)
    await store.markUnresolved(known, 2_000)
    const current = await claim(user)
    const confirm = (of: typeof known, id: string) => other.confirm(of, { id: id + user, createdAt: 1 })
    expect(await confirm(known, 'b')).toBe(false)
    await store.release(current)
    expect(await store.adoptGroup({ ...wanted(user), id: `b${user}` })).toBeUndefined()
    expect((await openClaimsOf(user)).map((open) => open.id)).toEqual([unknown.id])
  })

  test('a claim that names another group stays open', async () => {
    const user = randomUUID()
    const known = await claim(user)
    await store.release(known)
    const current = await claim(user)
    await store.confirm(known, { id: `b${user}`, createdAt: 1 })
    await store.release(current)
    expect(await store.adoptGroup({ ...wanted(user), id: `c${user}` })).toBeUndefined()
    expect((await openClaimsOf(user)).map((open) => open.group)).toEqual([`b${user}`])
  })

  test('a claim that renames another group stays open', async () => {
    const [user, id] = [randomUUID(), randomUUID()]
    const renaming = await claim(user, { renames: randomUUID() })
    await store.markUnresolved(renaming, 2_000)
    expect(await store.adoptGroup({ ...wanted(user), id })).toBeUndefined()
    expect((await openClaimsOf(user)).map((open) => open.id)).toEqual([renaming.id])
  })

  test('a group that has an owner cannot be adopted, with or without an open claim', async () => {
    const [user, owner, id] = [randomUUID(), randomUUID(), randomUUID()]
    await store.adoptGroup({ ...wanted(owner), id })
    expect(await store.adoptGroup({ ...wanted(user), id })).toBe('group taken')
    expect(await store.adoptGroup({ ...wanted(owner), id })).toBe('group taken')
    const made = await claim(user)
    expect(await store.adoptGroup({ ...wanted(user), id })).toBe('group taken')
    expect(await openClaimsOf(user)).toEqual([made])
    expect((await store.group(id))?.user).toBe(owner)
  })

  test('a group cannot be adopted under a name that the user already has', async () => {
    const [user, id] = [randomUUID(), randomUUID()]
    await store.adoptGroup({ ...wanted(user), id: randomUUID() })
    expect(await store.adoptGroup({ ...wanted(user), id })).toBe('name taken')
    expect(await store.group(id)).toBeUndefined()
  })

  test('of many concurrent adoptions of one group, exactly one succeeds', async () => {
    const id = randomUUID()
    const outcomes = await Promise.all(
      Array.from({ length: 12 }, (_, index) => (index % 2 ? store : other).adoptGroup({ ...wanted(randomUUID()), id })),
    )
    expect(outcomes.filter((outcome) => outcome === undefined)).toHaveLength(1)
    expect(outcomes.filter((outcome) => outcome === 'group taken')).toHaveLength(11)
  })

  test('with a concurrent confirmation of the same claim, each group has an owner, or an open claim names it', async () => {
    for (let round = 0; round < 30; round++) {
      const user = randomUUID()
      const made = await claim(user)
      const [adopted, confirmed] = await Promise.all([
        store.adoptGroup({ ...wanted(user), id: `hand-${user}` }),
        other.confirm(made, { id: `made-${user}`, createdAt: 1 }),
      ])
      expect([adopted === undefined, confirmed].filter(Boolean)).toHaveLength(1)
      const known = [
        ...(await store.groupsOf(user)).map((g) => g.id),
        ...(await openClaimsOf(user)).map((open) => open.group),
      ]
      expect(known).toContain(`made-${user}`)
      if (adopted === undefined) expect(known).toContain(`hand-${user}`)
    }
  })

  test('an open claim is listed with the name of its user, and can be dropped', async () => {
    const name = randomUUID()
    const user = await store.addUser({ name, createdAt: 1 })
    const made = await claim(user ?? '')
    expect(await openClaimsOf(user ?? '')).toEqual([{ ...made, userName: name }])
    expect(await store.dropClaim(made.id)).toBe(true)
    expect(await openClaimsOf(user ?? '')).toEqual([])
    expect(await store.dropClaim(made.id)).toBe(false)
  })

  test('a group cannot be dropped as a claim', async () => {
    const user = randomUUID()
    const made = await claim(user)
    await store.confirm(made, { id: `g-${user}`, createdAt: 1 })
    expect(await store.dropClaim(made.id)).toBe(false)
    expect(await store.group(`g-${user}`)).toBeDefined()
  })
})

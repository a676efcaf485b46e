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
  const mine = async (user: string) => (await store.openClaims()).filter((open) => open.user === user)

  test('the group is the user’s, with id and time', async () => {
    const user = randomUUID()
    expect(await store.confirm(await claim(user), { id: `g-${user}`, createdAt: 1_500 })).toBe(true)
    const group = { id: `g-${user}`, user, type: 'AIGC', name: 'cats', description: 'all', createdAt: 1_500 }
    expect(await other.group(`g-${user}`)).toEqual(group)
    expect(await other.groupsOf(user)).toEqual([group])
    expect(await mine(user)).toEqual([])
  })

  test('also when the claim was released meanwhile', async () => {
    const user = randomUUID()
    const made = await claim(user)
    await other.release(made)
    expect(await store.confirm(made, { id: `g-${user}`, createdAt: 1 })).toBe(true)
    expect(await store.groupsOf(user)).toHaveLength(1)
  })

  test('also when it was in doubt meanwhile', async () => {
    const user = randomUUID()
    const made = await claim(user)
    await other.doubt(made, 9_000)
    expect(await store.confirm(made, { id: `g-${user}`, createdAt: 1 })).toBe(true)
    expect(await mine(user)).toEqual([])
  })

  test('also when it was confirmed or adopted with that group already', async () => {
    const user = randomUUID()
    const made = await claim(user, randomUUID())
    expect(await other.adopt(made, { id: `g-${user}`, createdAt: 1 })).toBe('adopted')
    expect(await store.confirm(made, { id: `g-${user}`, createdAt: 1 })).toBe(true)
    expect(await mine(user)).toEqual([])
  })

  test('when the name is somebody’s by now, the claim is kept with the group’s id', async () => {
    const user = randomUUID()
    const made = await claim(user)
    await other.release(made)
    await store.confirm(await claim(user), { id: `first-${user}`, createdAt: 1 })
    expect(await store.confirm(made, { id: `g-${user}`, createdAt: 1 })).toBe(false)
    expect(await mine(user)).toEqual([{ ...made, state: 'unresolved', group: `g-${user}` }])
    expect(await store.group(`g-${user}`)).toBeUndefined()
  })

  test('when the group is somebody’s by now, the claim is kept with the group’s id, and frees its name', async () => {
    const [user, thief] = [randomUUID(), randomUUID()]
    await store.confirm(await claim(thief), { id: `g-${user}`, createdAt: 1 })
    const made = await claim(user)
    expect(await store.confirm(made, { id: `g-${user}`, createdAt: 1 })).toBe(false)
    expect(await mine(user)).toEqual([{ ...made, state: 'unresolved', group: `g-${user}` }])
    expect((await store.group(`g-${user}`))?.user).toBe(thief)
    await claim(user)
  })

  test('when the claim was adopted with another group, this one leaves a trace of its own', async () => {
    const user = randomUUID()
    const made = await claim(user, randomUUID())
    await other.adopt(made, { id: `wrong-${user}`, createdAt: 1 })
    expect(await store.confirm(made, { id: `g-${user}`, createdAt: 1 })).toBe(false)
    expect((await store.group(`wrong-${user}`))?.user).toBe(user)
    expect(await mine(user)).toEqual([{ ...made, id: expect.any(String), state: 'unresolved', group: `g-${user}` }])
  })

  test('of parallel confirmations of one group by many users exactly one succeeds, and all others leave a trace', async () => {
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

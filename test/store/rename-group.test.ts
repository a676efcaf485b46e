import { beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { Store } from '../../src/store/index.ts'
import { eachDatabase } from '../support/database.ts'

eachDatabase('rename', (database) => {
  let store: Store
  beforeAll(async () => {
    store = await database.open()
  })

  const claim = async (user: string, name: string, more: { renames?: string; description?: string } = {}) => {
    const made = await store.claim({ user, type: 'AIGC', name, createdAt: 1_000, dueAt: 2_000, ...more })
    if (!made) throw new Error('the name is taken')
    return made
  }
  const group = async (user: string, name: string) => {
    const id = randomUUID()
    await store.confirm(await claim(user, name, { description: 'before' }), { id, createdAt: 1 })
    return id
  }
  const openClaimsOf = async (user: string) => (await store.openClaims()).filter((open) => open.user === user)

  test('the record has the new name, and the old name is free', async () => {
    const user = randomUUID()
    const id = await group(user, 'cats')
    const made = await claim(user, 'dogs', { renames: id })
    expect(await store.confirm(made, { id, createdAt: 9 })).toBe(true)
    expect(await store.groupsOf(user)).toEqual([
      { id, user, type: 'AIGC', name: 'dogs', description: 'before', createdAt: 1 },
    ])
    expect(await openClaimsOf(user)).toEqual([])
    await claim(user, 'cats')
    expect(await store.claim({ ...made, renames: undefined })).toBeUndefined()
  })

  test('the record has the new description if there is one', async () => {
    const user = randomUUID()
    const id = await group(user, 'cats')
    await store.confirm(await claim(user, 'dogs', { renames: id, description: 'after' }), { id, createdAt: 9 })
    expect((await store.group(id))?.description).toBe('after')
  })

  test('a rename can be adopted or confirmed, once or twice', async () => {
    const user = randomUUID()
    const id = await group(user, 'cats')
    const made = await claim(user, `dogs ${id}`, { renames: id })
    expect(await store.adopt(made, { id, createdAt: 9 })).toBe('adopted')
    expect(await store.confirm(made, { id, createdAt: 9 })).toBe(true)
    expect((await store.group(id))?.name).toBe(`dogs ${id}`)
    expect(await openClaimsOf(user)).toEqual([])
  })

  test('a rename is not adopted while another user creates a group of that name', async () => {
    const [user, name] = [randomUUID(), randomUUID()]
    const id = await group(user, 'cats')
    const made = await claim(user, name, { renames: id })
    await claim(randomUUID(), name)
    expect(await store.adopt(made, { id, createdAt: 9 })).toBe('rival')
    expect((await store.group(id))?.name).toBe('cats')
    expect(await openClaimsOf(user)).toEqual([made])
  })

  test('a name that another group has taken stays there, and the claim is kept', async () => {
    const [user, name] = [randomUUID(), randomUUID()]
    const id = await group(user, 'cats')
    const made = await claim(user, name, { renames: id })
    await store.release(made)
    await group(user, name)
    expect(await store.adopt(made, { id, createdAt: 9 })).toBe('taken')
    expect(await openClaimsOf(user)).toEqual([])
    expect(await store.confirm(made, { id, createdAt: 9 })).toBe(false)
    expect((await store.group(id))?.name).toBe('cats')
    expect(await openClaimsOf(user)).toEqual([{ ...made, state: 'unresolved', group: id }])
  })

  test('of 50 concurrent renamings of a group, in two stores, exactly one is claimed, and the others learn why', async () => {
    const user = randomUUID()
    const id = await group(user, 'cats')
    const other = await database.open()
    const wanted = { user, type: 'AIGC', createdAt: 1_000, dueAt: 2_000, renames: id }
    const claims = await Promise.all(
      Array.from({ length: 50 }, (_, at) => (at % 2 ? store : other).claim({ ...wanted, name: `dogs ${at}` })),
    )
    expect(claims.filter(Boolean)).toHaveLength(1)
    expect(await store.hasUnresolved({ ...wanted, name: 'birds' })).toBe(true)
    expect(await store.hasUnresolved({ ...wanted, name: 'birds', renames: randomUUID() })).toBe(false)
  })

  test('no other renaming is claimed until the outcome of one is known', async () => {
    const [user, other] = [randomUUID(), randomUUID()]
    const id = await group(user, 'cats')
    const made = await claim(user, 'dogs', { renames: id })
    const again = () => store.claim({ ...made, id: undefined, name: 'birds' })
    await store.postpone(made, 1_500, 2_500)
    expect(await again()).toBeUndefined()
    await store.markUnresolved(made, 3_000)
    expect(await again()).toBeUndefined()
    await claim(user, 'birds', { renames: await group(user, other) })
    await store.release(made)
    const next = await store.claim({ ...made, id: undefined, name: 'fish' })
    // The group has one open claim: the write that would restore the first one changes nothing.
    await store.markUnresolved(made, 4_000)
    expect(await openClaimsOf(user)).toContainEqual(next as NonNullable<typeof next>)
    expect(await openClaimsOf(user)).toHaveLength(2)
  })

  test('a renaming that has taken effect, while another group has got the name, bars no other one', async () => {
    const user = randomUUID()
    const id = await group(user, 'cats')
    const made = await claim(user, 'dogs', { renames: id })
    await store.markUnresolved(made, 3_000)
    await group(user, 'dogs')
    expect(await store.confirm(made, { id, createdAt: 9 })).toBe(false)
    expect(await store.hasUnresolved({ ...made, name: 'birds' })).toBe(false)
    const next = await claim(user, 'birds', { renames: id })
    expect(await store.confirm(next, { id, createdAt: 9 })).toBe(true)
    expect((await store.group(id))?.name).toBe('birds')
  })

  test('a claim for the name that the group has is possible, and keeps the name', async () => {
    const user = randomUUID()
    const id = await group(user, 'cats')
    const made = await claim(user, 'cats', { renames: id, description: 'after' })
    expect(made.state).toBe('unresolved')
    expect(await store.claim({ ...made, id: undefined, name: 'dogs' })).toBeUndefined()
    expect(await store.claim({ ...made, id: undefined, renames: undefined })).toBeUndefined()
    expect(await store.confirm(made, { id, createdAt: 9 })).toBe(true)
    expect(await store.group(id)).toMatchObject({ name: 'cats', description: 'after' })
    expect(await openClaimsOf(user)).toEqual([])
  })

  test('a group that was removed, or has another owner, is not renamed', async () => {
    const [user, thief] = [randomUUID(), randomUUID()]
    const id = await group(user, 'cats')
    const made = await claim(thief, randomUUID(), { renames: id })
    expect(await store.adopt(made, { id, createdAt: 9 })).toBe('taken')
    expect(await openClaimsOf(thief)).toEqual([made])
    expect(await store.confirm(made, { id, createdAt: 9 })).toBe(false)
    expect((await store.group(id))?.name).toBe('cats')
    expect(await openClaimsOf(thief)).toEqual([{ ...made, state: 'unresolved', group: id }])
  })
})

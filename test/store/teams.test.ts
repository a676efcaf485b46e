import { beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { Team } from '../../plugins/admin/store.ts'
import type { Store } from '../../src/store/index.ts'
import { eachDatabase } from '../support/database.ts'

eachDatabase('teams', (tested) => {
  let store: Store
  let other: Store
  beforeAll(async () => {
    store = await tested.open()
    other = await tested.open()
  })

  const add = async (name: string = randomUUID(), createdAt = 1): Promise<Team> => {
    const added = await store.addTeam({ name, createdAt })
    if (typeof added === 'string') throw new Error(added)
    return added
  }

  test('have a name that no other team has in any case, limits, and a number of members', async () => {
    const name = `Blau ${randomUUID()}`
    const team = await add(name)
    expect(await store.addTeam({ name: name.toUpperCase(), createdAt: 1 })).toBe('name-taken')
    const user = await store.addAdminUser({ name: randomUUID(), team: team.id, createdAt: 1 })
    await store.addAdminUser({ name: randomUUID(), team: team.id, createdAt: 1 })
    expect(await other.changeTeam(team.id, { limits: '[]' })).toBe('changed')
    expect(await other.team(team.id)).toEqual({ ...team, limits: '[]', members: 2 })
    expect((await other.teamByName(name.toLowerCase()))?.id).toBe(team.id)
    const second = await add()
    expect(await store.changeTeam(second.id, { name: name.toUpperCase() })).toBe('name-taken')
    const before = await store.revision()
    expect(await store.changeTeam(team.id, { name: name.toUpperCase(), limits: null })).toBe('changed')
    expect(await store.revision(before)).toMatchObject({ changes: [{ kind: 'team', key: team.id }] })
    expect(await other.team(team.id)).toEqual({ ...team, name: name.toUpperCase(), members: 2 })
    expect(await store.changeTeam(randomUUID(), { limits: '[]' })).toBe('unknown')
    if (typeof user === 'string') throw new Error(user)
    expect((await other.adminUser(user.id))?.teamName).toBe(name.toUpperCase())
  })

  test('are listed page by page, oldest first', async () => {
    const added = [
      await add(undefined, -3),
      await add(undefined, -2),
      await add(undefined, -2),
      await add(undefined, -1),
    ]
    const first = await store.listTeams({ limit: 2 })
    const second = await store.listTeams({ limit: 2, after: first.next })
    const found = [...first.items, ...second.items]
    expect(found.map(({ id }) => id).sort()).toEqual(added.map(({ id }) => id).sort())
    expect(found.map(({ createdAt }) => createdAt)).toEqual([-3, -2, -2, -1])
    expect((await store.listTeams({ limit: 1_000 })).next).toBeUndefined()
  })

  test('count their members, whoever joins, moves and leaves at the same moment', async () => {
    const [one, two] = [await add(), await add()]
    const users = await Promise.all(
      Array.from({ length: 6 }, () => store.addAdminUser({ name: randomUUID(), team: one.id, createdAt: 1 })),
    )
    const move = (user: (typeof users)[number], index: number) => {
      if (typeof user === 'string') throw new Error(user)
      const team = [two.id, one.id, null][index % 3] as string | null
      return Promise.all([
        store.changeUser(user.id, { team }, { now: 1 }),
        other.changeUser(user.id, { team: [one.id, two.id][index % 2] as string }, { now: 1 }),
      ])
    }
    await Promise.all(users.map(move))
    await Promise.all(users.map(move))
    const members = async (team: string) => (await store.listAdminUsers({ team }, { limit: 20 })).items.length
    for (const { id } of [one, two]) expect((await store.team(id))?.members).toBe(await members(id))
    const unknown = await store.changeUser(String((users[0] as { id: string }).id), { team: randomUUID() }, { now: 1 })
    expect(unknown).toBe('unknown-team')
    for (const { id } of [one, two]) expect((await store.team(id))?.members).toBe(await members(id))
  })

  test('with a member are not deleted, also when the member joins at the same moment', async () => {
    const team = await add()
    const user = await store.addAdminUser({ name: randomUUID(), team: team.id, createdAt: 1 })
    if (typeof user === 'string') throw new Error(user)
    expect(await other.deleteTeam(team.id)).toBe('not-empty')
    expect(await store.changeUser(user.id, { team: null }, { now: 1 })).toBe('changed')
    expect(await other.deleteTeam(team.id)).toBe('deleted')
    expect(await other.deleteTeam(team.id)).toBe('unknown')
    for (let round = 0; round < 8; round++) {
      const { id } = await add()
      const [joined, deleted] = await Promise.all([
        round % 2
          ? store.changeUser(user.id, { team: id }, { now: 1 })
          : store.addAdminUser({ name: randomUUID(), team: id, createdAt: 1 }),
        other.deleteTeam(id),
      ])
      if (deleted === 'deleted') expect(joined).toBe('unknown-team')
      else expect([deleted, (await store.team(id))?.members]).toEqual(['not-empty', 1])
    }
  })
})

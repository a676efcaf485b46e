import { beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { WantedShare } from '../../plugins/ownership/index.ts'
import type { RevisionChange } from '../../plugins/shared/identity/revision-clock.ts'
import type { Store } from '../../src/store/index.ts'
import { eachDatabase } from '../support/database.ts'

eachDatabase('shares', (database) => {
  let store: Store
  let other: Store
  beforeAll(async () => {
    store = await database.open()
    other = await database.open()
  })

  const addUser = async (name: string = randomUUID()) => (await store.addUser({ name, createdAt: 1 })) ?? ''
  const addGroup = async (user: string) => {
    const id = randomUUID()
    await store.adoptGroup({ id, user, type: 'AIGC', name: id, createdAt: 1 })
    return { id, user }
  }
  const addTeam = async (...members: readonly string[]) => {
    const team = await store.addTeam({ name: randomUUID(), createdAt: 1 })
    if (team === 'name-taken') throw new Error(team)
    for (const user of members) await store.changeUser(user, { team: team.id }, { now: 1 })
    return team
  }
  const lend = async (wanted: Partial<WantedShare> & Pick<WantedShare, 'group' | 'borrower'>) => {
    const share = await store.lendGroup({ access: 'use', now: 1, ...wanted })
    if (typeof share === 'string') throw new Error(share)
    return share
  }
  /** Groups with their access, as another process reads them. */
  const lentTo = async (user: string, now = 1) =>
    (await other.groupsLentTo(user, now)).map(({ id, access }) => `${id} ${access}`).sort()
  const changesOf = async (change: () => Promise<unknown>): Promise<readonly RevisionChange[]> => {
    const since = await store.revision()
    await change()
    const read = await other.revision(since)
    return typeof read === 'number' ? [] : (read.changes ?? [])
  }
  const sharesChange = expect.objectContaining({ kind: 'shares', key: '' })

  test('a lent group has its owner and its record, and can be used until its share is revoked', async () => {
    const [ann, bob, eve] = [await addUser('Ann'), await addUser(), await addUser()]
    const group = await addGroup(ann)
    const read = await lend({ group, borrower: { user: bob }, access: 'read' })
    expect(read).toEqual({ id: expect.any(String), user: bob, access: 'read', createdAt: 1 })
    expect(await other.groupsLentTo(bob, 1)).toEqual([
      { ...group, type: 'AIGC', name: group.id, createdAt: 1, access: 'read', ownerName: 'Ann' },
    ])
    expect(await other.recordGroupUse(bob, group.id, 2)).toBe(false)
    expect(await lend({ group, borrower: { user: bob }, now: 5 })).toEqual({ ...read, access: 'use' })
    expect(await lentTo(bob)).toEqual([`${group.id} use`])
    expect(await other.recordGroupUse(bob, group.id, 7)).toBe(true)
    for (const user of [ann, eve]) expect(await other.recordGroupUse(user, group.id, 7)).toBe(false)
    expect(await store.sharesOf(group, 1)).toEqual([{ ...read, access: 'use', usedAt: 7 }])
    expect(await store.sharesOf({ id: group.id, user: bob }, 1)).toEqual([])
    expect([await lentTo(ann), await lentTo(eve)]).toEqual([[], []])

    const elsewhere = await addGroup(ann)
    expect(await store.revokeShare({ id: group.id, user: bob }, read.id)).toBe(false)
    expect(await store.revokeShare(elsewhere, read.id)).toBe(false)
    expect(await lentTo(bob)).toHaveLength(1)
    expect(await store.revokeShare(group, read.id)).toBe(true)
    expect(await store.revokeShare(group, read.id)).toBe(false)
    expect([await lentTo(bob), await other.recordGroupUse(bob, group.id, 7)]).toEqual([[], false])
  })

  test('a share ends at its time', async () => {
    const [ann, bob] = [await addUser(), await addUser()]
    const group = await addGroup(ann)
    await lend({ group, borrower: { user: bob }, expiresAt: 10 })
    expect([await lentTo(bob, 9), await lentTo(bob, 10)]).toEqual([[`${group.id} use`], []])
    expect((await store.sharesOf(group, 9)).map(({ expiresAt }) => expiresAt)).toEqual([10])
    expect(await store.sharesOf(group, 10)).toEqual([])
    expect([await other.recordGroupUse(bob, group.id, 9), await other.recordGroupUse(bob, group.id, 10)]).toEqual([
      true,
      false,
    ])
    await lend({ group, borrower: { user: bob }, now: 11 })
    expect(await lentTo(bob, 100)).toHaveLength(1)
  })

  test('a team borrows through each member, and only from one of them', async () => {
    const [ann, bob, eve] = [await addUser(), await addUser(), await addUser()]
    const group = await addGroup(ann)
    const team = await addTeam(ann, bob)
    const foreign = await addTeam(eve)
    for (const name of [foreign.name, 'no such team', ''])
      expect(await store.lendGroup({ group, borrower: { team: name }, access: 'use', now: 1 })).toBe('no-borrower')
    const share = await lend({ group, borrower: { team: team.name.toUpperCase() } })
    expect(share).toMatchObject({ team: team.name, access: 'use' })
    expect(await store.sharesOf(group, 1)).toEqual([share])
    expect([await lentTo(bob), await lentTo(ann), await lentTo(eve)]).toEqual([[`${group.id} use`], [], []])
    expect([await other.recordGroupUse(bob, group.id, 1), await other.recordGroupUse(eve, group.id, 1)]).toEqual([
      true,
      false,
    ])
    await store.changeUser(bob, { disabled: true }, { now: 1 })
    expect(await other.recordGroupUse(bob, group.id, 1)).toBe(false)
    await store.changeUser(bob, { disabled: false }, { now: 1 })
    const left = await changesOf(() => store.changeUser(bob, { team: null }, { now: 1 }))
    expect(left).toContainEqual(expect.objectContaining({ kind: 'user', key: bob }))
    expect([await lentTo(bob), await other.recordGroupUse(bob, group.id, 1)]).toEqual([[], false])

    await store.changeUser(bob, { team: team.id }, { now: 1 })
    expect(await lentTo(bob)).toHaveLength(1)
    expect(await changesOf(() => store.changeUser(ann, { team: foreign.id }, { now: 1 }))).toContainEqual(sharesChange)
    expect([await lentTo(bob), await store.sharesOf(group, 1)]).toEqual([[], []])
    await store.changeUser(ann, { team: team.id }, { now: 1 })
    expect(await lentTo(bob)).toEqual([])
  })

  test('a share ends with its group, and when its owner or its borrower is disabled: enabling does not bring it back', async () => {
    const [ann, bob, eve] = [await addUser(), await addUser(), await addUser()]
    const [one, two, three] = [await addGroup(ann), await addGroup(eve), await addGroup(ann)]
    for (const group of [one, two]) await lend({ group, borrower: { user: bob } })
    await lend({ group: three, borrower: { user: eve } })

    await store.removeGroup(one)
    expect(await lentTo(bob)).toEqual([`${two.id} use`])
    for (const user of [eve, ann]) {
      await store.adoptGroup({ ...one, user, type: 'AIGC', name: one.id, createdAt: 1 })
      expect(await lentTo(bob)).toEqual([`${two.id} use`])
      await store.removeGroup({ ...one, user })
    }

    const change = (user: string, disabled: boolean) => () => store.changeUser(user, { disabled }, { now: 1 })
    expect(await changesOf(change(bob, true))).toContainEqual(sharesChange)
    await change(bob, false)()
    expect([await lentTo(bob), await store.sharesOf(two, 1)]).toEqual([[], []])

    expect(await changesOf(change(ann, true))).toContainEqual(sharesChange)
    expect(await lentTo(eve)).toEqual([])
    expect(await changesOf(change(bob, true))).not.toContainEqual(sharesChange)
    const refused = { access: 'use', now: 1, borrower: { user: bob } } as const
    expect(await store.lendGroup({ ...refused, group: two })).toBe('no-borrower')
    expect(await store.lendGroup({ ...refused, group: three, borrower: { user: eve } })).toBe('no-group')
  })

  test('nobody lends the group of another user, to themselves, or to a user who does not exist', async () => {
    const [ann, bob] = [await addUser(), await addUser()]
    const group = await addGroup(ann)
    const ask = (wanted: Partial<WantedShare>) =>
      store.lendGroup({ group, borrower: { user: bob }, access: 'use', now: 1, ...wanted })
    expect(await ask({ group: { id: group.id, user: bob }, borrower: { user: ann } })).toBe('no-group')
    expect(await ask({ group: { id: 'none', user: ann } })).toBe('no-group')
    expect(await ask({ borrower: { user: ann } })).toBe('no-borrower')
    expect(await ask({ borrower: { user: randomUUID() } })).toBe('no-borrower')
    expect(await store.sharesOf(group, 1)).toEqual([])
  })

  test('a user of a host app is known only to the app, and borrows nothing when disabled', async () => {
    const [ann, host] = [await addUser(), randomUUID()]
    const group = await addGroup(ann)
    await lend({ group, borrower: { user: host }, isKnown: true })
    expect(await lentTo(host)).toEqual([`${group.id} use`])
    await store.disableHostUser(ann, 1)
    expect(await lentTo(host)).toHaveLength(1)
    expect(await changesOf(() => store.disableHostUser(host, 1))).toContainEqual(sharesChange)
    expect(await lentTo(host)).toEqual([])
    const again = { group, borrower: { user: host }, access: 'read', now: 1, isKnown: true } as const
    expect(await store.lendGroup(again)).toBe('no-borrower')
    await store.enableHostUser(host)
    expect(await lentTo(host)).toEqual([])
  })

  test('lending and revoking are told to other processes', async () => {
    const [ann, bob] = [await addUser(), await addUser()]
    const group = await addGroup(ann)
    let id = ''
    expect(
      await changesOf(async () => {
        id = (await lend({ group, borrower: { user: bob } })).id
      }),
    ).toEqual([sharesChange])
    expect(await changesOf(() => store.revokeShare(group, 'none'))).toEqual([])
    expect(await changesOf(() => store.revokeShare(group, id))).toEqual([sharesChange])
  })

  test('of shares that are lent at once, a group has 100 at most; one with the same borrower is still changed', async () => {
    const [ann, bob] = [await addUser(), await addUser()]
    const group = await addGroup(ann)
    for (let given = 0; given < 97; given++)
      await lend({ group, borrower: { user: randomUUID() }, isKnown: true, access: 'read' })
    const outcomes = await Promise.all(
      Array.from({ length: 6 }, (_, nth) =>
        (nth % 2 ? store : other).lendGroup({
          group,
          borrower: { user: nth === 0 ? bob : randomUUID() },
          access: 'read',
          now: 1,
          isKnown: nth > 0,
        }),
      ),
    )
    expect(outcomes.filter((outcome) => outcome === 'full')).toHaveLength(3)
    const [share] = await store.sharesOf(group, 1)
    expect(await store.sharesOf(group, 1)).toHaveLength(100)
    const changed = { group, borrower: { user: share?.user ?? '' }, access: 'use', now: 1, isKnown: true } as const
    expect(await store.lendGroup(changed)).toMatchObject({ id: share?.id, access: 'use' })
  })

  test('lending to a user who is being disabled leaves no share', async () => {
    const [ann, bob] = [await addUser(), await addUser()]
    const group = await addGroup(ann)
    for (let round = 0; round < 5; round++) {
      await Promise.all([
        store.lendGroup({ group, borrower: { user: bob }, access: 'use', now: 1 }),
        other.changeUser(bob, { disabled: true }, { now: 1 }),
      ])
      await store.changeUser(bob, { disabled: false }, { now: 1 })
      expect(await lentTo(bob)).toEqual([])
    }
  })
})

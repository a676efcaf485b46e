import { beforeAll, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { AdminUser, PagePlace, UserFilter } from '../../plugins/admin/store.ts'
import type { Store } from '../../src/store/index.ts'
import { eachDatabase } from '../support/database.ts'

eachDatabase('users of the admin API', (tested) => {
  let store: Store
  let other: Store
  beforeAll(async () => {
    store = await tested.open()
    other = await tested.open()
  })

  const add = async (more: Partial<Parameters<Store['addAdminUser']>[0]> = {}): Promise<AdminUser> => {
    const added = await store.addAdminUser({ name: `u-${randomUUID()}`, createdAt: 5, ...more })
    if (typeof added === 'string') throw new Error(added)
    return added
  }

  const team = async () => {
    const added = await store.addTeam({ name: `t-${randomUUID()}`, createdAt: 5 })
    if (typeof added === 'string') throw new Error(added)
    return added
  }

  const listAll = async (filter: UserFilter, limit: number): Promise<readonly AdminUser[]> => {
    const users: AdminUser[] = []
    let after: PagePlace | undefined
    do {
      const page = await other.listAdminUsers(filter, { limit, after })
      users.push(...page.items)
      expect(page.items.length).toBeLessThanOrEqual(limit)
      after = page.next
    } while (after)
    return users
  }

  const session = async (user: string, password: string) => {
    const hash = randomUUID()
    const times = { createdAt: 1, idleUntil: 1e12, endsAt: 1e12 }
    expect(await store.addSession({ hash, id: hash, user, name: 'n', password, ...times })).toBe(true)
    return hash
  }

  test('a new user has what was given, and the defaults', async () => {
    const { id: teamId, name: teamName } = await team()
    const user = await add()
    expect(user).toEqual({ id: user.id, name: user.name, role: 'user', service: false, createdAt: 5, login: 'none' })
    const limits = '[{"unit":"requests","amount":1,"window":"day"}]'
    const externalId = randomUUID()
    const full = await add({ role: 'admin', password: 'p', team: teamId, externalId, limits })
    expect(await other.adminUser(full.id)).toEqual({
      ...{ id: full.id, name: full.name, role: 'admin', team: teamId, teamName, service: false, externalId },
      ...{ createdAt: 5, login: 'password', limits },
    })
    expect((await add({ service: true })).service).toBe(true)
    expect(await other.adminUser(randomUUID())).toBeUndefined()
  })

  test('a name is taken in any case and width, and an external id once', async () => {
    const name = `Éva ${randomUUID()}`
    const externalId = randomUUID()
    const { id } = await add({ name, externalId })
    for (const taken of [
      name,
      name.toUpperCase(),
      name.toLowerCase(),
      name.normalize('NFD'),
      name.replace(' ', '\u3000'),
    ])
      expect(await store.addAdminUser({ name: taken, createdAt: 1 })).toBe('name-taken')
    expect(await store.addAdminUser({ name: randomUUID(), externalId, createdAt: 1 })).toBe('external-id-taken')
    expect((await other.adminUserByName(name.toUpperCase()))?.id).toBe(id)
    const second = await add()
    expect(await store.changeUser(second.id, { name: name.toUpperCase() }, { now: 1 })).toBe('name-taken')
    expect(await store.changeUser(second.id, { externalId }, { now: 1 })).toBe('external-id-taken')
    expect(await store.changeUser(id, { name: name.toUpperCase(), externalId }, { now: 1 })).toBe('changed')
    expect((await other.adminUser(id))?.name).toBe(name.toUpperCase())
    expect(await store.changeUser(id, { name: randomUUID(), externalId: null }, { now: 1 })).toBe('changed')
    expect(await store.changeUser(second.id, { name, externalId }, { now: 1 })).toBe('changed')
  })

  test('of many concurrent users with one name in several cases, one is added', async () => {
    const name = `Race ${randomUUID()}`
    const names = [name, name.toLowerCase(), name.toUpperCase()]
    const results = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        (index % 2 ? store : other).addAdminUser({ name: names[index % 3] ?? name, createdAt: 1 }),
      ),
    )
    expect(results.filter((result) => typeof result !== 'string')).toHaveLength(1)
    expect(results.filter((result) => result === 'name-taken')).toHaveLength(11)
  })

  test('an unknown team, and a password of a service user, change nothing', async () => {
    const name = randomUUID()
    expect(await store.addAdminUser({ name, team: randomUUID(), createdAt: 1 })).toBe('unknown-team')
    expect(await store.addAdminUser({ name, service: true, password: 'p', createdAt: 1 })).toBe('service')
    const invitation = { hash: randomUUID(), createdAt: 1, expiresAt: 2 }
    expect(await store.addAdminUser({ name, service: true, invitation, createdAt: 1 })).toBe('service')
    expect(await store.userByName(name)).toBeUndefined()
    const { id } = await add({ service: true })
    expect(await store.changeUser(id, { password: 'p', limits: '[]' }, { now: 1 })).toBe('service')
    expect(await store.addInvitation(id, invitation)).toBe('service')
    expect(await store.changeUser(id, { team: randomUUID(), limits: '[]' }, { now: 1 })).toBe('unknown-team')
    expect((await store.adminUser(id))?.limits).toBeUndefined()
    expect(await store.changeUser(randomUUID(), { limits: '[]' }, { now: 1 })).toBe('unknown')
    const times = { createdAt: 1, idleUntil: 1e12, endsAt: 1e12 }
    expect(await store.addSession({ hash: id, id, user: id, name: 'n', ...times })).toBe(false)
  })

  test('a change keeps what it does not name, and null takes a value away', async () => {
    const { id: teamId } = await team()
    const user = await add({ team: teamId, limits: '[]', password: 'p' })
    expect(await other.changeUser(user.id, { role: 'admin' }, { now: 1 })).toBe('changed')
    expect(await store.adminUser(user.id)).toEqual({ ...user, role: 'admin' })
    expect(await other.changeUser(user.id, { team: null, limits: null, role: 'user' }, { now: 1 })).toBe('changed')
    const { team: _, teamName: __, limits: ___, ...rest } = user
    expect(await store.adminUser(user.id)).toEqual(rest)
  })

  test('a change of any kind drops the user and the tokens from the caches', async () => {
    const { id } = await add()
    const hash = randomUUID()
    const token = await store.addUserToken(id, { hash, start: 'sk-', scopes: ['text'], createdAt: 1 })
    if (typeof token === 'string') throw new Error(token)
    const rotated = randomUUID()
    await store.rotateToken(token.id, { hash: rotated, start: 'sk-', now: 2, oldUntil: 9 })
    const before = await store.revision()
    await other.changeUser(id, { role: 'admin' }, { now: 1, ifRole: 'user' })
    const read = await store.revision(before)
    expect(read).toEqual({
      value: before + 1,
      changes: expect.arrayContaining([
        expect.objectContaining({ kind: 'user', key: id }),
        expect.objectContaining({ kind: 'token', key: hash }),
        expect.objectContaining({ kind: 'token', key: rotated }),
      ]),
    })
    expect((await store.ownerOf(rotated))?.role).toBe('admin')
  })

  test('disabling ends sessions and the invitation, and keeps the first time; a password ends them too', async () => {
    const { id } = await add({ password: 'p' })
    const invitation = { hash: randomUUID(), createdAt: 1, expiresAt: 1e12 }
    const sessionHash = await session(id, 'p')
    expect(await store.addInvitation(id, invitation)).toBe('added')
    expect(await other.changeUser(id, { disabled: true }, { now: 7 })).toBe('changed')
    expect(await other.changeUser(id, { disabled: true }, { now: 8 })).toBe('changed')
    expect((await store.adminUser(id))?.disabledAt).toBe(7)
    expect(await store.session(sessionHash)).toBeUndefined()
    expect(await store.addInvitation(id, invitation)).toBe('disabled')
    expect(await other.changeUser(id, { disabled: false }, { now: 9 })).toBe('changed')
    expect((await store.adminUser(id))?.disabledAt).toBeUndefined()
    expect(await store.invitedUser(invitation.hash, 2)).toBeUndefined()
    const second = await session(id, 'p')
    await store.addInvitation(id, invitation)
    await other.changeUser(id, { password: 'q' }, { now: 9 })
    expect(await store.session(second)).toBeUndefined()
    expect(await store.invitedUser(invitation.hash, 2)).toBeUndefined()
  })

  test('who may touch no admins changes none, also when the user becomes one at the same moment', async () => {
    const { id } = await add({ role: 'admin', password: 'p' })
    const change = { password: 'x', limits: '[]' }
    expect(await store.changeUser(id, change, { now: 1, ifRole: 'user' })).toBe('other-role')
    const invitation = { hash: randomUUID(), createdAt: 1, expiresAt: 1e12 }
    expect(await store.addInvitation(id, invitation, { ifRole: 'user' })).toBe('other-role')
    expect((await store.userByName((await store.adminUser(id))?.name ?? ''))?.password).toBe('p')
    for (let round = 0; round < 8; round++) {
      const user = await add()
      const [promoted, limited] = await Promise.all([
        store.changeUser(user.id, { role: 'admin' }, { now: 1 }),
        other.changeUser(user.id, { limits: '[]', role: 'user' }, { now: 1, ifRole: 'user' }),
      ])
      expect(promoted).toBe('changed')
      const { role, limits } = (await store.adminUser(user.id)) ?? {}
      if (limited === 'other-role') expect({ role, limits }).toEqual({ role: 'admin', limits: undefined })
      else expect({ role, limits }).toEqual({ role: 'admin', limits: '[]' })
    }
  })

  describe('in lists', () => {
    const prefix = randomUUID()
    const filter = { search: prefix.slice(0, 18).toUpperCase() }
    const added: AdminUser[] = []
    let teamId = ''
    beforeAll(async () => {
      teamId = (await team()).id
      for (let index = 0; index < 23; index++) {
        const user = await add({
          name: `${prefix.slice(0, 18)} ${'%_!'[index % 3]}${index} ${index % 4 === 0 ? 'straße' : 'weg'}`,
          role: index % 5 === 0 ? 'admin' : 'user',
          team: index % 2 === 0 ? teamId : undefined,
          createdAt: 100 + (index % 7),
        })
        added.push(user)
        if (index % 3 === 0) await store.changeUser(user.id, { disabled: true }, { now: 3 })
      }
    })

    const ids = (users: readonly { readonly id: string }[]) => users.map(({ id }) => id).sort()
    const expected = (matches: (user: AdminUser, index: number) => boolean) => ids(added.filter(matches))

    test('pages of every size hold each user once', async () => {
      for (const limit of [1, 2, 7, 22, 23, 24, 100])
        expect(ids(await listAll(filter, limit))).toEqual(expected(() => true))
      const all = await listAll({}, 10)
      expect(all).toEqual(all.toSorted((a, b) => a.createdAt - b.createdAt))
      expect(new Set(all.map(({ id }) => id)).size).toBe(all.length)
      expect(ids(all)).toEqual(expect.arrayContaining(ids(added)))
    })

    test('a search finds parts of any length in any case, and its signs are no wildcards', async () => {
      expect(ids(await listAll({ search: `${prefix.slice(0, 18)} %`, team: teamId }, 3))).toEqual(
        expected((user) => user.team === teamId && user.name.includes(' %')),
      )
      const find = async (search: string) => ids(await listAll({ search, team: teamId }, 50))
      expect(await find('_4')).toEqual(expected(({ name, team: of }) => of === teamId && name.includes('_4')))
      expect(await find('!')).toEqual(expected(({ name, team: of }) => of === teamId && name.includes('!')))
      expect(await find('STRASSE')).toEqual([])
      expect(await find('Straße')).toEqual(expected(({ name, team: of }) => of === teamId && name.includes('straße')))
      expect(await find('')).toEqual(expected(({ team: of }) => of === teamId))
      expect(await find('no such name')).toEqual([])
      expect(await listAll({ search: randomUUID() }, 5)).toEqual([])
    })

    test('filters hold together', async () => {
      for (const role of [undefined, 'admin', 'user'] as const)
        for (const state of [undefined, 'enabled', 'disabled'] as const)
          for (const of of [undefined, teamId])
            expect(ids(await listAll({ ...filter, role, state, team: of }, 4))).toEqual(
              expected(
                (user, index) =>
                  (role === undefined || user.role === role) &&
                  (state === undefined || (index % 3 === 0) === (state === 'disabled')) &&
                  (of === undefined || user.team === of),
              ),
            )
      for (const each of [{ role: 'admin' }, { state: 'disabled' }, { team: teamId }] as const) {
        const wanted = ids((await listAll({}, 100)).filter((user) => matchesOne(user, each)))
        expect(ids(await listAll(each, 3))).toEqual(wanted)
        expect(wanted.length).toBeGreaterThan(4)
      }
    })

    const matchesOne = (user: AdminUser, { role, state, team: of }: UserFilter) =>
      (role === undefined || user.role === role) &&
      (state === undefined || user.disabledAt !== undefined) &&
      (of === undefined || user.team === of)

    test('a place of another list is no error', async () => {
      expect((await store.listAdminUsers({}, { limit: 2, after: { key: 'x', id: 'y' } })).items).toHaveLength(2)
      await store.listAdminUsers(filter, { limit: 2, after: { key: 5, id: 'zzz' } })
      await store.listTeams({ limit: 2, after: { key: '', id: '' } })
      await store.listUserTokens(randomUUID(), { limit: 2, after: { key: '', id: '' } })
    })
  })
})

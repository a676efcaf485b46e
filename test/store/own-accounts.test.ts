import { beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { AdminUser } from '../../plugins/admin/store.ts'
import type { Store } from '../../src/store/index.ts'
import { eachDatabase } from '../support/database.ts'

eachDatabase('own accounts', (tested) => {
  let store: Store
  let other: Store
  beforeAll(async () => {
    store = await tested.open()
    other = await tested.open()
  })

  const add = async (more: Partial<Parameters<Store['addAdminUser']>[0]> = {}): Promise<AdminUser> => {
    const added = await store.addAdminUser({ name: randomUUID(), password: 'p', createdAt: 1, ...more })
    if (typeof added === 'string') throw new Error(added)
    return added
  }

  const addSession = async ({ id: user, name }: AdminUser, more: { createdAt?: number; userAgent?: string } = {}) => {
    const session = { hash: randomUUID(), id: randomUUID(), user, name, password: 'p' }
    const times = { createdAt: 10, idleUntil: 50, endsAt: 90 }
    expect(await store.addSession({ ...session, ...times, ...more })).toBe(true)
    return session
  }

  test('show name, role, team and login', async () => {
    const team = await store.addTeam({ name: randomUUID(), createdAt: 1 })
    if (typeof team === 'string') throw new Error(team)
    const { id, name } = await add({ team: team.id, role: 'admin' })
    const account = { id, name, role: 'admin', team: team.name, login: 'password', password: 'p' } as const
    expect(await other.account(id)).toEqual(account)
    expect(await other.account(randomUUID())).toBeUndefined()
    expect((await other.account((await add({ password: undefined })).id))?.login).toBe('none')
  })

  test('list the own valid sessions, newest first, and end one of them', async () => {
    const [user, stranger] = [await add(), await add()]
    const [one, two] = [await addSession(user), await addSession(user, { createdAt: 20, userAgent: 'Firefox' })]
    const foreign = await addSession(stranger)
    await store.touchSession(one.hash, 60, 30)
    const listed = { endsAt: 90 }
    expect(await other.listSessions(user.id, 49)).toEqual([
      { ...listed, id: two.id, createdAt: 20, lastUsedAt: 20, idleUntil: 50, userAgent: 'Firefox' },
      { ...listed, id: one.id, createdAt: 10, lastUsedAt: 30, idleUntil: 60 },
    ])
    expect((await other.listSessions(user.id, 50)).map(({ id }) => id)).toEqual([one.id])
    expect(await other.endSessionOf(user.id, foreign.id)).toBe(false)
    expect(await other.endSessionOf(user.id, one.hash)).toBe(false)
    expect(await store.session(foreign.hash)).toBeDefined()
    expect(await other.endSessionOf(user.id, one.id)).toBe(true)
    expect(await store.session(one.hash)).toBeUndefined()
    expect(await store.session(two.hash)).toBeDefined()
  })

  test('a new password ends the other sessions and the invitation, and keeps this session', async () => {
    const user = await add()
    const [kept, ended] = [await addSession(user), await addSession(user)]
    const hash = randomUUID()
    await store.addInvitation(user.id, { hash, createdAt: 1, expiresAt: 99 })
    expect(await other.changeOwnPassword(user.id, { before: 'wrong', password: 'q', keep: kept.id })).toBe(false)
    expect(await store.session(ended.hash)).toBeDefined()
    expect(await other.changeOwnPassword(user.id, { before: 'p', password: 'q', keep: kept.id })).toBe(true)
    expect((await store.session(kept.hash))?.user).toBe(user.id)
    expect(await store.session(ended.hash)).toBeUndefined()
    expect(await store.invitedUser(hash, 2)).toBeUndefined()
    expect((await store.account(user.id))?.password).toBe('q')
    await store.changeUser(user.id, { disabled: true }, { now: 1 })
    expect(await other.changeOwnPassword(user.id, { before: 'q', password: 'r', keep: kept.id })).toBe(false)
  })

  test('of two changes of a password at once, one succeeds', async () => {
    const { id } = await add()
    const change = (password: string) => ({ before: 'p', password, keep: undefined })
    const changed = await Promise.all([
      store.changeOwnPassword(id, change('q')),
      other.changeOwnPassword(id, change('r')),
    ])
    expect(changed.toSorted()).toEqual([false, true])
    expect((await store.account(id))?.password).toBe(changed[0] ? 'q' : 'r')
  })

  test('an invitation sets the password once, in time, for an enabled user, and ends the sessions', async () => {
    const user = await add({ password: undefined })
    const [first, hash] = [randomUUID(), randomUUID()]
    const invitation = { createdAt: 1, expiresAt: 99 }
    await store.addInvitation(user.id, { ...invitation, hash: first })
    expect(await other.invitedUser(first, 98)).toEqual({ user: user.id, name: user.name, expiresAt: 99 })
    await store.addInvitation(user.id, { ...invitation, hash })
    expect(await other.redeemInvitation(first, 'x', 2)).toBeUndefined()
    expect(await other.invitedUser(hash, 99)).toBeUndefined()
    expect(await other.redeemInvitation(hash, 'x', 99)).toBeUndefined()
    expect((await store.account(user.id))?.login).toBe('none')
    const redeemed = await Promise.all([
      store.redeemInvitation(hash, 'one', 98),
      other.redeemInvitation(hash, 'two', 98),
    ])
    expect(redeemed.filter((result) => result !== undefined)).toEqual([{ user: user.id, name: user.name }])
    expect((await store.account(user.id))?.password).toBe(redeemed[0] ? 'one' : 'two')
    expect(await other.redeemInvitation(hash, 'x', 2)).toBeUndefined()
    const disabled = await add()
    await store.addInvitation(disabled.id, { ...invitation, hash: first })
    await store.changeUser(disabled.id, { disabled: true }, { now: 1 })
    await store.changeUser(disabled.id, { disabled: false }, { now: 1 })
    expect(await other.redeemInvitation(first, 'x', 2)).toBeUndefined()
    const reset = await add()
    const session = await addSession(reset)
    await store.addInvitation(reset.id, { ...invitation, hash: first })
    expect(await store.session(session.hash)).toBeDefined()
    expect(await other.redeemInvitation(first, 'p', 2)).toBeDefined()
    expect(await store.session(session.hash)).toBeUndefined()
  })
})

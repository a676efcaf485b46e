import { beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { AcceptedLogin, OidcLogin } from '../../plugins/oidc-login/index.ts'
import type { Store } from '../../src/store/index.ts'
import { eachDatabase } from '../support/database.ts'

eachDatabase('logins at an identity provider', (tested) => {
  let store: Store
  let other: Store
  beforeAll(async () => {
    store = await tested.open()
    other = await tested.open()
  })

  const loginOf = (more: Partial<OidcLogin> = {}): OidcLogin => ({
    ...{ issuer: 'https://id.test', subject: randomUUID(), name: `O-${randomUUID()}`, now: 5 },
    ...{ role: undefined, invitation: undefined },
    ...more,
  })

  const login = async (wanted: OidcLogin): Promise<AcceptedLogin> => {
    const result = await other.logInOidcUser(wanted)
    if (typeof result === 'string') throw new Error(result)
    return result
  }

  const invite = async (expiresAt = 1e12, password?: string) => {
    const hash = randomUUID()
    const user = await store.addAdminUser({
      ...{ name: `I-${randomUUID()}`, createdAt: 1, password },
      invitation: { hash, createdAt: 1, expiresAt },
    })
    if (typeof user === 'string') throw new Error(user)
    return { hash, user }
  }

  const session = (user: { readonly id: string; readonly name: string; readonly password?: string }) => ({
    ...{ hash: randomUUID(), id: randomUUID(), user: user.id, name: user.name, password: user.password },
    ...{ createdAt: 1, idleUntil: 1e12, endsAt: 1e12 },
  })

  test('add a user once, who is found again by issuer and subject, with the first name', async () => {
    const wanted = loginOf()
    const first = await login(wanted)
    expect(first).toEqual({ user: { id: first.user.id, name: wanted.name ?? '' }, found: 'added' })
    for (const name of ['another name', undefined])
      expect(await login({ ...wanted, name })).toEqual({ user: first.user, found: 'known' })
    expect(await store.adminUser(first.user.id)).toMatchObject({ login: 'oidc', role: 'user' })
    const elsewhere = await login({ ...wanted, issuer: 'https://other.test', name: randomUUID() })
    expect(elsewhere.user.id).not.toBe(first.user.id)
  })

  test('at the same moment add one user', async () => {
    for (let round = 0; round < 10; round++) {
      const wanted = loginOf()
      const results = await Promise.all(
        Array.from({ length: 10 }, (_, index) => (index % 2 ? store : other).logInOidcUser(wanted)),
      )
      const ids = results.map((result) => (typeof result === 'string' ? result : result.user.id))
      expect(new Set(ids).size).toBe(1)
      expect(ids[0]).not.toBe('name-taken')
    }
  })

  test('at the same moment under one name let one of two persons in', async () => {
    const name = `Same ${randomUUID()}`
    const results = await Promise.all(
      Array.from({ length: 6 }, (_, index) => (index % 2 ? store : other).logInOidcUser(loginOf({ name }))),
    )
    expect(results.filter((result) => typeof result !== 'string')).toHaveLength(1)
    expect(results.filter((result) => result === 'name-taken')).toHaveLength(5)
  })

  test('never take over a user of that name in any case, with or without a password', async () => {
    for (const password of ['p', undefined]) {
      const name = `Taken ${randomUUID()}`
      const owner = await store.addAdminUser({ name, password, createdAt: 1 })
      for (const variant of [name, name.toUpperCase(), `ｔａｋｅｎ${name.slice(5)}`])
        expect(await other.logInOidcUser(loginOf({ name: variant }))).toBe('name-taken')
      expect(await store.adminUserByName(name)).toEqual(owner as never)
    }
  })

  test('are denied to a disabled user, to whom nothing happens, and without a name', async () => {
    const wanted = loginOf()
    const { user } = await login(wanted)
    await store.changeUser(user.id, { disabled: true }, { now: 1 })
    expect(await other.logInOidcUser({ ...wanted, role: 'admin' })).toBe('disabled')
    expect((await store.adminUser(user.id))?.role).toBe('user')
    expect(await other.logInOidcUser(loginOf({ name: undefined }))).toBe('no-name')
  })

  test('give the role of the claims, and none changes without claims', async () => {
    const wanted = loginOf({ role: 'admin' })
    const { user } = await login(wanted)
    expect((await store.adminUser(user.id))?.role).toBe('admin')
    expect((await login({ ...wanted, role: undefined })).newRole).toBeUndefined()
    expect((await store.adminUser(user.id))?.role).toBe('admin')
    await login(loginOf({ role: 'admin' }))
    expect((await login({ ...wanted, role: 'user' })).newRole).toBe('user')
    expect((await login({ ...wanted, role: 'user' })).newRole).toBeUndefined()
    expect((await store.adminUser(user.id))?.role).toBe('user')
  })

  test('with an invitation become its user, once, and only while it is valid', async () => {
    const { hash, user } = await invite()
    const wanted = loginOf({ invitation: hash, name: undefined, role: 'admin' })
    const { id, name } = user
    expect(await login(wanted)).toEqual({ user: { id, name }, found: 'invited', newRole: 'admin' })
    expect(await store.adminUser(id)).toMatchObject({ name, login: 'oidc', role: 'admin' })
    // The link once more: the person is known by then.
    expect(await login(wanted)).toEqual({ user: { id, name }, found: 'known' })
    expect(await store.invitedUser(hash, 2)).toBeUndefined()
    expect(await other.logInOidcUser(loginOf({ invitation: hash }))).toBe('invitation')
    expect(await other.logInOidcUser(loginOf({ invitation: 'unknown' }))).toBe('invitation')
    expect(await other.logInOidcUser(loginOf({ invitation: (await invite(5)).hash }))).toBe('invitation')
  })

  test('of several persons with one invitation let one in', async () => {
    const { hash, user } = await invite()
    const results = await Promise.all(
      Array.from({ length: 6 }, (_, index) => (index % 2 ? store : other).logInOidcUser(loginOf({ invitation: hash }))),
    )
    const accepted = results.filter((result) => typeof result !== 'string')
    expect(accepted).toMatchObject([{ user: { id: user.id }, found: 'invited' }])
    expect(results.filter((result) => result === 'invitation')).toHaveLength(5)
  })

  test('with the invitation of another user change nothing', async () => {
    const wanted = loginOf()
    await login(wanted)
    const { hash, user } = await invite()
    expect(await other.logInOidcUser({ ...wanted, invitation: hash })).toBe('known')
    expect(await store.invitedUser(hash, 2)).toMatchObject({ user: user.id, name: user.name })
    expect(await store.adminUser(user.id)).toMatchObject({ login: 'none' })
  })

  test('with an invitation end the password, the sessions and an earlier identity of its user', async () => {
    const { hash, user } = await invite(1e12, 'p')
    const before = session({ ...user, password: 'p' })
    await store.addSession(before)
    expect(await other.session(before.hash)).toBeDefined()
    const first = loginOf({ invitation: hash })
    expect((await login(first)).user).toEqual({ id: user.id, name: user.name })
    expect(await other.session(before.hash)).toBeUndefined()
    expect(await store.userByName(user.name)).not.toHaveProperty('password')
    const later = session(user)
    await store.addSession(later)
    expect(await other.session(later.hash)).toBeDefined()
    const next = randomUUID()
    await store.addInvitation(user.id, { hash: next, createdAt: 1, expiresAt: 1e12 })
    expect(await login(loginOf({ invitation: next }))).toMatchObject({ user: { id: user.id }, found: 'invited' })
    expect(await other.session(later.hash)).toBeUndefined()
    expect(await login({ ...first, invitation: undefined })).toMatchObject({ found: 'added' })
  })

  test('with the invitation of a disabled user are denied', async () => {
    const { hash, user } = await invite()
    await store.changeUser(user.id, { disabled: true }, { now: 1 })
    expect(await other.logInOidcUser(loginOf({ invitation: hash }))).toBe('invitation')
  })

  test('begin sessions of a user without a password, which end when the user gets one', async () => {
    const { user } = await login(loginOf())
    const first = session(user)
    expect(await store.addSession(first)).toBe(true)
    expect((await other.session(first.hash))?.user).toBe(user.id)
    await store.changeUser(user.id, { password: 'p' }, { now: 1 })
    expect(await other.session(first.hash)).toBeUndefined()
    const second = session(user)
    expect(await store.addSession(second)).toBe(true)
    expect(await other.session(second.hash)).toBeUndefined()
  })
})

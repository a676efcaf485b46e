import { beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { ExternalLogin, ExternalLoginResult } from '../../plugins/web-session/index.ts'
import type { Store } from '../../src/store/index.ts'
import { eachDatabase } from '../support/database.ts'

eachDatabase('logins with an identity provider', (tested) => {
  let store: Store
  let other: Store
  beforeAll(async () => {
    store = await tested.open()
    other = await tested.open()
  })

  const external = (more: Partial<ExternalLogin> = {}): ExternalLogin => ({
    ...{ issuer: 'https://id.test', subject: randomUUID(), name: `O-${randomUUID()}`, now: 5 },
    ...more,
  })

  const login = async (wanted: ExternalLogin): Promise<Exclude<ExternalLoginResult, string>> => {
    const result = await other.loginByExternalIdentity(wanted)
    if (typeof result === 'string') throw new Error(result)
    return result
  }

  test('add a user once, who is found again by issuer and subject, with the first name', async () => {
    const wanted = external()
    const first = await login(wanted)
    expect(first).toEqual({ user: { id: first.user.id, name: wanted.name }, added: true, invited: false })
    const again = await login({ ...wanted, name: 'another name' })
    expect(again).toEqual({ user: first.user, added: false, invited: false })
    expect(await store.adminUser(first.user.id)).toMatchObject({ login: 'oidc', role: 'user' })
    const elsewhere = await login({ ...wanted, issuer: 'https://other.test', name: randomUUID() })
    expect(elsewhere.user.id).not.toBe(first.user.id)
  })

  test('at the same moment add one user', async () => {
    const wanted = external()
    const results = await Promise.all(
      Array.from({ length: 10 }, (_, index) => (index % 2 ? store : other).loginByExternalIdentity(wanted)),
    )
    const ids = results.map((result) => (typeof result === 'string' ? result : result.user.id))
    expect(new Set(ids).size).toBe(1)
    expect(ids[0]).not.toBe('name-taken')
  })

  test('never take over a user of that name in any case, and are denied to a disabled user', async () => {
    const name = `Taken ${randomUUID()}`
    const owner = await store.addAdminUser({ name, password: 'p', createdAt: 1 })
    expect(await other.loginByExternalIdentity(external({ name: name.toUpperCase() }))).toBe('name-taken')
    expect(await store.adminUserByName(name)).toEqual(owner as never)
    const wanted = external()
    const { user } = await login(wanted)
    await store.changeUser(user.id, { disabled: true }, { now: 1 })
    expect(await other.loginByExternalIdentity({ ...wanted, role: 'admin' })).toBe('disabled')
    expect((await store.adminUser(user.id))?.role).toBe('user')
  })

  test('give the role of the claims, and none changes without claims', async () => {
    const wanted = external({ role: 'admin' })
    const { user } = await login(wanted)
    expect((await store.adminUser(user.id))?.role).toBe('admin')
    expect((await login({ ...wanted, role: undefined })).newRole).toBeUndefined()
    expect((await store.adminUser(user.id))?.role).toBe('admin')
    await login(external({ role: 'admin' }))
    expect((await login({ ...wanted, role: 'user' })).newRole).toBe('user')
    expect((await login({ ...wanted, role: 'user' })).newRole).toBeUndefined()
    expect((await store.adminUser(user.id))?.role).toBe('user')
  })

  test('with an invitation become its user, once, and only while it is valid', async () => {
    const invite = async (expiresAt = 1e12) => {
      const hash = randomUUID()
      const user = await store.addAdminUser({
        ...{ name: `I-${randomUUID()}`, createdAt: 1 },
        invitation: { hash, createdAt: 1, expiresAt },
      })
      if (typeof user === 'string') throw new Error(user)
      return { hash, user }
    }
    const { hash, user } = await invite()
    const wanted = external({ invitation: hash })
    expect(await login(wanted)).toEqual({ user: { id: user.id, name: user.name }, added: false, invited: true })
    expect(await login(wanted)).toEqual({ user: { id: user.id, name: user.name }, added: false, invited: false })
    expect(await store.invitedUser(hash, 2)).toBeUndefined()
    expect((await login(external({ invitation: hash }))).added).toBe(true)
    const expired = await invite(5)
    expect((await login(external({ invitation: expired.hash }))).user.id).not.toBe(expired.user.id)
    const known = await invite()
    expect((await login({ ...wanted, invitation: known.hash })).user.id).toBe(user.id)
    expect(await store.invitedUser(known.hash, 2)).toEqual({ user: known.user.id, name: known.user.name })
    const contested = await invite()
    const results = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        (index % 2 ? store : other).loginByExternalIdentity(external({ invitation: contested.hash })),
      ),
    )
    expect(results.filter((result) => typeof result !== 'string' && result.invited)).toHaveLength(1)
  })

  test('begin sessions of a user without a password, which end when the user gets one', async () => {
    const { user } = await login(external())
    const hash = randomUUID()
    const times = { createdAt: 1, idleUntil: 1e12, endsAt: 1e12 }
    expect(await store.addSession({ hash, id: hash, user: user.id, name: user.name, ...times })).toBe(true)
    expect((await other.session(hash))?.user).toBe(user.id)
    await store.changeUser(user.id, { password: 'p' }, { now: 1 })
    expect(await other.session(hash)).toBeUndefined()
    expect(await store.addSession({ hash, id: hash, user: user.id, name: user.name, ...times })).toBe(true)
    expect(await other.session(hash)).toBeUndefined()
  })
})

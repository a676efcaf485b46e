import { beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { Store } from '../../src/store/index.ts'
import { eachDatabase } from '../support/database.ts'

eachDatabase('the last enabled admin', (tested) => {
  let stores: readonly [Store, Store]
  beforeAll(async () => {
    stores = [await tested.open(), await tested.open()]
  })

  const addAdmin = async (): Promise<string> => {
    const added = await stores[0].addAdminUser({ name: randomUUID(), role: 'admin', createdAt: 1 })
    if (typeof added === 'string') throw new Error(added)
    return added.id
  }

  const enabledAdmins = async () =>
    (await stores[0].listAdminUsers({ role: 'admin', state: 'enabled' }, { limit: 100 })).items.map(({ id }) => id)

  const keep = { now: 5, keepLastAdmin: true }

  test('can neither be disabled nor demoted over HTTP, and can by the command line', async () => {
    const [one, two] = [await addAdmin(), await addAdmin()]
    const [store] = stores
    expect(await store.changeUser(one, { disabled: true, limits: '[]' }, keep)).toBe('changed')
    expect(await store.changeUser(two, { disabled: true, limits: '[]' }, keep)).toBe('last-admin')
    expect(await store.changeUser(two, { role: 'user', limits: '[]' }, keep)).toBe('last-admin')
    expect((await store.adminUser(two))?.limits).toBeUndefined()
    expect(await store.changeUser(one, { role: 'user' }, keep)).toBe('changed')
    expect(await store.changeUser(two, { limits: '[]', role: 'admin', disabled: false }, keep)).toBe('changed')
    expect(await store.changeUser(two, { role: 'user' }, { now: 5 })).toBe('changed')
    expect(await enabledAdmins()).toEqual([])
  })

  test('is a person: a service user does not count', async () => {
    const [store] = stores
    const last = await addAdmin()
    for (const id of await enabledAdmins()) if (id !== last) await store.changeUser(id, { role: 'user' }, { now: 5 })
    const service = await store.addAdminUser({ name: randomUUID(), role: 'admin', service: true, createdAt: 1 })
    if (typeof service === 'string') throw new Error(service)
    expect(await store.changeUser(last, { role: 'user' }, keep)).toBe('last-admin')
    expect(await store.changeUser(service.id, { role: 'user' }, keep)).toBe('changed')
  })

  test('stays when all admins are disabled or demoted at once by two processes', async () => {
    for (let round = 0; round < 5; round++) {
      const admins = [...(await enabledAdmins()), await addAdmin(), await addAdmin(), await addAdmin()]
      const outcomes = await Promise.all(
        admins.map((id, index) =>
          (stores[index % 2] ?? stores[0]).changeUser(id, index % 2 ? { disabled: true } : { role: 'user' }, keep),
        ),
      )
      expect(outcomes.filter((outcome) => outcome === 'last-admin')).toHaveLength(1)
      expect(await enabledAdmins()).toHaveLength(1)
    }
  })

  test('stays admin when an identity provider takes the role away', async () => {
    const [store] = stores
    const login = {
      ...{ issuer: 'https://id.test', subject: randomUUID(), name: randomUUID(), invitation: undefined, now: 1 },
    }
    const added = await store.logInOidcUser({ ...login, role: 'admin' })
    if (typeof added === 'string') throw new Error(added)
    for (const id of await enabledAdmins())
      if (id !== added.user.id) await store.changeUser(id, { role: 'user' }, { now: 1 })
    expect(await store.logInOidcUser({ ...login, role: 'user' })).toMatchObject({ isLastAdmin: true })
    expect(await enabledAdmins()).toEqual([added.user.id])
    await addAdmin()
    expect(await store.logInOidcUser({ ...login, role: 'user' })).toMatchObject({ newRole: 'user' })
    expect(await enabledAdmins()).not.toContain(added.user.id)
  })
})

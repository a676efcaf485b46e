import { beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { ConsentAct } from '../../plugins/shared/consent/store.ts'
import type { Store } from '../../src/store/index.ts'
import { eachDatabase } from '../support/database.ts'

const byPerson = (at: number): ConsentAct => ({ at, actor: { by: 'person' } })

eachDatabase('consents', (database) => {
  let store: Store
  let other: Store
  beforeAll(async () => {
    store = await database.open()
    other = await database.open()
  })

  const addGroup = async (type = 'LivenessFace') => {
    const user = (await store.addUser({ name: randomUUID(), createdAt: 1 })) ?? ''
    const id = randomUUID()
    await store.adoptGroup({ id, user, type, name: id, createdAt: 1 })
    return { group: id, owner: user }
  }

  const verify = async ({ group, owner }: { group: string; owner: string }, linkHash?: string) => {
    const id = randomUUID()
    const status = 'waiting_user' as const
    await store.addVerification({
      ...{ id, user: owner, kind: 'ark', status, createdAt: 5, expiresAt: 50, dueAt: 6 },
      ...(linkHash !== undefined && { linkHash }),
    })
    await store.recordConsent({ group, verification: id, at: 10 })
    return id
  }

  const use = (group: string, task: string, at = 20) =>
    other.recordConsentUse({ task, user: 'user', assets: [{ id: 'asset', group }], at })

  test('a consent has its invitation and verification, the first one of a group', async () => {
    const wanted = await addGroup()
    const hash = randomUUID()
    const verification = await verify(wanted, hash)
    const consent = { ...wanted, invitation: { verification, user: wanted.owner, at: 5 }, verifiedAt: 10 }
    expect(await other.consentOf(wanted.group)).toEqual(consent)
    expect(await other.consentByLink(hash)).toEqual(consent)
    expect(await other.consentByLink(randomUUID())).toBeUndefined()
    const second = randomUUID()
    await verify(wanted, second)
    expect(await other.consentOf(wanted.group)).toEqual(consent)
    expect(await other.consentByLink(second)).toEqual(consent)
    expect(await other.consentOf(randomUUID())).toBeUndefined()
  })

  test('a use is recorded until the withdrawal, and in a group of an owner only', async () => {
    const { group, owner } = await addGroup()
    expect(await use(group, 'task-1')).toBe(true)
    expect(await use(randomUUID(), 'task-1')).toBe(false)
    expect(await other.hasWithdrawn(group)).toBe(false)
    await store.withdrawConsent({ group, owner }, byPerson(30))
    expect([await other.hasWithdrawn(group), await use(group, 'task-2', 31)]).toEqual([true, false])
    // The first withdrawal stays.
    await other.withdrawConsent({ group, owner }, { at: 40, actor: { by: 'owner', user: owner } })
    const consent = await store.consentOf(group)
    expect(consent).toEqual({ group, owner, usedAt: 20, withdrawal: byPerson(30) })
    expect(await store.consentUses(group, { limit: 10 })).toEqual([
      { task: 'task-1', user: 'user', assets: ['asset'], at: 20, isKept: false },
    ])
  })

  test('of uses and a withdrawal at once, each recorded use comes before the withdrawal', async () => {
    for (let round = 0; round < 5; round++) {
      const { group, owner } = await addGroup()
      const calls = Array.from({ length: 10 }, (_, nth) => () => use(group, `task-${nth}`))
      const withdraw = async () => {
        await store.withdrawConsent({ group, owner }, byPerson(30))
        return (await store.consentUses(group, { limit: 100 })).length
      }
      const [before, ...used] = await Promise.all([withdraw(), ...calls.map((call) => call())])
      // After the withdrawal nothing was added.
      expect(await store.consentUses(group, { limit: 100 })).toHaveLength(Number(before))
      expect(used.filter(Boolean)).toHaveLength(Number(before))
    }
  })

  test('of several groups, one whose consent is withdrawn keeps all from being used', async () => {
    const [first, second] = [await addGroup(), await addGroup()]
    await store.withdrawConsent(second, byPerson(1))
    const assets = [first, second].map(({ group }) => ({ id: `asset of ${group}`, group }))
    expect(await store.recordConsentUse({ task: 'task', user: 'u', assets, at: 2 })).toBe(false)
    for (const { group } of [first, second]) expect(await store.consentUses(group, { limit: 10 })).toEqual([])
  })

  test('a withdrawal ends the shares of the group, and no other share follows', async () => {
    const wanted = await addGroup()
    const group = { id: wanted.group, user: wanted.owner }
    const bob = (await store.addUser({ name: randomUUID(), createdAt: 1 })) ?? ''
    const lend = () => store.lendGroup({ group, borrower: { user: bob }, access: 'use', now: 1 })
    expect(await lend()).toMatchObject({ user: bob })
    const since = await store.revision()
    await store.withdrawConsent(wanted, byPerson(2))
    expect(await other.groupsLentTo(bob, 2)).toEqual([])
    expect(await other.revision(since)).toMatchObject({ changes: [{ kind: 'shares' }] })
    expect(await lend()).toBe('no-group')
    // For another consent they go on.
    const next = await addGroup()
    const share = {
      group: { id: next.group, user: next.owner },
      borrower: { user: bob },
      access: 'use',
      now: 1,
    } as const
    expect(await store.lendGroup(share)).toMatchObject({ user: bob })
    await store.withdrawConsent(await addGroup(), byPerson(2))
    expect(await store.groupsLentTo(bob, 2)).toHaveLength(1)
  })

  test('a group has a maximum of links', async () => {
    const { group, owner } = await addGroup()
    const add = () => store.addConsentLink({ group, owner, hash: randomUUID(), madeBy: owner, at: 1 })
    const added = await Promise.all(Array.from({ length: 14 }, add))
    expect(added.filter(Boolean)).toHaveLength(10)
    expect(await store.consentOf(group)).toEqual({ group, owner })
  })

  test('uses come in pages by task, with all assets of a task', async () => {
    const { group } = await addGroup()
    for (const task of ['a', 'b', 'c', 'd']) {
      const assets = ['2', '1'].map((id) => ({ id: `${task}${id}`, group }))
      expect(await store.recordConsentUse({ task, user: 'u', assets, at: 7 })).toBe(true)
    }
    const page = async (after?: string) => (await store.consentUses(group, { after, limit: 3 })).map(({ task }) => task)
    expect([await page(), await page('b'), await page('a')]).toEqual([['d', 'c', 'b'], ['a'], []])
    expect((await store.consentUses(group, { limit: 1 }))[0]?.assets).toEqual(['d1', 'd2'])
    expect([await store.countConsentUses(group, 10), await store.countConsentUses(group, 3)]).toEqual([4, 3])
  })

  test('a deletion is asked for once, after the withdrawal, and goes on until all parts are done', async () => {
    const wanted = await addGroup()
    const { group, owner } = wanted
    await use(group, 'task')
    await store.requestConsentDeletion(group, byPerson(1))
    expect(await store.dueConsentDeletions(100, 10)).toEqual([])
    await store.withdrawConsent(wanted, byPerson(30))
    await store.requestConsentDeletion(group, byPerson(31))
    await store.requestConsentDeletion(group, { at: 35, actor: { by: 'owner', user: owner } })
    expect(await store.dueConsentDeletions(30, 10)).toEqual([])
    const [due] = await other.dueConsentDeletions(31, 10)
    expect(due?.deletion).toEqual({ ...byPerson(31), assets: 0, results: 0, uses: 0 })
    await store.noteConsentDeletion({ group, assets: 2, dueAt: 40 })
    await store.noteConsentDeletion({ group, assets: 1, assetsAt: 41, dueAt: 42 })
    expect(await store.dueConsentDeletions(41, 10)).toEqual([])
    await store.noteConsentDeletion({ group, results: 1, resultsAt: 43, dueAt: 44 })
    // Of the uses, their number remains.
    expect(await store.consentUses(group, { limit: 10 })).toEqual([])
    await store.removeGroup({ id: group, user: owner })
    await store.noteConsentDeletion({ group, groupAt: 45 })
    expect(await store.dueConsentDeletions(1_000, 10)).toEqual([])
    await store.noteConsentDeletion({ group, assets: 9, groupAt: 99 })
    const { deletion, withdrawal } = (await other.consentOf(group)) ?? {}
    expect(withdrawal).toEqual(byPerson(30))
    expect(deletion).toEqual({
      ...{ ...byPerson(31), assetsAt: 41, resultsAt: 43, groupAt: 45 },
      ...{ assets: 3, results: 1, uses: 1 },
    })
    const events = (await store.eventsOf(owner, 0, 10)).map(({ type, data }) => [type, JSON.parse(data)])
    expect(events).toEqual([
      ['consent.withdrawn', { group_id: group, state: 'withdrawn', by: 'person' }],
      ['consent.deleted', { group_id: group, state: 'deleted' }],
    ])
  })
})

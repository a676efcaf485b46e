import { describe, expect, test } from 'bun:test'
import { RevisionClock } from '../../plugins/ownership/index.ts'
import type { Audit, AuditEvent } from '../../plugins/shared/audit.ts'
import { systemClock } from '../../plugins/shared/clock.ts'
import { openStore, type Store } from '../../src/store/index.ts'
import { migratedDatabase, repeatedDatabases } from '../support/database.ts'
import { startGateway, type User, userAt } from '../support/gateway.ts'
import {
  errorReply,
  type Fixture,
  ids,
  newAsset,
  newGroup,
  openFixture,
  repeatedKinds,
  statusAndText,
} from './fixture.ts'

const notYours = errorReply(403, 'group_id does not belong to your asset groups')
const notAmongYours = errorReply(403, 'GroupIds contain asset groups not belonging to you')
const noAsset = errorReply(403, 'asset not found in your asset group')
const noBorrower = errorReply(404, 'there is no such user or team to lend to')

const lend = async (owner: User, group: string, body: object): Promise<string> => {
  const reply = await owner.ask('POST', `/assets/groups/${group}/shares`, body)
  expect([reply.status, reply.text.slice(0, 200)]).toEqual([200, reply.text.slice(0, 200)])
  return reply.json.Result.Id
}

const addTeam = async ({ store }: Fixture, ...members: readonly User[]): Promise<string> => {
  const team = await store.addTeam({ name: 'Design', createdAt: 1 })
  if (team === 'name-taken') throw new Error(team)
  for (const { id } of members) await store.changeUser(id, { team: team.id }, { now: 1 })
  return team.name
}

describe.each(repeatedKinds)('with an upstream of kind $kind', ({ kindOf }) => {
  test('a borrower sees the group and its assets, in details and in lists with a scope', async () => {
    await using fixture = await openFixture({ kindOf })
    const { ann, bob } = fixture
    const [lent, kept, own] = [await newGroup(ann, 'lent'), await newGroup(ann, 'kept'), await newGroup(bob, 'own')]
    const [asset, , mine] = [await newAsset(ann, lent), await newAsset(ann, kept), await newAsset(bob, own)]
    await lend(ann, lent, { User: bob.id })

    const detail = await bob.ask('GET', `/assets/groups/${lent}`)
    expect(detail.json.Result).toMatchObject({ Id: lent, Name: 'lent', Access: 'read' })
    expect((await ann.ask('GET', `/assets/groups/${lent}`)).json.Result.Access).toBeUndefined()
    expect((await bob.ask('GET', `/assets/${asset}`)).json.Result).toMatchObject({ Id: asset, GroupId: lent })

    const groups = async (query: string) => (await bob.ask('GET', `/assets/groups${query}`)).json.Result
    expect(ids(await bob.ask('GET', '/assets/groups'))).toEqual([own])
    expect(ids(await bob.ask('GET', '/assets/groups?scope=own'))).toEqual([own])
    expect(await groups('?scope=shared')).toMatchObject({ TotalCount: 1, Items: [{ Id: lent, Access: 'read' }] })
    const first = await groups('?scope=all&SortOrder=Asc&PageSize=1')
    expect(first).toMatchObject({ TotalCount: 2, Items: [{ Id: lent }] })
    const second = await groups(`?scope=all&SortOrder=Asc&PageSize=1&NextToken=${first.NextToken}`)
    expect(second).toMatchObject({ TotalCount: 2, NextToken: '', Items: [{ Id: own }] })
    expect(second.Items[0].Access).toBeUndefined()
    expect(await groups('?scope=all&Name=lent')).toMatchObject({ TotalCount: 1 })
    expect(await groups('?scope=all&SortBy=UpdateTime')).toMatchObject({ TotalCount: 2 })
    expect(await groups('?scope=shared&GroupType=LivenessFace')).toMatchObject({ TotalCount: 0, Items: [] })

    const assets = async (query: string) => ids(await bob.ask('GET', `/assets${query}`)).sort()
    expect(await assets('')).toEqual([mine])
    expect(await assets('?scope=shared')).toEqual([asset])
    expect(await assets('?scope=all')).toEqual([asset, mine].sort())
    expect(await assets(`?scope=all&GroupIds=${lent}`)).toEqual([asset])
    const body = { Filter: { scope: 'shared' } }
    expect(ids(await bob.ask('GET', '/assets', body))).toEqual([asset])
    for (const path of ['/assets', '/assets/groups']) {
      for (const query of [`GroupIds=${lent}`, `scope=own&GroupIds=${lent}`, `scope=shared&GroupIds=${lent},${own}`])
        expect(statusAndText(await bob.ask('GET', `${path}?${query}`))).toEqual(notAmongYours)
      expect(statusAndText(await bob.ask('GET', `${path}?scope=all&GroupIds=${kept}`))).toEqual(notAmongYours)
      expect((await bob.ask('GET', `${path}?scope=others`)).status).toBe(400)
    }
  })

  test('a borrower changes, deletes and lends nothing: the answers are those for an unknown id, without an upstream call', async () => {
    await using fixture = await openFixture({ kindOf })
    const { ann, bob } = fixture
    const eve = await fixture.addUser('eve')
    const [lent, own] = [await newGroup(ann, 'lent'), await newGroup(bob, 'own')]
    const [asset, mine] = [await newAsset(ann, lent), await newAsset(bob, own)]
    const share = await lend(ann, lent, { User: bob.id, Access: 'use' })
    await bob.ask('GET', '/assets?scope=all')
    fixture.calls()
    const group = `/assets/groups/${lent}`
    for (const [method, path, body] of [
      ['PUT', group, { Name: 'mine' }],
      ['PATCH', group, { Description: 'mine' }],
      ['DELETE', group, undefined],
      ['POST', `${group}/shares`, { User: eve.id }],
      ['GET', `${group}/shares`, undefined],
      ['DELETE', `${group}/shares/${share}`, undefined],
      ['POST', '/assets', { GroupId: lent, URL: 'https://files.example/a.png', AssetType: 'Image' }],
      ['PATCH', `/assets/${mine}`, { GroupId: lent }],
    ] as const) {
      const unknown = await eve.ask(method, path.replace(mine, 'asset-x'), body)
      const reply = await bob.ask(method, path, body)
      expect([method, path, statusAndText(reply)]).toEqual([method, path, notYours])
      if (!path.includes(mine)) expect(statusAndText(unknown)).toEqual(notYours)
    }
    for (const [method, body] of [
      ['PUT', { Name: 'mine' }],
      ['PATCH', { Name: 'mine' }],
      ['DELETE', undefined],
    ] as const)
      expect(statusAndText(await bob.ask(method, `/assets/${asset}`, body))).toEqual(noAsset)
    // To find out whose an asset is, the gateway may read it.
    expect(fixture.calls().filter(({ action }) => action !== 'GetAsset')).toEqual([])
    expect(fixture.emulator.library.group(lent)).toMatchObject({ name: 'lent', description: '' })
  })

  test('a revoked share ends at once', async () => {
    await using fixture = await openFixture({ kindOf })
    const { ann, bob } = fixture
    const lent = await newGroup(ann, 'lent')
    const asset = await newAsset(ann, lent)
    const share = await lend(ann, lent, { User: bob.id })
    expect((await bob.ask('GET', `/assets/${asset}`)).status).toBe(200)
    expect(ids(await bob.ask('GET', '/assets/groups?scope=shared'))).toEqual([lent])
    const ended = await ann.ask('DELETE', `/assets/groups/${lent}/shares/${share}`)
    expect([ended.status, ended.json]).toEqual([200, { Result: { Id: share } }])
    expect(statusAndText(await bob.ask('GET', `/assets/groups/${lent}`))).toEqual(notYours)
    expect(statusAndText(await bob.ask('GET', `/assets/${asset}`))).toEqual(noAsset)
    expect(ids(await bob.ask('GET', '/assets/groups?scope=all'))).toEqual([])
    expect(ids(await bob.ask('GET', '/assets?scope=shared'))).toEqual([])
    const again = await ann.ask('DELETE', `/assets/groups/${lent}/shares/${share}`)
    expect(statusAndText(again)).toEqual(errorReply(404, 'share not found'))
  })
})

test('a share is listed for its owner, changed by lending again, and expires', async () => {
  let now = Date.UTC(2026, 0, 1)
  await using fixture = await openFixture({ clock: { ...systemClock, now: () => now } })
  const { ann, bob } = fixture
  const team = await addTeam(fixture, ann, bob)
  const group = await newGroup(ann, 'lent')
  const shares = async () => (await ann.ask('GET', `/assets/groups/${group}/shares`)).json.Result
  expect(await shares()).toEqual({ Items: [], NextToken: '', TotalCount: 0 })
  const id = await lend(ann, group, { User: bob.id, ExpireTime: '2026-01-01T00:01:00Z' })
  expect(await lend(ann, group, { User: bob.id, Access: 'use', ExpireTime: '2026-01-01 08:02:00+08:00' })).toBe(id)
  const forTeam = await lend(ann, group, { Team: team.toLowerCase() })
  const time = '2026-01-01T00:00:00.000+00:00'
  const one = { Id: id, User: bob.id, Access: 'use', CreateTime: time, ExpireTime: '2026-01-01T00:02:00.000+00:00' }
  const both = [one, { Id: forTeam, Team: 'Design', Access: 'read', CreateTime: time }]
  const { Items, TotalCount } = await shares()
  expect(Items.toSorted((a: { Team?: string }) => (a.Team ? 1 : -1))).toEqual(both)
  expect(TotalCount).toBe(2)
  const access = async () => (await bob.ask('GET', `/assets/groups/${group}`)).json.Result?.Access
  expect(await access()).toBe('use')
  now += 119_999
  expect(await access()).toBe('use')
  now += 1
  expect(await access()).toBe('read')
  expect((await shares()).Items).toEqual([both[1]])
  await fixture.store.changeUser(bob.id, { team: null }, { now })
  expect(statusAndText(await bob.ask('GET', `/assets/groups/${group}`))).toEqual(notYours)
})

test('whom a group cannot be lent to gets one answer, whoever exists', async () => {
  await using fixture = await openFixture()
  const { ann, bob, store } = fixture
  const eve = await fixture.addUser('eve')
  await addTeam(fixture, eve)
  await store.disableUser('bob', 1)
  const group = await newGroup(ann, 'lent')
  for (const body of [
    { User: 'nobody' },
    { User: 'eve' },
    { User: bob.id },
    { User: ann.id },
    { Team: 'Design' },
    { Team: 'no such team' },
  ])
    expect(statusAndText(await ann.ask('POST', `/assets/groups/${group}/shares`, body))).toEqual(noBorrower)
})

test('a share with a wrong, unknown or doubled field is 400', async () => {
  await using fixture = await openFixture()
  const { ann, bob } = fixture
  const group = await newGroup(ann, 'lent')
  const User = bob.id
  for (const body of [
    {},
    { User, Team: 'x' },
    { User: '' },
    { User: 7 },
    { User: null },
    { Team: 'x'.repeat(1_025) },
    { User, Access: 'write' },
    { User, Access: null },
    { User, expireTime: '2999-01-01T00:00:00Z' },
    { User, ExpireTime: '2020-01-01T00:00:00Z' },
    { User, ExpireTime: 'tomorrow' },
    { User, ExpireTime: 4_000_000_000 },
    `{"User":"${User}","Access":"read","Access":"use"}`,
    '[]',
  ]) {
    const reply = await ann.ask('POST', `/assets/groups/${group}/shares`, body)
    expect([body, reply.status]).toEqual([body, 400])
  }
  expect((await ann.ask('GET', `/assets/groups/${group}/shares`)).json.Result.TotalCount).toBe(0)
})

test('a repetition with the same Idempotency-Key gets the first response; with another group it is 409', async () => {
  await using fixture = await openFixture()
  const { ann, bob } = fixture
  const [one, two] = [await newGroup(ann, 'one'), await newGroup(ann, 'two')]
  const ask = (group: string) =>
    ann.ask('POST', `/assets/groups/${group}/shares`, { User: bob.id }, { 'idempotency-key': 'k' })
  const first = await ask(one)
  await ann.ask('DELETE', `/assets/groups/${one}/shares/${first.json.Result.Id}`)
  expect(statusAndText(await ask(one))).toEqual(statusAndText(first))
  expect((await ask(two)).status).toBe(409)
  expect(ids(await bob.ask('GET', '/assets/groups?scope=shared'))).toEqual([])
})

test('lending and revoking are in the audit trail, with the borrower', async () => {
  const events: AuditEvent[] = []
  const audit: Audit = { note: (event) => void events.push(event), record: async () => {} }
  await using fixture = await openFixture({ audit })
  const { ann, bob } = fixture
  const group = await newGroup(ann, 'lent')
  events.length = 0
  const share = await lend(ann, group, { User: bob.id, Access: 'use' })
  await ann.ask('DELETE', `/assets/groups/${group}/shares/${share}`)
  const target = { kind: 'group', id: group }
  expect(events).toEqual([
    { action: 'share.create', target, fields: ['User', 'Access'], reason: `use for the user ${bob.id}` },
    { action: 'share.revoke', target, reason: share },
  ])
})

/** The methods of a store that a gateway calls. */
const watched = (store: Store): { readonly store: Store; readonly called: string[] } => {
  const called: string[] = []
  const watching = Object.entries(store).map(([name, method]) => [
    name,
    typeof method !== 'function'
      ? method
      : (...given: unknown[]) => {
          if (!['revision', 'ownerOf', 'noteUse', 'onRaise'].includes(name)) called.push(name)
          return method(...given)
        },
  ])
  return { store: Object.fromEntries(watching) as Store, called }
}

test('requests without a scope for own groups and assets ask the store as often as without shares', async () => {
  const callsWith = async (shares: 'none' | 'some'): Promise<readonly string[]> => {
    const { store, called } = watched(openStore('sqlite::memory:'))
    await using fixture = await openFixture({ store, ...(shares === 'none' && { shares: undefined }) })
    const { ann } = fixture
    called.length = 0
    const group = await newGroup(ann, 'one')
    const asset = await newAsset(ann, group)
    for (const path of ['/assets', '/assets/groups', `/assets/${asset}`, `/assets/groups/${group}`])
      for (let time = 0; time < 2; time++) expect((await ann.ask('GET', path)).status).toBe(200)
    await ann.ask('GET', `/assets?GroupIds=${group}`)
    await ann.ask('PATCH', `/assets/${asset}`, { Name: 'x' })
    await ann.ask('DELETE', `/assets/${asset}`)
    await ann.ask('DELETE', `/assets/groups/${group}`)
    await store.close()
    return called
  }
  const without = await callsWith('none')
  expect(without.length).toBeGreaterThan(3)
  expect(await callsWith('some')).toEqual(without)
})

test('without the option there are no shares, and a scope is an unknown parameter', async () => {
  await using fixture = await openFixture({ shares: undefined, checked: 'none' })
  const { ann, bob } = fixture
  const group = await newGroup(ann, 'one')
  expect((await ann.ask('POST', `/assets/groups/${group}/shares`, { User: bob.id })).status).toBe(404)
  expect(ids(await ann.ask('GET', '/assets/groups?scope=shared'))).toEqual([group])
})

test('a host app says whom it knows', async () => {
  const store = openStore('sqlite::memory:')
  await using fixture = await openFixture({ store, shares: { store, isUser: async (id) => id === 'host-1' } })
  const { ann } = fixture
  const group = await newGroup(ann, 'lent')
  await lend(ann, group, { User: 'host-1' })
  expect((await ann.ask('POST', `/assets/groups/${group}/shares`, { User: 'host-2' })).status).toBe(404)
  expect((await store.groupsLentTo('host-1', 1)).map(({ id }) => id)).toEqual([group])
  await store.close()
})

describe.each(repeatedDatabases)('on %s', (kind) => {
  test('a share that another process revokes ends when the process learns it, 900 ms later at most', async () => {
    const database = await migratedDatabase(kind)
    const [here, there] = [
      openStore(database.url, { deadlineMs: 60_000 }),
      openStore(database.url, { deadlineMs: 60_000 }),
    ]
    let now = 0
    const revisionClock = new RevisionClock((since) => there.revision(since), { clock: { now: () => now } })
    try {
      await using one = await startGateway({ store: here })
      const { emulator } = one
      await using two = await startGateway({ store: there, emulator, revisionClock })
      const [ann, bob] = [await one.addUser('ann'), await one.addUser('bob')]
      const group = await newGroup(ann, 'lent')
      const asset = await newAsset(ann, group)
      const elsewhere = userAt(two.url, bob.id, bob.token)
      const seen = async () => [
        ...[(await elsewhere.ask('GET', `/assets/groups/${group}`)).status],
        ...[(await elsewhere.ask('GET', `/assets/${asset}`)).status],
        ids(await elsewhere.ask('GET', '/assets/groups?scope=shared')),
      ]
      expect(await seen()).toEqual([403, 403, []])
      const share = await lend(ann, group, { User: bob.id })
      now += 900
      expect(await seen()).toEqual([200, 200, [group]])
      await ann.ask('DELETE', `/assets/groups/${group}/shares/${share}`)
      now += 900
      expect(await seen()).toEqual([403, 403, []])
      await lend(ann, group, { User: bob.id })
      now += 900
      expect(await seen()).toEqual([200, 200, [group]])
      await here.disableUser('ann', 1)
      now += 900
      expect(await seen()).toEqual([403, 403, []])
      await here.enableUser('ann')
      await lend(ann, group, { User: bob.id })
      now += 900
      expect(await seen()).toEqual([200, 200, [group]])
      expect((await ann.ask('DELETE', `/assets/groups/${group}`)).status).toBe(200)
      now += 900
      expect(await seen()).toEqual([403, 403, []])
    } finally {
      await Promise.all([here.close(), there.close()])
      await database.remove()
    }
  }, 300_000)
})

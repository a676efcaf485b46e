import { expect, test } from 'bun:test'
import { databaseNames } from '../support/database.ts'
import { media, openVideoFixture, text, until } from '../video-generation/fixture.ts'
import { newAsset, newGroup } from './fixture.ts'

const openLent = async (database: (typeof databaseNames)[number]) => {
  const fixture = await openVideoFixture({ database })
  const { ann, bob, gateway, store } = fixture
  const cid = await gateway.addUser('cid')
  const group = await newGroup(ann, 'people')
  const asset = await newAsset(ann, group)
  const team = await store.addTeam({ name: 'red', createdAt: 1 })
  if (typeof team === 'string') throw new Error(team)
  for (const { id } of [ann, bob, cid]) await store.changeUser(id, { team: team.id }, { now: 1 })
  const lend = async (to: object) => {
    const lent = await ann.ask('POST', `/assets/groups/${group}/shares`, { Access: 'use', ...to })
    expect(lent.status).toBe(200)
  }
  return {
    ...{ ...fixture, cid, group, asset, lend },
    sees: async (user: typeof cid) => (await user.ask('GET', `/assets/groups/${group}`)).status === 200,
    giveBack: (user: typeof cid) => user.ask('POST', `/assets/groups/${group}/return`),
    [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose](),
  }
}

test.each(databaseNames)('a borrower gives a group back, for nobody else (%s)', async (database) => {
  await using it = await openLent(database)
  const { ann, bob, cid, group } = it
  expect((await it.giveBack(bob)).status).toBe(403)
  for (const { id } of [bob, cid]) await it.lend({ User: id })
  expect([await it.sees(bob), await it.sees(cid)]).toEqual([true, true])
  const returned = await it.giveBack(bob)
  expect([returned.status, returned.json]).toEqual([200, { Result: { Id: group } }])
  expect([await it.sees(bob), await it.sees(cid)]).toEqual([false, true])
  expect((await it.giveBack(bob)).status).toBe(403)
  const shares = (await ann.ask('GET', `/assets/groups/${group}/shares`)).json.Result.Items
  expect(shares.map(({ User }: { User: string }) => User)).toEqual([cid.id])
  await it.lend({ Team: 'red' })
  const ofTeam = await it.giveBack(bob)
  expect([ofTeam.status, ofTeam.json.error.message]).toEqual([
    ...[409, 'the asset group is lent to your team, and not to you alone'],
  ])
  expect((await it.giveBack(cid)).status).toBe(200)
  expect([await it.sees(bob), await it.sees(cid)]).toEqual([true, true])
  expect((await it.giveBack(ann)).status).toBe(409)
})

test.each(databaseNames)(
  'the owner sees who has used which asset, and nothing of what was made (%s)',
  async (database) => {
    await using it = await openLent(database)
    const { ann, bob, asset, group } = it
    const uses = async () => (await ann.ask('GET', `/assets/groups/${group}/shares/uses`)).json.Result
    await it.lend({ Team: 'red' })
    const content = [text('a secret prompt'), media('image', `asset://${asset}`, 'reference_image')]
    await ann.created('mine', { content })
    expect(await uses()).toEqual({ Items: [], HasMore: false })
    const task = await bob.created('x', { content })
    const name = (await it.store.adminUser(bob.id))?.name
    const use = { UserName: name, AssetId: asset, UseTime: expect.any(String) }
    expect(await uses()).toEqual({ Items: [use], HasMore: false })
    await it.lend({ User: bob.id })
    const found = await uses()
    expect(found).toEqual({ Items: [{ User: bob.id, ...use }], HasMore: false })
    for (const secret of [task, 'a secret prompt']) expect(JSON.stringify(found)).not.toContain(secret)
    expect((await bob.ask('GET', `/assets/groups/${group}/shares/uses`)).status).toBe(403)
  },
)

test.each(databaseNames)('borrowers see the name of the lender, and never the id (%s)', async (database) => {
  await using it = await openLent(database)
  const { ann, bob, group, store } = it
  await it.lend({ User: bob.id })
  const shown = async () => {
    const list = await bob.ask('GET', '/assets/groups?scope=shared')
    const detail = await bob.ask('GET', `/assets/groups/${group}`)
    for (const { text: body } of [list, detail]) expect(body).not.toContain(ann.id)
    return [list.json.Result.Items[0].Lender, detail.json.Result.Lender]
  }
  const name = (await store.adminUser(ann.id))?.name
  expect(await shown()).toEqual([name, name])
  await store.changeUser(ann.id, { name: `${name} the second` }, { now: 1 })
  await until(async () => (await shown())[0] === `${name} the second`)
  expect((await ann.ask('GET', '/assets/groups')).json.Result.Items[0].Lender).toBeUndefined()
})

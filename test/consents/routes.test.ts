import { expect, test } from 'bun:test'
import { createToken, hashToken } from '../../plugins/api-token/index.ts'
import { newGroup } from '../routes/fixture.ts'
import { userAt } from '../support/gateway.ts'
import { content, openFaceFixture } from './fixture.ts'

const routes = [
  ['GET', ''],
  ['GET', '/uses'],
  ['GET', '/export'],
  ['POST', '/withdraw'],
  ['POST', '/delete'],
  ['POST', '/links'],
] as const

test('only the owner of a group has its consent: borrowers, others, and unknown ids get the same 403', async () => {
  await using face = await openFaceFixture()
  const { bob, gateway, ann } = face.fixture
  const eve = await gateway.addUser('eve')
  for (const [method, path] of routes) {
    const answers = new Set<string>()
    for (const user of [bob, eve])
      for (const group of [face.group, 'group-unknown', '%00'])
        answers.add(JSON.stringify(await answerOf(user, method, group, path)))
    expect([path, answers.size]).toEqual([path, 1])
    expect([...answers][0]).toContain('group_id does not belong to your asset groups')
  }
  expect((await ann.ask('GET', `/assets/groups/${face.group}/consent`)).json.Result).toEqual({
    ...{ GroupId: face.group, Status: 'active' },
  })
})

const answerOf = async (user: { ask: Ask }, method: string, group: string, path: string) => {
  const { status, text } = await user.ask(method, `/assets/groups/${group}/consent${path}`)
  return { status, text }
}

type Ask = (method: string, path: string) => Promise<{ readonly status: number; readonly text: string }>

test('a group that shows no person has no consent', async () => {
  await using face = await openFaceFixture()
  const { ann } = face.fixture
  const group = await newGroup(ann, 'cats')
  for (const [method, path] of routes)
    expect([path, (await ann.ask(method, `/assets/groups/${group}/consent${path}`)).status]).toEqual([path, 404])
})

test('a withdrawal names who has asked for it, and is done once', async () => {
  await using face = await openFaceFixture()
  const { ann, store } = face.fixture
  const first = await face.withdraw()
  const { Withdrawal } = first.json.Result
  expect(Withdrawal).toEqual({ Time: expect.any(String), By: 'owner', User: ann.id })
  expect((await face.withdraw()).text).toBe(first.text)
  expect((await ann.ask('GET', `/assets/groups/${face.group}/shares`)).json.Result.Items).toEqual([])
  const lent = await ann.ask('POST', `/assets/groups/${face.group}/shares`, { User: face.fixture.bob.id })
  expect(lent.status).toBe(409)
  const events = (await store.eventsOf(ann.id, 0, 10)).filter(({ type }) => type.startsWith('consent.'))
  expect(events.map(({ type, data }) => [type, JSON.parse(data)])).toEqual([
    ['consent.withdrawn', { group_id: face.group, state: 'withdrawn', by: 'owner' }],
  ])
})

test('the ledger outlives the group', async () => {
  await using face = await openFaceFixture()
  const { ann, store } = face.fixture
  const task = await ann.created('x', { content: content(face.asset) })
  await store.removeGroup({ id: face.group, user: ann.id })
  expect((await ann.ask('GET', `/assets/groups/${face.group}`)).status).toBe(403)
  expect((await ann.ask('GET', `/assets/groups/${face.group}/consent/uses`)).json.Result.Items[0].TaskId).toBe(task)
  expect((await face.withdraw()).json.Result.Status).toBe('withdrawn')
})

test('the uses come in pages, and need the scope that reads videos', async () => {
  await using face = await openFaceFixture()
  const { ann, gateway, store } = face.fixture
  const tasks: string[] = []
  for (let nth = 0; nth < 3; nth++) tasks.unshift(await ann.created(`${nth}`, { content: content(face.asset) }))
  const path = `/assets/groups/${face.group}/consent/uses`
  const first = (await ann.ask('GET', `${path}?MaxResults=2`)).json.Result
  const last = (await ann.ask('GET', `${path}?MaxResults=2&NextToken=${first.NextToken}`)).json.Result
  expect([...first.Items, ...last.Items].map(({ TaskId }) => TaskId)).toEqual(tasks)
  expect([first.TotalCount, last.NextToken]).toEqual([3, ''])
  for (const size of ['0', '101', 'x']) expect((await ann.ask('GET', `${path}?MaxResults=${size}`)).status).toBe(400)
  // An empty page would say that nothing follows.
  for (const token of ['x', 'cgt-1', '%00'])
    expect((await ann.ask('GET', `${path}?NextToken=${token}`)).status).toBe(400)
  const token = createToken()
  const scopes = ['media'] as const
  await store.addToken({ user: ann.id, hash: hashToken(token), start: 'sk-', createdAt: Date.now(), scopes })
  const restricted = userAt(gateway.url, ann.id, token)
  for (const part of ['uses', 'export'])
    expect((await restricted.ask('GET', `/assets/groups/${face.group}/consent/${part}`)).status).toBe(403)
  // The page of a link shows the uses, too.
  expect((await restricted.ask('POST', `/assets/groups/${face.group}/consent/links`)).status).toBe(403)
  expect((await restricted.ask('GET', `/assets/groups/${face.group}/consent`)).status).toBe(200)
})

test('the owner makes a link for the person, and the ledger says that the owner has made it', async () => {
  await using face = await openFaceFixture()
  const { ann, gateway } = face.fixture
  const { URL: link } = (await ann.ask('POST', `/assets/groups/${face.group}/consent/links`)).json.Result
  expect(link).toStartWith(`${gateway.url}/api/media/face-verifications/consent/`)
  expect((await fetch(link)).status).toBe(200)
  const done = await fetch(`${link}/withdraw`, { method: 'POST' })
  expect([done.url, done.status]).toEqual([link, 200])
  const { Withdrawal } = (await ann.ask('GET', `/assets/groups/${face.group}/consent`)).json.Result
  expect(Withdrawal).toEqual({ Time: expect.any(String), By: 'person', LinkFrom: ann.id })
  for (let nth = 1; nth < 10; nth++)
    expect((await ann.ask('POST', `/assets/groups/${face.group}/consent/links`)).status).toBe(200)
  expect((await ann.ask('POST', `/assets/groups/${face.group}/consent/links`)).status).toBe(429)
})

test('a borrower through a team is in the ledger with the id that the list of shared uses does not have', async () => {
  await using face = await openFaceFixture()
  const { ann, bob, store } = face.fixture
  const team = await store.addTeam({ name: 'red', createdAt: 1 })
  if (typeof team === 'string') throw new Error(team)
  for (const { id } of [ann, bob]) await store.changeUser(id, { team: team.id }, { now: 1 })
  const shares = `/assets/groups/${face.group}/shares`
  const [alone] = (await ann.ask('GET', shares)).json.Result.Items
  expect((await ann.ask('DELETE', `${shares}/${alone.Id}`)).status).toBe(200)
  expect((await ann.ask('POST', shares, { Team: 'red', Access: 'use' })).status).toBe(200)
  const task = await bob.created('x', { content: content(face.asset) })
  const [shared] = (await ann.ask('GET', `${shares}/uses`)).json.Result.Items
  expect(shared).toEqual({ UserName: expect.any(String), AssetId: face.asset, UseTime: expect.any(String) })
  const uses = await ann.ask('GET', `/assets/groups/${face.group}/consent/uses`)
  expect(uses.json.Result.Items).toMatchObject([{ TaskId: task, User: bob.id, AssetIds: [face.asset] }])
})

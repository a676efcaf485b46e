import { describe, expect, test } from 'bun:test'
import { type Fixture, ids, newAsset, newGroup, openFixture } from './fixture.ts'

const start = Date.UTC(2026, 0, 1)
/** Adds assets around those created through the gateway, so that a wrong token leads to another page. */
const emulator = { clock: () => start + 60_000 }

const open = async (assets: number): Promise<Fixture> => {
  const fixture = await openFixture({ emulator })
  const groupId = await newGroup(fixture.ann, 'a')
  for (let at = 0; at < assets; at++) {
    // Two assets have the same time, so that the Id decides.
    const createTime = start + (at >> 1) * 60_000
    fixture.emulator.library.addAsset({ groupId, name: at % 2 ? 'odd' : 'even', createTime })
  }
  return fixture
}

const list = (fixture: Fixture, query: string) => fixture.ann.ask('GET', `/assets?${query}`)

test('NextToken is always present, and empty on the last page', async () => {
  await using routes = await open(12)
  const first = (await list(routes, '')).json.Result
  expect([first.Items.length, first.TotalCount]).toEqual([10, 12])
  expect(first.NextToken).toMatch(/^[\w-]{1,1024}$/)
  const last = (await list(routes, `NextToken=${first.NextToken}`)).json.Result
  expect([last.Items.length, last.NextToken, last.TotalCount]).toEqual([2, '', 12])
  const all = (await list(routes, 'PageSize=12')).json.Result
  expect([all.Items.length, all.NextToken, all.TotalCount]).toEqual([12, '', 12])
})

test('TotalCount counts the items after all filters', async () => {
  await using routes = await open(12)
  await newAsset(routes.bob, await newGroup(routes.bob, 'a'))
  const count = async (query: string) => (await list(routes, query)).json.Result.TotalCount
  expect(await count('Name=odd&PageSize=1')).toBe(6)
  expect(await count('Name=od')).toBe(0)
  expect(await count('Statuses=Failed')).toBe(0)
  expect(await count('Statuses=Active&PageNumber=99')).toBe(12)
})

test('a page past the end is empty and has the correct TotalCount', async () => {
  await using routes = await open(3)
  for (const page of [2, 1_000, Number.MAX_SAFE_INTEGER]) {
    const { Result } = (await list(routes, `PageNumber=${page}`)).json
    expect(Result).toEqual({ Items: [], NextToken: '', TotalCount: 3 })
  }
})

test('page mode and token mode give the same sequence', async () => {
  await using routes = await open(25)
  const whole = ids(await list(routes, 'PageSize=100'))
  const byNumber: string[] = []
  for (let page = 1; page <= 7; page++) byNumber.push(...ids(await list(routes, `PageSize=4&PageNumber=${page}`)))
  expect(byNumber).toEqual(whole)
  const byToken: string[] = []
  // The page size may change, and a token has priority over PageNumber.
  for (let size = 1, token = ''; size === 1 || token !== ''; size++) {
    const page = token === '' ? 1 : 9
    const reply = await list(routes, `MaxResults=${size}&PageNumber=${page}&NextToken=${token}`)
    byToken.push(...ids(reply))
    token = reply.json.Result.NextToken
  }
  expect(byToken).toEqual(whole)
})

test('a walk by tokens visits every permanent item exactly once while others are added and removed', async () => {
  await using routes = await open(20)
  const { library } = routes.emulator
  const before = ids(await list(routes, 'PageSize=100'))
  const removed = new Set<string>()
  const seen: string[] = []
  let token = ''
  do {
    const reply = await list(routes, `PageSize=3&NextToken=${token}`)
    seen.push(...ids(reply))
    token = reply.json.Result.NextToken
    const [groupId] = library.groups().map(({ id }) => id)
    library.addAsset({ groupId: groupId ?? '', createTime: Date.UTC(2027, 0, 1) })
    // Also removes the item of the current token.
    for (const id of [seen.at(-1), before.find((id) => !seen.includes(id) && !removed.has(id))]) {
      if (id && library.deleteAsset(id)) removed.add(id)
    }
  } while (token)
  const stayed = before.filter((id) => !removed.has(id))
  expect(seen.filter((id) => stayed.includes(id))).toEqual(stayed)
  expect(new Set(seen).size).toBe(seen.length)
})

describe('an invalid token means page mode', () => {
  test.each(['', '%20', 'abc', 'x'.repeat(1_025), '..%2f', '%00', '{}', '0'])('%s', async (token) => {
    await using routes = await open(5)
    const expected = ids(await list(routes, 'PageSize=2&PageNumber=2'))
    expect(ids(await list(routes, `PageSize=2&PageNumber=2&NextToken=${token}`))).toEqual(expected)
  })

  test('of another user, endpoint, filter, sort or secret, or with a changed character', async () => {
    await using routes = await open(5)
    await using elsewhere = await openFixture({ emulator, secrets: ['another secret, a secret of the tests'] })
    const { ann, bob } = routes
    for (const user of [bob, elsewhere.ann]) {
      const group = await newGroup(user, 'b')
      for (let at = 0; at < 3; at++) await newAsset(user, group)
    }
    await newGroup(ann, 'b')
    const tokenOf = async (user: typeof ann, path: string) =>
      (await user.ask('GET', `${path}PageSize=1`)).json.Result.NextToken as string
    const own = await tokenOf(ann, '/assets?')
    const flipped = Array.from(own, (sign, at) => own.slice(0, at) + (sign === 'A' ? 'B' : 'A') + own.slice(at + 1))
    const bad = [
      await tokenOf(bob, '/assets?'),
      await tokenOf(elsewhere.ann, '/assets?'),
      await tokenOf(ann, '/assets/groups?'),
      await tokenOf(ann, '/assets?Name=odd&'),
      await tokenOf(ann, '/assets?Statuses=Active&'),
      await tokenOf(ann, '/assets?SortOrder=Asc&'),
      await tokenOf(ann, '/assets?SortBy=UpdateTime&'),
      ...flipped,
      ...[own.slice(1), own.slice(0, -1), `${own}A`, own.toUpperCase()],
    ]
    const first = ids(await list(routes, 'PageSize=2'))
    for (const token of bad) expect(ids(await list(routes, `PageSize=2&NextToken=${token}`))).toEqual(first)
    const second = ids(await list(routes, 'PageSize=2&PageNumber=2'))
    expect(ids(await list(routes, `PageSize=2&NextToken=${own}`))[1]).toBe(second[0] ?? '')
  })
})

test('ResponseMetadata is forwarded when there was exactly one upstream response', async () => {
  await using routes = await open(3)
  const keys = async (path: string) => Object.keys((await routes.ann.ask('GET', path)).json)
  expect(await keys('/assets')).toEqual(['ResponseMetadata', 'Result'])
  expect(await keys('/assets/groups')).toEqual(['ResponseMetadata', 'Result'])
  routes.emulator.faults.add({ kind: 'headers', headers: { 'x-request-id': 'abc' } })
  const { ResponseMetadata } = (await list(routes, '')).json
  expect(ResponseMetadata).toMatchObject({ Action: 'ListAssets' })
  routes.emulator.faults.add({ kind: 'status', status: 500, action: 'ListAssetGroups' })
  expect(await keys('/assets/groups')).toEqual(['Result'])
  expect(await keys('/assets?GroupType=LivenessFace')).toEqual(['Result'])
  const [group] = routes.emulator.library.groups()
  for (let at = 0; at < 101; at++) routes.emulator.library.addAsset({ groupId: group?.id ?? '' })
  expect(await keys('/assets')).toEqual(['Result'])
})

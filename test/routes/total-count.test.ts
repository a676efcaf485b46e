import { describe, expect, test } from 'bun:test'
import { rest } from '../../plugins/upstream-proxy/index.ts'
import { repetitions } from '../support/repetitions.ts'
import { type Fixture, newGroup, openFixture } from './fixture.ts'
import { ignoring } from './ignoring.ts'

const minute = 60_000

/** Ann's assets (`a`) and foreign ones (`-`), one minute apart in the given order. */
const fill = async ({ ann, emulator }: Fixture, owners: string) => {
  const own = await newGroup(ann, 'a')
  const foreign = emulator.library.addGroup({ name: 'foreign' }).id
  const start = Date.UTC(2026, 0, 1)
  for (const [nth, owner] of [...owners].entries()) {
    const createTime = start + nth * minute
    const groupId = owner === '-' ? foreign : own
    emulator.library.addAsset({ groupId, status: 'Active', createTime, updateTime: createTime })
  }
  return owners.replaceAll('-', '').length
}

const library = {
  'the newest assets are foreign': `${'a'.repeat(20)}${'-'.repeat(400)}`,
  'the oldest assets are foreign': `${'-'.repeat(400)}${'a'.repeat(200)}`,
  'the assets in the middle are foreign': `${'a'.repeat(50)}${'-'.repeat(30)}${'a'.repeat(50)}`,
  'all assets are foreign': '-'.repeat(30),
}

describe.each(Object.entries(library))('when the upstream ignores GroupIds and %s', (_, owners) => {
  test.each(
    repetitions('PageNumber=1000', 'PageNumber=2000&PageSize=100', 'PageNumber=7&PageSize=100', 'PageNumber=90000000'),
  )('the empty page %s has the TotalCount of the caller’s assets', async (query) => {
    for (const order of ['Asc', 'Desc']) {
      await using fixture = await openFixture({ kindOf: ignoring('GroupIds') })
      const count = await fill(fixture, owners)
      const { json } = await fixture.ann.ask('GET', `/assets?${query}&SortOrder=${order}`)
      expect(json.Result).toEqual({ Items: [], NextToken: '', TotalCount: count })
    }
  })
})

const minePlus = {
  'three of the caller’s newest': `${'-'.repeat(28)}aaa`,
  'three of the caller’s oldest': `aaa${'-'.repeat(28)}`,
  'hundreds of the caller’s on both sides of foreign ones': `${'a'.repeat(250)}${'-'.repeat(30)}${'a'.repeat(250)}`,
}

describe.each(Object.entries(minePlus))('when the upstream ignores GroupIds and has %s', (_, owners) => {
  test.each(
    repetitions('PageSize=1', 'PageSize=3', 'PageSize=2&PageNumber=2', 'PageSize=1&SortOrder=Asc', 'PageNumber=1000'),
  )('the page %s has the TotalCount of the caller’s assets', async (query) => {
    await using fixture = await openFixture({ kindOf: ignoring('GroupIds') })
    const count = await fill(fixture, owners)
    for (let again = 0; again < 2; again++) {
      const { json } = await fixture.ann.ask('GET', `/assets?${query}`)
      expect(json.Result.TotalCount).toBe(count)
    }
  })
})

test('an upstream that honours GroupIds is checked once for all users, and only when a page does not show all assets', async () => {
  await using fixture = await openFixture()
  await fill(fixture, `${'a'.repeat(50)}--`)
  const bobs = await newGroup(fixture.bob, 'b')
  for (let nth = 0; nth < 12; nth++) fixture.emulator.library.addAsset({ groupId: bobs })
  fixture.calls()
  await fixture.bob.ask('GET', '/assets?PageSize=12')
  expect(fixture.calls()).toHaveLength(1)
  await fixture.ann.ask('GET', '/assets')
  expect(fixture.calls()).toHaveLength(2)
  let pages = 0
  for (let nextToken: string | undefined = ''; nextToken !== undefined; pages++) {
    const { json } = await fixture.ann.ask('GET', `/assets?NextToken=${nextToken}`)
    expect(json.Result.TotalCount).toBe(50)
    nextToken = json.Result.NextToken || undefined
  }
  await fixture.bob.ask('GET', '/assets')
  expect([pages, fixture.calls().length]).toEqual([5, 6])
})

test('an upstream that begins to ignore GroupIds is checked again once it has listed a foreign asset', async () => {
  let ignores = false
  await using fixture = await openFixture({
    kindOf: (emulator) => {
      const [honest, ignorant] = [rest(emulator.rest), ignoring('GroupIds')(emulator)]
      return { ...honest, outgoing: (operation) => (ignores ? ignorant : honest).outgoing(operation) }
    },
  })
  const count = await fill(fixture, `${'-'.repeat(28)}aaaa`)
  const total = async (query: string) => (await fixture.ann.ask('GET', `/assets?${query}`)).json.Result.TotalCount
  expect(await total('PageSize=1')).toBe(count)
  ignores = true
  expect(await total('PageSize=20')).toBe(count)
  expect(await total('PageSize=1')).toBe(count)
})

test('a filter without matches has TotalCount 0, even if the upstream ignores the filter', async () => {
  for (const names of [['GroupIds'], ['Statuses'], ['GroupIds', 'Statuses'], []]) {
    await using fixture = await openFixture({ kindOf: ignoring(...names) })
    await fill(fixture, 'aaa--')
    for (const query of ['Statuses=Failed', 'Statuses=Failed&PageNumber=50', 'Statuses=Failed&PageNumber=4000']) {
      const { json } = await fixture.ann.ask('GET', `/assets?${query}`)
      expect(json.Result).toMatchObject({ Items: [], NextToken: '', TotalCount: 0 })
    }
  }
})

test('an empty page of an upstream that honours the parameters needs one or two more calls', async () => {
  await using fixture = await openFixture()
  const count = await fill(fixture, `${'a'.repeat(30)}--`)
  fixture.calls()
  expect((await fixture.ann.ask('GET', '/assets?PageNumber=50')).json.Result.TotalCount).toBe(count)
  expect(fixture.calls()).toHaveLength(2)
})

test('a cached walk shows changes of the same second', async () => {
  let time = Date.UTC(2026, 0, 1)
  await using fixture = await openFixture({ emulator: { clock: () => time } })
  const { ann, emulator } = fixture
  const groupId = await newGroup(ann, 'a')
  for (let nth = 0; nth < 300; nth++) emulator.library.addAsset({ groupId, name: 'old', createTime: time })
  time += 60_000
  const list = async (): Promise<{ Id: string; Name: string }[]> =>
    (await ann.ask('GET', '/assets?PageSize=10&PageNumber=2')).json.Result.Items
  const [first, second] = await list()
  for (const [id, Name] of [
    [first?.Id, 'one'],
    [second?.Id, 'two'],
    [first?.Id, 'three'],
    [second?.Id, 'four'],
  ]) {
    expect((await ann.ask('PATCH', `/assets/${id}`, { Name })).status).toBe(200)
    expect((await list()).find(({ Id }) => Id === id)?.Name).toBe(Name)
  }
  fixture.calls()
  await list()
  expect(fixture.calls()).toHaveLength(1)
})

import { describe, expect, test } from 'bun:test'
import { type MediaKind, rest } from '../../plugins/upstream-proxy/index.ts'
import type { Emulator } from '../../src/emulator/index.ts'
import { type Fixture, newGroup, openFixture } from './fixture.ts'

/** An upstream that ignores some parameters of an asset list. */
const ignoring =
  (...names: readonly string[]) =>
  (emulator: Emulator): MediaKind => {
    const kind = rest(emulator.rest)
    return {
      ...kind,
      async outgoing(operation) {
        const outgoing = await kind.outgoing(operation)
        if (operation.action !== 'ListAssets') return outgoing
        const url = new URL(outgoing.url)
        for (const name of names) url.searchParams.delete(name)
        return { ...outgoing, url: url.href }
      },
    }
  }

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
  test.each(['PageNumber=1000', 'PageNumber=2000&PageSize=100', 'PageNumber=7&PageSize=100', 'PageNumber=90000000'])(
    'the empty page %s has the TotalCount of the caller’s assets',
    async (query) => {
      for (const order of ['Asc', 'Desc']) {
        await using fixture = await openFixture({ kindOf: ignoring('GroupIds') })
        const count = await fill(fixture, owners)
        const { json } = await fixture.ann.ask('GET', `/assets?${query}&SortOrder=${order}`)
        expect(json.Result).toEqual({ Items: [], NextToken: '', TotalCount: count })
      }
    },
  )
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

import { describe, expect, test } from 'bun:test'
import { type MediaKind, rest } from '../../plugins/upstream-proxy/index.ts'
import type { Emulator } from '../../src/emulator/index.ts'
import { newGroup, openRoutes, type Routes } from './fixture.ts'

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
const fill = async ({ ann, emulator }: Routes, owners: string) => {
  const own = await newGroup(ann, 'a')
  const foreign = emulator.library.addGroup({ name: 'strangers' }).id
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
        await using routes = await openRoutes({ kindOf: ignoring('GroupIds') })
        const count = await fill(routes, owners)
        const { json } = await routes.ann.ask('GET', `/assets?${query}&SortOrder=${order}`)
        expect(json.Result).toEqual({ Items: [], NextToken: '', TotalCount: count })
      }
    },
  )
})

test('a filter without matches has TotalCount 0, even if the upstream ignores the filter', async () => {
  for (const names of [['GroupIds'], ['Statuses'], ['GroupIds', 'Statuses'], []]) {
    await using routes = await openRoutes({ kindOf: ignoring(...names) })
    await fill(routes, 'aaa--')
    for (const query of ['Statuses=Failed', 'Statuses=Failed&PageNumber=50', 'Statuses=Failed&PageNumber=4000']) {
      const { json } = await routes.ann.ask('GET', `/assets?${query}`)
      expect(json.Result).toMatchObject({ Items: [], NextToken: '', TotalCount: 0 })
    }
  }
})

test('an empty page of an upstream that honours the parameters needs one or two more calls', async () => {
  await using routes = await openRoutes()
  const count = await fill(routes, `${'a'.repeat(30)}--`)
  routes.calls()
  expect((await routes.ann.ask('GET', '/assets?PageNumber=50')).json.Result.TotalCount).toBe(count)
  expect(routes.calls()).toHaveLength(2)
})

test('a cached walk shows changes of the same second', async () => {
  let time = Date.UTC(2026, 0, 1)
  await using routes = await openRoutes({ emulator: { clock: () => time } })
  const { ann, emulator } = routes
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
  routes.calls()
  await list()
  expect(routes.calls()).toHaveLength(1)
})

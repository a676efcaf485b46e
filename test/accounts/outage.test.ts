import { expect, setDefaultTimeout, test } from 'bun:test'
import { groupOn, openAccounts } from './fixture.ts'

setDefaultTimeout(60_000)

interface Item {
  readonly Id: string
  readonly Description?: string
  readonly Account?: string
}

/** A library with two assets in a group on each account. */
const openLibrary = async () => {
  const fixture = await openAccounts()
  const groups = [await groupOn(fixture, fixture.ann, 'a', 'on a'), await groupOn(fixture, fixture.ann, 'b', 'on b')]
  const assets = groups.map((groupId, index) =>
    ['one', 'two'].map((name) => fixture.emulators[index]?.library.addAsset({ groupId, name }).id ?? ''),
  )
  return { ...fixture, groups, assets, ids: assets.flat() }
}

const idsIn = (items: readonly Item[]): readonly string[] => items.map(({ Id }) => Id)

test('a list has the assets of all accounts', async () => {
  await using fixture = await openLibrary()
  const { json } = await fixture.ann.ask('GET', '/assets?PageSize=100')
  expect([...idsIn(json.Result.Items)].sort()).toEqual([...fixture.ids].sort())
  expect(json.Result.TotalCount).toBe(4)
})

test('without one of the accounts a list is 502 and names it, and what is on the others is served', async () => {
  await using fixture = await openLibrary()
  const { ann, emulators, groups, assets } = fixture
  await emulators[1]?.stop()
  const all = await ann.ask('GET', '/assets')
  expect(all.status).toBe(502)
  expect(all.json.error.message).toBe('Seedance upstream unavailable: account b')
  expect(fixture.log.some((line) => line.includes('account b'))).toBe(true)
  expect((await ann.ask('GET', `/assets?GroupIds=${groups}`)).status).toBe(502)

  const rest = await ann.ask('GET', `/assets?GroupIds=${groups[0]}`)
  expect([...idsIn(rest.json.Result.Items)].sort()).toEqual([...(assets[0] ?? [])].sort())
  for (const id of assets[0] ?? []) expect((await ann.ask('GET', `/assets/${id}`)).status).toBe(200)
  for (const id of assets[1] ?? []) {
    const detail = await ann.ask('GET', `/assets/${id}`)
    expect([detail.status, detail.json.error.message]).toEqual([502, 'Seedance upstream unavailable: account b'])
  }
  const changed = await ann.ask('PUT', `/assets/${assets[0]?.[0]}`, { Name: 'renamed' })
  expect(changed.status).toBe(200)
  expect((await ann.ask('DELETE', `/assets/groups/${groups[1]}`)).status).toBe(502)
})

test('without one of the accounts the list of groups is complete: records describe those on it', async () => {
  await using fixture = await openLibrary()
  const { ann, emulators, groups } = fixture
  await emulators[1]?.stop()
  for (const sort of ['CreateTime', 'UpdateTime']) {
    const { json } = await ann.ask('GET', `/assets/groups?SortBy=${sort}`)
    expect([...idsIn(json.Result.Items)].sort()).toEqual([...groups].sort())
    expect(json.Result.TotalCount).toBe(2)
    const accounts = Object.fromEntries(json.Result.Items.map(({ Id, Account }: Item) => [Id, Account]))
    expect(accounts).toEqual({ [groups[0] ?? '']: 'a', [groups[1] ?? '']: 'b' })
    const described = json.Result.Items.map(({ Account, Description }: Item) => [Account, Description])
    expect(new Map(described)).toEqual(
      new Map([
        ['a', 'described by a'],
        ['b', ''],
      ]),
    )
  }
})

test('a slow account delays nothing that is on another one', async () => {
  await using fixture = await openLibrary()
  const { ann, emulators, groups } = fixture
  emulators[1]?.faults.add({ kind: 'hang', times: Number.POSITIVE_INFINITY })
  const { json } = await ann.ask('GET', `/assets?GroupIds=${groups[0]}`)
  expect(json.Result.TotalCount).toBe(2)
  expect((await ann.ask('GET', `/assets/groups/${groups[0]}`)).status).toBe(200)
})

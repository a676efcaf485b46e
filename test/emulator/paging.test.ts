import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Emulator, startEmulator } from '../../src/emulator/index.ts'
import { rest } from './client.ts'

let emulator: Emulator
let group: string

beforeAll(async () => {
  emulator = await startEmulator()
  group = emulator.library.addGroup({ name: 'g' }).id
  const createTime = Date.UTC(2026, 0)
  for (let n = 0; n < 25; n++) emulator.library.addAsset({ groupId: group, name: `n${n}`, createTime })
})
afterAll(() => emulator.stop())

const list = (query: string) => rest(emulator, 'GET', `/assets?GroupIds=${group}&${query}`)
const names = (items: { Name: string }[]) => items.map((item) => item.Name)

test('without paging fields, a list is in cursor mode with 10 items and no counts', async () => {
  const { Result } = await list('')
  expect(Object.keys(Result)).toEqual(['Items', 'NextToken'])
  expect(Result.Items).toHaveLength(10)
})

test('paging by cursor returns every item once and ends without a NextToken', async () => {
  const seen: string[] = []
  let token = ''
  for (let pages = 1; ; pages++) {
    const { Result } = await list(`MaxResults=12&NextToken=${token}`)
    seen.push(...names(Result.Items))
    if (Result.NextToken === undefined) {
      expect(Object.keys(Result)).toEqual(['Items'])
      expect(pages).toBe(3)
      break
    }
    token = Result.NextToken
  }
  expect(new Set(seen).size).toBe(25)
  expect(seen).toHaveLength(25)
})

test('deleting an item of an earlier page does not shift the next page', async () => {
  const extra = emulator.library.addGroup({ name: 'moving' }).id
  for (let n = 0; n < 6; n++) emulator.library.addAsset({ groupId: extra, name: `m${n}`, createTime: n * 1000 })
  const query = `/assets?GroupIds=${extra}&SortOrder=Asc&MaxResults=3`
  const first = (await rest(emulator, 'GET', query)).Result
  emulator.library.deleteAsset(first.Items[0].Id)
  const second = (await rest(emulator, 'GET', `${query}&NextToken=${first.NextToken}`)).Result
  expect(names(second.Items)).toEqual(['m3', 'm4', 'm5'])
  emulator.library.deleteGroup(extra)
})

test('page mode returns the total count and no NextToken', async () => {
  const { Result } = await list('PageNumber=3&PageSize=10')
  expect(Object.keys(Result)).toEqual(['Items', 'TotalCount', 'PageNumber', 'PageSize'])
  expect(Result).toMatchObject({ TotalCount: 25, PageNumber: 3, PageSize: 10 })
  expect(Result.Items).toHaveLength(5)
  expect((await list('PageNumber=9&PageSize=10')).Result).toMatchObject({ Items: [], TotalCount: 25 })
})

test('both modes use the same order, and items with equal times are not ordered by id', async () => {
  const paged = (await list('PageNumber=1&PageSize=100')).Result.Items
  expect(names((await list('MaxResults=100')).Result.Items)).toEqual(names(paged))
  const ids = paged.map((item: { Id: string }) => item.Id)
  expect([...ids].sort()).not.toEqual(ids)
  expect([...ids].sort().reverse()).not.toEqual(ids)
})

test('fields of both modes, or an incomplete page mode, are rejected', async () => {
  expect((await list('PageNumber=1&PageSize=10&MaxResults=10')).code).toBe('InvalidParameter')
  expect((await list('PageNumber=1&PageSize=10&NextToken=abc')).code).toBe('InvalidParameter')
  expect((await list('PageSize=10&MaxResults=10')).code).toBe('InvalidParameter')
  expect((await list('PageNumber=1')).code).toBe('MissingParameter.PageSize')
  expect((await list('PageSize=10')).code).toBe('MissingParameter.PageNumber')
})

test('page sizes and numbers have bounds', async () => {
  expect((await list('PageNumber=1&PageSize=101')).code).toBe('InvalidParameter.PageSize')
  expect((await list('PageNumber=1&PageSize=0')).code).toBe('InvalidParameter.PageSize')
  expect((await list('PageNumber=0&PageSize=10')).code).toBe('InvalidParameter.PageNumber')
  expect((await list('PageNumber=x&PageSize=10')).code).toBe('InvalidParameter.PageNumber')
  expect((await list('MaxResults=101')).code).toBe('InvalidParameter.MaxResults')
  expect((await list('MaxResults=0')).code).toBe('InvalidParameter.MaxResults')
})

test('page mode reaches 10000 items and no more', async () => {
  expect((await list('PageNumber=100&PageSize=100')).status).toBe(200)
  expect((await list('PageNumber=101&PageSize=100')).code).toBe('InvalidParameter.PageNumber')
})

test('a token that is forged or belongs to another filter or sort is rejected', async () => {
  const { NextToken } = (await list('')).Result
  expect((await list(`NextToken=${NextToken}`)).status).toBe(200)
  expect((await list(`NextToken=${NextToken}&MaxResults=3`)).status).toBe(200)
  for (const query of [
    `NextToken=${NextToken.slice(2)}`,
    'NextToken=nonsense',
    `NextToken=${NextToken}&SortOrder=Asc`,
    `NextToken=${NextToken}&SortBy=UpdateTime`,
    `NextToken=${NextToken}&Name=n`,
    `NextToken=${NextToken}&GroupIds=group-20240101000000-aaaaa`,
  ]) {
    expect((await list(query)).code).toBe('InvalidParameter.NextToken')
  }
})

test('a list shows every change immediately', async () => {
  const { id } = emulator.library.addGroup({ name: 'changing' })
  const seen = async () => names((await rest(emulator, 'GET', `/assets?GroupIds=${id}`)).Result.Items).join()
  expect(await seen()).toBe('')
  const asset = emulator.library.addAsset({ groupId: id, name: 'new' })
  expect(await seen()).toBe('new')
  emulator.library.renameAsset(asset.id, 'renamed')
  expect(await seen()).toBe('renamed')
  emulator.library.deleteAsset(asset.id)
  expect(await seen()).toBe('')
})

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Emulator, startEmulator } from '../../src/emulator/index.ts'
import { ark, rest } from './client.ts'

let emulator: Emulator
let a: string
let b: string
let face: string

beforeAll(async () => {
  emulator = await startEmulator({ processingMs: Number.POSITIVE_INFINITY })
  const { addGroup, addAsset } = emulator.library
  a = addGroup({ name: 'Cats', createTime: 3000, updateTime: 9000 }).id
  b = addGroup({ name: 'wildcats', createTime: 5000 }).id
  face = addGroup({ name: 'face', type: 'LivenessFace', createTime: 1000 }).id
  addGroup({ name: 'cats elsewhere', project: 'other' })
  addAsset({ groupId: a, name: 'One', createTime: 1000 })
  addAsset({ groupId: b, name: 'two one', status: 'Failed', createTime: 2000 })
  addAsset({ groupId: b, name: 'three', status: 'Processing', createTime: 3000 })
  addAsset({ groupId: face, name: 'one face' })
})
afterAll(() => emulator.stop())

async function names(path: string): Promise<string> {
  const { Result, code } = await rest(emulator, 'GET', path)
  return code ?? Result.Items.map((item: { Name: string }) => item.Name).join()
}

test('without GroupIds, a list covers all groups of one type and project', async () => {
  expect(await names('/assets/groups')).toBe('wildcats,Cats')
  expect(await names('/assets/groups?GroupIds=')).toBe('wildcats,Cats')
  expect(await names('/assets')).toBe('three,two one,One')
  expect(await names('/assets?GroupType=LivenessFace')).toBe('one face')
})

test('GroupIds can be repeated or comma-separated, and unknown ids are ignored', async () => {
  expect(await names(`/assets?GroupIds=${a}`)).toBe('One')
  expect(await names(`/assets?GroupIds=${a},${b}`)).toBe('three,two one,One')
  expect(await names(`/assets?GroupIds=${a}&GroupIds=${b}`)).toBe('three,two one,One')
  expect(await names('/assets?GroupIds=nonsense')).toBe('')
  expect(await names(`/assets?GroupIds=${face}`)).toBe('')
})

test('more than 100 GroupIds are rejected', async () => {
  expect(await names(`/assets?GroupIds=${Array(100).fill('g').join()}`)).toBe('')
  expect(await names(`/assets?GroupIds=${Array(101).fill('g').join()}`)).toBe('InvalidParameter.GroupIds')
})

test('Name matches substrings and ignores case', async () => {
  expect(await names('/assets/groups?Name=CAT')).toBe('wildcats,Cats')
  expect(await names('/assets/groups?Name=wild')).toBe('wildcats')
  expect(await names('/assets?Name=one')).toBe('two one,One')
  expect(await names(`/assets?Name=${'n'.repeat(65)}`)).toBe('InvalidParameter.Name')
})

test('Statuses filters a list of assets', async () => {
  expect(await names('/assets?Statuses=Failed,Processing')).toBe('three,two one')
  expect(await names('/assets?Statuses=Active')).toBe('One')
  expect(await names('/assets?Statuses=active')).toBe('InvalidParameter.Statuses')
})

test('each list can be sorted by its own fields only', async () => {
  expect(await names('/assets/groups?SortOrder=Asc')).toBe('Cats,wildcats')
  expect(await names('/assets/groups?SortBy=UpdateTime')).toBe('Cats,wildcats')
  expect(await names('/assets?SortBy=GroupId&SortOrder=Asc')).toStartWith(a < b ? 'One' : 't')
  expect(await names('/assets/groups?SortBy=GroupId')).toBe('InvalidParameter.SortBy')
  expect(await names('/assets?SortBy=Name')).toBe('InvalidParameter.SortBy')
  expect(await names('/assets?SortOrder=desc')).toBe('InvalidParameter.SortOrder')
})

test('ark requires a filter with GroupType, and lists one project only', async () => {
  const list = (body: unknown) => ark(emulator, 'ListAssetGroups', body)
  expect((await list({})).code).toBe('MissingParameter.Filter')
  expect((await list({ Filter: {} })).code).toBe('MissingParameter.Filter.GroupType')
  expect((await list({ Filter: { GroupType: 'aigc' } })).code).toBe('InvalidParameter.GroupType')
  expect((await list({ Filter: { GroupType: 'AIGC', GroupIds: [7] } })).code).toBe('InvalidParameter.GroupIds')
  const { Result } = await list({ Filter: { GroupType: 'AIGC' }, ProjectName: 'other' })
  expect(Result.Items).toMatchObject([{ Name: 'cats elsewhere', Title: 'cats elsewhere', ProjectName: 'other' }])
})

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Emulator, startEmulator } from '../../src/emulator/index.ts'
import { ark, rest } from './client.ts'

let emulator: Emulator

beforeAll(async () => {
  emulator = await startEmulator()
})
afterAll(() => emulator.stop())

test('a group can be created, read, changed and deleted in both APIs', async () => {
  const created = await ark(emulator, 'CreateAssetGroup', { Name: 'one', Description: 'd', GroupType: 'AIGC' })
  const Id = created.Result.Id
  expect(Id).toMatch(/^group-\d{14}-[a-z0-9]{5}$/)
  expect(created.text).toStartWith('{"ResponseMetadata":{"RequestId":"')
  const { Result } = await ark(emulator, 'GetAssetGroup', { Id })
  expect(Object.keys(Result).join()).toBe('Id,Name,Description,GroupType,ProjectName,CreateTime,UpdateTime')
  expect((await rest(emulator, 'PATCH', `/assets/groups/${Id}`, { Name: 'two' })).Result).toEqual({ Id })
  const seen = await rest(emulator, 'GET', `/assets/groups/${Id}`)
  expect(seen.Result).toMatchObject({ Name: 'two', Description: 'd' })
  expect(seen.Result.ProjectName).toBeUndefined()
  expect((await rest(emulator, 'DELETE', `/assets/groups/${Id}`)).Result).toEqual({})
  expect((await ark(emulator, 'GetAssetGroup', { Id })).code).toBe('NotFound.group_id')
})

test('names are not unique: a repeated create request creates a second group', async () => {
  const [a, b] = [1, 2].map(() => rest(emulator, 'POST', '/assets/groups', { Name: 'same name' }))
  expect((await a)?.Result.Id).not.toBe((await b)?.Result.Id)
})

test('an invalid field of a group is rejected with its name', async () => {
  const create = async (body: unknown) => (await ark(emulator, 'CreateAssetGroup', body)).code
  expect(await create({})).toBe('MissingParameter.Name')
  expect(await create({ Name: '' })).toBe('MissingParameter.Name')
  expect(await create({ Name: 7 })).toBe('InvalidParameter.Name')
  expect(await create({ Name: '😀'.repeat(64) })).toBeUndefined()
  expect(await create({ Name: 'n'.repeat(65) })).toBe('InvalidParameter.Name')
  expect(await create({ Name: 'n', Description: 'd'.repeat(301) })).toBe('InvalidParameter.Description')
  expect(await create({ Name: 'n', GroupType: 'LivenessFace' })).toBe('InvalidParameter.GroupType')
  expect(await create('[]')).toBe('InvalidParameter')
})

test('deleting a group deletes its assets, and a LivenessFace group cannot be deleted', async () => {
  const face = emulator.library.addGroup({ name: 'face', type: 'LivenessFace' })
  const group = emulator.library.addGroup({ name: 'gone' })
  const asset = emulator.library.addAsset({ groupId: group.id })
  await ark(emulator, 'DeleteAssetGroup', { Id: group.id })
  expect(emulator.library.asset(asset.id)).toBeUndefined()
  expect(await ark(emulator, 'DeleteAssetGroup', { Id: face.id })).toMatchObject({
    status: 403,
    code: 'OperationDenied.LivenessFace',
  })
  expect(emulator.library.group(face.id)).toBe(face)
})

test('a group or asset of another project is 404, and project names are case-sensitive', async () => {
  const { id: Id } = emulator.library.addGroup({ name: 'elsewhere', project: 'Other' })
  expect((await ark(emulator, 'GetAssetGroup', { Id })).code).toBe('NotFound.group_id')
  expect((await ark(emulator, 'GetAssetGroup', { Id, ProjectName: 'other' })).code).toBe('NotFound.group_id')
  expect((await ark(emulator, 'GetAssetGroup', { Id, ProjectName: 'Other' })).status).toBe(200)
  expect((await rest(emulator, 'GET', `/assets/groups/${Id}`)).status).toBe(404)
  const asset = emulator.library.addAsset({ groupId: Id })
  expect((await ark(emulator, 'GetAsset', { Id: asset.id })).code).toBe('NotFound.asset_id')
  expect((await ark(emulator, 'GetAsset', { Id: asset.id, ProjectName: 'Other' })).status).toBe(200)
})

test('groups and assets share one quota', async () => {
  const small = await startEmulator({ quota: 2 })
  const { id } = small.library.addGroup({ name: 'g' })
  small.library.addAsset({ groupId: id })
  expect((await rest(small, 'POST', '/assets/groups', { Name: 'h' })).code).toBe('QuotaExceeded')
  const body = { GroupId: id, URL: 'https://x.example/a.png', AssetType: 'Image' }
  expect((await rest(small, 'POST', '/assets', body)).code).toBe('QuotaExceeded')
  expect((await ark(small, 'GetAssetQuota', {})).Result).toMatchObject({ aigc_writable: false, max_assets: 2 })
  await small.stop()
})

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Emulator, startEmulator } from '../../src/emulator/index.ts'
import { ark, rest } from './client.ts'

const START = Date.UTC(2026, 2, 18, 3, 33, 32)
let now = START
let emulator: Emulator
let groupId: string

beforeAll(async () => {
  emulator = await startEmulator({ clock: () => now })
  groupId = emulator.library.addGroup({ name: 'g' }).id
})
afterAll(() => emulator.stop())

const create = (change: object = {}) =>
  rest(emulator, 'POST', '/assets', { GroupId: groupId, URL: 'https://x.example/a.png', AssetType: 'Image', ...change })
const read = async (id: string) => (await rest(emulator, 'GET', `/assets/${id}`)).Result

test('an asset is Processing for processingMs, then Active', async () => {
  now = START
  const { Id } = (await create({ Name: 'cat' })).Result
  expect(Id).toMatch(/^asset-\d{14}-[a-z0-9]{5}$/)
  now = START + 1999
  expect(await read(Id)).toMatchObject({ Status: 'Processing', UpdateTime: '2026-03-18T03:33:32Z' })
  now = START + 2000
  expect(await read(Id)).toMatchObject({ Status: 'Active', Name: 'cat', UpdateTime: '2026-03-18T03:33:34Z' })
})

test('library.advance ends processing without a wait', async () => {
  const { Id } = (await create()).Result
  emulator.library.advance(2000)
  expect(emulator.library.asset(Id)?.status).toBe('Active')
})

test('the URL decides the result of processing', async () => {
  const outcome = async (URL: string, AssetType = 'Image') => {
    const { Id } = (await create({ URL, AssetType })).Result
    emulator.library.advance(2000)
    const { Status, Error: error } = await read(Id)
    return `${Status} ${error?.Code ?? ''}`
  }
  expect(await outcome('https://x.example/no-extension')).toBe('Active ')
  expect(await outcome('https://x.example/a.MP4?x=1', 'Video')).toBe('Active ')
  expect(await outcome('https://x.example/fail-FaceMismatch/a.png')).toBe('Failed FaceMismatch')
  expect(await outcome('https://x.invalid/a.png')).toBe('Failed DownloadFailed')
  expect(await outcome('https://x.example/a.mp3')).toBe('Failed TypeMismatch')
  expect(await outcome('https://x.example/a.svg')).toBe('Failed FormatUnsupported')
})

test('links of a gateway on this machine need no https', async () => {
  for (const URL of [
    'http://127.0.0.1:3000/api/files/uploads/a.png?expires=1',
    'http://localhost/a.png',
    'http://[::1]/a.png',
  ])
    expect(await create({ URL })).toMatchObject({ status: 200 })
})

test('an invalid field of an asset is rejected with its name', async () => {
  expect((await create({ GroupId: undefined })).code).toBe('MissingParameter.GroupId')
  expect((await create({ GroupId: 'nonsense' })).code).toBe('InvalidParameter.GroupId')
  expect(await create({ GroupId: 'group-20240101000000-aaaaa' })).toMatchObject({
    status: 404,
    code: 'NotFound.group_id',
  })
  expect((await create({ URL: 'http://x.example/a.png' })).code).toBe('InvalidParameter.URL')
  expect((await create({ URL: 'a.png' })).code).toBe('InvalidParameter.URL')
  expect((await create({ URL: 'http://127.0.0.1.x.example/a.png' })).code).toBe('InvalidParameter.URL')
  expect((await create({ AssetType: 'image' })).code).toBe('InvalidParameter.AssetType')
  expect((await create({ AssetType: undefined })).code).toBe('MissingParameter.AssetType')
  expect((await create({ Name: 'n'.repeat(65) })).code).toBe('InvalidParameter.Name')
  expect((await create({ Moderation: { Strategy: 'None' } })).code).toBe('InvalidParameter.Moderation')
})

test('an update changes only the name', async () => {
  const { Id } = (await create({ Name: 'before' })).Result
  const other = emulator.library.addGroup({ name: 'other' })
  const change = { Name: 'after', GroupId: other.id, Status: 'Active', Id: 'asset-1' }
  expect((await rest(emulator, 'PUT', `/assets/${Id}`, change)).Result).toEqual({ Id })
  expect(await read(Id)).toMatchObject({ Name: 'after', GroupId: groupId, Status: 'Processing' })
  expect((await rest(emulator, 'PATCH', `/assets/${Id}`, { GroupId: other.id })).code).toBe('MissingParameter.Name')
})

test('a malformed id is 400, an unknown id is 404', async () => {
  expect(await rest(emulator, 'GET', '/assets/nonsense')).toMatchObject({
    status: 400,
    code: 'InvalidParameter.AssetID',
  })
  const unknown = 'asset-20240101000000-aaaaa'
  expect(await rest(emulator, 'DELETE', `/assets/${unknown}`)).toMatchObject({ status: 404, code: 'NotFound.asset_id' })
  expect((await ark(emulator, 'GetAsset', { Id: unknown }, now)).code).toBe('NotFound.asset_id')
  expect((await ark(emulator, 'GetAsset', {}, now)).code).toBe('MissingParameter.Id')
})

test('the link in a response is valid for 12 hours and gets a new signature on each read', async () => {
  const { Id } = (await create()).Result
  const first = (await read(Id)).URL
  now += 1000
  const second = (await read(Id)).URL
  expect(new URL(first).searchParams.get('X-Tos-Expires')).toBe('43200')
  expect(new URL(second).pathname).toBe(new URL(first).pathname)
  expect(new URL(second).search).not.toBe(new URL(first).search)
})

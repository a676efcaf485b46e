import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Emulator, startEmulator, type TimeFormat } from '../../src/emulator/index.ts'
import { rest } from './client.ts'

const AT = Date.UTC(2026, 2, 18, 3, 33, 32, 500)
let emulator: Emulator

beforeAll(async () => {
  emulator = await startEmulator({ clock: () => AT })
})
afterAll(() => emulator.stop())

test('records are snapshots: a later change does not modify them', () => {
  const { library } = emulator
  const group = library.addGroup({ name: 'before' })
  const asset = library.addAsset({ groupId: group.id, name: 'before' })
  expect(library.changeGroup(group.id, { name: 'after' })).toBe(true)
  expect(library.renameAsset(asset.id, 'after')).toBe(true)
  expect([group.name, asset.name]).toEqual(['before', 'before'])
  expect([library.group(group.id)?.name, library.asset(asset.id)?.name]).toEqual(['after', 'after'])
  expect(library.deleteGroup(group.id)).toBe(true)
  expect([library.count(), library.deleteGroup(group.id)]).toEqual([{ groups: 0, assets: 0 }, false])
})

test('an id that exists already and an unknown group throw', () => {
  const { library } = emulator
  library.addGroup({ name: 'g', id: 'mine' })
  expect(() => library.addGroup({ name: 'g', id: 'mine' })).toThrow('exists already')
  expect(() => library.addAsset({ groupId: 'other' })).toThrow('no group')
  library.deleteGroup('mine')
})

test('ids that are created in the same second are unique', () => {
  const { library } = emulator
  const { id } = library.addGroup({ name: 'many' })
  for (let n = 0; n < 20_000; n++) library.addAsset({ groupId: id })
  expect(library.count().assets).toBe(20_000)
  library.deleteGroup(id)
})

test('the times option sets the time format', async () => {
  const formats: Record<Exclude<TimeFormat, 'mixed'>, string> = {
    rfc3339: '2026-03-18T03:33:32Z',
    offset: '2026-03-18T11:33:32+08:00',
    zoneless: '2026-03-18 03:33:32',
  }
  for (const times of ['rfc3339', 'offset', 'zoneless', 'mixed'] as const) {
    const one = await startEmulator({ times, clock: () => AT })
    const { id } = one.library.addGroup({ name: 'g' })
    for (let n = 0; n < 20; n++) one.library.addAsset({ groupId: id })
    const { Items } = (await rest(one, 'GET', '/assets?MaxResults=100')).Result
    const seen = new Set(Items.map((item: { CreateTime: string }) => item.CreateTime))
    expect(seen).toEqual(new Set(times === 'mixed' ? Object.values(formats) : [formats[times]]))
    await one.stop()
  }
})

test('invalid options are rejected at the start', async () => {
  await expect(startEmulator({ processingMs: Number.NaN })).rejects.toThrow('processingMs')
  await expect(startEmulator({ quota: -1 })).rejects.toThrow('quota')
  await expect(startEmulator({ limits: { GetAsset: -1 } })).rejects.toThrow('limits.GetAsset')
})

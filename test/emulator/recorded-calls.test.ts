import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Emulator, startEmulator } from '../../src/emulator/index.ts'
import { ark, rest } from './client.ts'

const NOW = Date.UTC(2026, 0)
let emulator: Emulator

beforeAll(async () => {
  emulator = await startEmulator({ clock: () => NOW })
})
afterAll(() => emulator.stop())

test('every request is recorded in order, exactly as sent', async () => {
  await rest(emulator, 'POST', '/assets/groups?a=%2F', '{"Name": "x"}')
  await ark(emulator, 'GetAsset', {}, NOW)
  await rest(emulator, 'PUT', '/assets/groups', 'not json')
  expect(emulator.calls).toMatchObject([
    {
      at: NOW,
      api: 'rest',
      action: 'CreateAssetGroup',
      method: 'POST',
      body: '{"Name": "x"}',
      json: { Name: 'x' },
      status: 200,
    },
    { at: NOW, api: 'ark', action: 'GetAsset', path: '/?Action=GetAsset&Version=2024-01-01', status: 400 },
    { at: NOW, api: 'rest', action: '', method: 'PUT', body: 'not json', status: 405 },
  ])
  expect(emulator.calls[0]?.path).toBe('/api/media/proxy/assets/groups?a=%2F')
  expect(emulator.calls[0]?.headers.authorization).toBe('Bearer emulator-key')
  expect(emulator.calls[2]).not.toHaveProperty('json')
  expect(emulator.calls.some((call) => call.aborted)).toBe(false)
  emulator.clearCalls()
  expect(emulator.calls).toEqual([])
})

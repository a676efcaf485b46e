import { afterEach, expect, test } from 'bun:test'
import { documentedLimits, type Emulator, type RateLimits, startEmulator } from '../../src/emulator/index.ts'
import { ark, rest } from './client.ts'

let emulator: Emulator
let now = Date.UTC(2026, 0)

afterEach(() => emulator.stop())

const start = async (limits?: RateLimits) => {
  emulator = await startEmulator({ clock: () => now, limits })
}
const accepted = async (count: number) => {
  const responses = await Promise.all(Array.from({ length: count }, () => rest(emulator, 'GET', '/assets')))
  return responses.filter((response) => response.status === 200).length
}

test('calls above the documented rate of an action are rejected, counted over both APIs', async () => {
  await start(documentedLimits)
  expect(documentedLimits.ListAssets).toBe(10)
  expect(await accepted(12)).toBe(10)
  expect(await ark(emulator, 'ListAssets', {}, now)).toMatchObject({ status: 429, code: 'RateLimitExceeded' })
  expect((await rest(emulator, 'GET', '/assets/groups')).status).toBe(200)
  expect(emulator.maxCallsPerSecond('ListAssets')).toBe(13)
  now += 999
  expect(await accepted(1)).toBe(0)
  now += 1
  expect(await accepted(12)).toBe(10)
})

test('the window slides: old calls leave it one by one', async () => {
  await start({ ListAssets: 2 })
  expect(await accepted(1)).toBe(1)
  now += 600
  expect(await accepted(2)).toBe(1)
  now += 400
  expect(await accepted(2)).toBe(1)
})

test('a limit below one extends the window, and zero rejects all calls', async () => {
  await start({ ListAssets: 0.5, ListAssetGroups: 0 })
  expect(await accepted(2)).toBe(1)
  now += 1999
  expect(await accepted(1)).toBe(0)
  now += 1
  expect(await accepted(1)).toBe(1)
  expect((await rest(emulator, 'GET', '/assets/groups')).status).toBe(429)
})

test('without limits, no call is rejected', async () => {
  await start()
  expect(await accepted(50)).toBe(50)
  expect(emulator.maxCallsPerSecond('ListAssets')).toBe(50)
  expect(emulator.maxCallsPerSecond('GetAsset')).toBe(0)
})

test('maxCallsPerSecond returns the maximum over all sliding windows of one second', async () => {
  await start()
  now = 1_000_000
  await accepted(1)
  now += 900
  await accepted(2)
  now += 99
  await accepted(1)
  now += 1
  await accepted(1)
  expect(emulator.maxCallsPerSecond('ListAssets')).toBe(4)
  emulator.clearCalls()
  expect(emulator.maxCallsPerSecond('ListAssets')).toBe(0)
})

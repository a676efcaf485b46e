import { afterEach, expect, test } from 'bun:test'
import { DOCUMENTED_LIMITS, type Emulator, startEmulator } from '../../src/emulator/index.ts'
import { ark, rest } from './client.ts'

let emulator: Emulator
let now = Date.UTC(2026, 0)

afterEach(() => emulator.stop())

const start = async (limits?: Record<string, number>) => {
  emulator = await startEmulator({ clock: () => now, ...(limits && { limits }) })
}
const statuses = async (count: number) => {
  const answers = await Promise.all(Array.from({ length: count }, () => rest(emulator, 'GET', '/assets')))
  return answers.filter((answer) => answer.status === 200).length
}

test('an action is refused above its documented calls per second, in both shapes together', async () => {
  await start()
  expect(DOCUMENTED_LIMITS.ListAssets).toBe(10)
  expect(await statuses(12)).toBe(10)
  expect(await ark(emulator, 'ListAssets', {}, now)).toMatchObject({ status: 429, code: 'RateLimitExceeded' })
  expect((await rest(emulator, 'GET', '/assets/groups')).status).toBe(200)
  expect(emulator.perSecond('ListAssets')).toBe(13)
  now += 999
  expect(await statuses(1)).toBe(0)
  now += 1
  expect(await statuses(12)).toBe(10)
})

test('the second slides: old calls leave one by one', async () => {
  await start({ ListAssets: 2 })
  expect(await statuses(1)).toBe(1)
  now += 600
  expect(await statuses(2)).toBe(1)
  now += 400
  expect(await statuses(2)).toBe(1)
})

test('a limit below one stretches over seconds, and zero means never', async () => {
  await start({ ListAssets: 0.5, ListAssetGroups: 0 })
  expect(await statuses(2)).toBe(1)
  now += 1999
  expect(await statuses(1)).toBe(0)
  now += 1
  expect(await statuses(1)).toBe(1)
  expect((await rest(emulator, 'GET', '/assets/groups')).status).toBe(429)
})

test('an empty table turns the limits off', async () => {
  await start({})
  expect(await statuses(50)).toBe(50)
  expect(emulator.perSecond('ListAssets')).toBe(50)
  expect(emulator.perSecond('GetAsset')).toBe(0)
})

test('perSecond counts the fullest second wherever it begins', async () => {
  await start({})
  now = 1_000_000
  await statuses(1)
  now += 900
  await statuses(2)
  now += 99
  await statuses(1)
  now += 1
  await statuses(1)
  expect(emulator.perSecond('ListAssets')).toBe(4)
  emulator.clearCalls()
  expect(emulator.perSecond('ListAssets')).toBe(0)
})

import { expect, test } from 'bun:test'
import { retryTime } from '../../plugins/upstream-proxy/retry-after.ts'

const now = Date.UTC(2026, 0, 1, 12)

test.each([
  ['3', now + 3_000],
  [' 120 ', now + 120_000],
  ['Thu, 01 Jan 2026 12:00:30 GMT', now + 30_000],
  ['Thu, 01 Jan 2026 11:59:00 GMT', undefined],
  ['0', undefined],
  ['soon', undefined],
  ['-5', undefined],
  ['999999999999999999999', now + 3_600_000],
  ['Thu, 01 Jan 2027 12:00:00 GMT', now + 3_600_000],
])('Retry-After: %s', (text, time) => {
  expect(retryTime(new Headers({ 'retry-after': text }), now)).toBe(time)
})

test('without Retry-After there is no retry time', () => {
  expect(retryTime(new Headers(), now)).toBe(undefined)
})

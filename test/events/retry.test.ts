import { expect, test } from 'bun:test'
import type { LeasedDelivery } from '../../plugins/events/index.ts'
import { afterFailure, hasRecovered } from '../../plugins/events/webhooks/deliver.ts'

const hour = 3_600_000
const delivery: LeasedDelivery = {
  ...{
    kind: 'webhook',
    id: 'w',
    user: 'ann',
    url: 'https://ann.example/',
    messageId: 'evt_1',
    body: '{}',
    secrets: [],
  },
  ...{ createdAt: 0, attempts: 0, failures: 0, sequence: 1, lease: 'l' },
}

test('the pauses grow, and a delivery is sent for about a day', () => {
  const sentAt = [0]
  for (let at: number | undefined = 0; at !== undefined; ) {
    const failed = afterFailure(
      { ...delivery, attempts: sentAt.length - 1, failures: sentAt.length - 1 },
      { at, error: 'x', isGone: false },
      () => 0,
    )
    at = failed.dueAt
    if (at !== undefined) sentAt.push(at)
  }
  const pauses = sentAt.slice(1).map((at, index) => at - (sentAt[index] ?? 0))
  expect(pauses.slice(0, 4)).toEqual([5_000, 30_000, 120_000, 300_000])
  expect(pauses).toEqual(pauses.toSorted((a, b) => a - b))
  expect(sentAt.length).toBeGreaterThan(12)
  expect(sentAt.at(-1)).toBeGreaterThan(20 * hour)
  expect(sentAt.at(-1)).toBeLessThanOrEqual(24 * hour)
})

test('an address that fails is left alone for up to ten minutes', () => {
  const pauseOf = (failures: number) =>
    afterFailure({ ...delivery, failures }, { at: 0, error: 'x', isGone: false }, () => 0).pausedUntil
  expect([0, 1, 3, 4, 5, 20, 1_000].map(pauseOf)).toEqual([5_000, 30_000, 300_000, 600_000, 600_000, 600_000, 600_000])
})

test('attempts of many deliveries do not stay together', () => {
  const at = (random: number) => afterFailure(delivery, { at: 0, error: 'x', isGone: false }, () => random).dueAt
  expect([at(0), at(0.5), at(1)]).toEqual([5_000, 5_625, 6_250])
})

test('a webhook is disabled after a day without success, and at once when its address is gone', () => {
  const disables = (failingSince: number | undefined, isGone = false) =>
    afterFailure({ ...delivery, failingSince }, { at: 30 * hour, error: 'x', isGone }, () => 0).disables
  expect([disables(undefined), disables(7 * hour), disables(6 * hour), disables(undefined, true)]).toEqual([
    ...[false, false, true, true],
  ])
  expect(afterFailure(delivery, { at: 0, error: 'x', isGone: true }).dueAt).toBeUndefined()
})

test('an address has recovered when it accepts a delivery after three failures', () => {
  expect([0, 2, 3].map((failures) => hasRecovered({ ...delivery, failures }))).toEqual([false, false, true])
})

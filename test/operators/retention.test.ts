import { expect, test } from 'bun:test'
import { Background } from '../../plugins/shared/background/background.ts'
import type { Log } from '../../plugins/shared/problem.ts'
import { type Retention, removeOldUsage, watchOverdue } from '../../src/operators/retention.ts'
import type { RetainedKind } from '../../src/store/overdue.ts'
import { sleepOn, VirtualClock } from '../support/virtual-clock.ts'

const dayMs = 86_400_000
const start = Date.UTC(2026, 4, 20)

const recordingLog = () => {
  const lines: [message: string, fields: object][] = []
  const add = (fields: object, message: string) => void lines.push([message, fields])
  const log: Log = { debug: add, info: add, warn: add, error: add }
  return { lines, log }
}

const openUsage = (old: number, keepDays: number) => {
  const clock = new VirtualClock(1, start)
  const background = new Background({ sleep: sleepOn(clock) })
  const steps: { readonly before: string; readonly at: number }[] = []
  let [left, holder, fails] = [old, '', false]
  const store = {
    async sweepUsage(before: string, max: number) {
      if (fails) throw new Error('no database')
      steps.push({ before, at: clock.now() - start })
      const swept = Math.min(left, max)
      left -= swept
      return swept
    },
    async takeLease(_: string, wanted: string) {
      if (holder === '') holder = wanted
      return holder === wanted
    },
    async releaseLease() {
      holder = ''
    },
  }
  const { log, lines } = recordingLog()
  return {
    ...{ clock, steps, lines, background },
    run: () => removeOldUsage({ store, keepMs: keepDays * dayMs, background, clock, log }),
    hold: () => {
      holder = 'another process'
    },
    failing: (whether: boolean) => {
      fails = whether
    },
  }
}

test('old usage is removed by whole months, in steps with pauses, a minute after the start and every hour', async () => {
  const { clock, steps, run, background } = openUsage(250, 31)
  run()
  await clock.pass(59_000)
  expect(steps).toEqual([])
  await clock.pass(2_000)
  // 31 days before the 20th of May is in April: March is over since more than 31 days.
  expect(steps.map(({ before }) => before)).toEqual(['2026-04-01', '2026-04-01', '2026-04-01'])
  expect(new Set(steps.map(({ at }) => at)).size).toBe(3)
  await clock.pass(3_500_000)
  expect(steps).toHaveLength(3)
  await clock.pass(200_000)
  expect(steps).toHaveLength(4)
  const stopped = background.stop()
  await clock.pass(60_000)
  await stopped
})

test('one process at a time removes it, and a failure is logged and made up for', async () => {
  const { clock, steps, run, hold, failing, lines, background } = openUsage(250, 31)
  hold()
  run()
  await clock.pass(2 * 3_600_000)
  expect(steps).toEqual([])
  const second = openUsage(10, 31)
  second.failing(true)
  second.run()
  await second.clock.pass(61_000)
  expect(second.lines.map(([message]) => message)).toEqual(['old usage could not be removed'])
  second.failing(false)
  await second.clock.pass(3_700_000)
  expect(second.steps).toHaveLength(1)
  expect(lines).toEqual([])
  failing(false)
  const stopped = Promise.all([background.stop(), second.background.stop()])
  await clock.pass(3_600_000)
  await second.clock.pass(3_600_000)
  await stopped
})

test('what is older than it is kept is counted, by kind, and logged while it remains', async () => {
  const clock = new VirtualClock(1, start)
  const background = new Background({ sleep: sleepOn(clock) })
  const { log, lines } = recordingLog()
  const rows: Partial<Record<RetainedKind, number>> = { events: 25_000, videos: 3 }
  const asked: [RetainedKind, before: number][] = []
  const store = {
    async countOverdue(kind: RetainedKind, before: number, max: number) {
      asked.push([kind, clock.now() - before])
      return Math.min(rows[kind] ?? 0, max)
    },
  }
  const retention: Retention = { events: 7 * dayMs, videos: 90 * dayMs, audit: dayMs, idempotency_keys: 0 }
  const counts = watchOverdue({ store, retention, background, clock, log })
  expect(counts()).toEqual({})
  await clock.pass(61_000)
  expect(counts()).toEqual({ events: 10_000, videos: 3, audit: 0, idempotency_keys: 0 })
  // Usage has no time here, and what is removed every hour is not overdue for two.
  const slackMs = 2 * 3_600_000
  expect(Object.fromEntries(asked)).toEqual({
    ...{ events: 7 * dayMs + slackMs, videos: 90 * dayMs + slackMs },
    ...{ audit: dayMs + slackMs, idempotency_keys: slackMs },
  })
  const message = 'rows that are older than they are kept remain'
  expect(lines).toEqual([[message, { remaining: { events: 10_000, videos: 3 }, atMost: 10_000 }]])
  rows.events = 0
  await clock.pass(600_000)
  expect(lines.at(-1)).toEqual([message, { remaining: { videos: 3 }, atMost: 10_000 }])
  rows.videos = 0
  await clock.pass(600_000)
  expect(lines).toHaveLength(2)
  expect(counts()).toEqual({ events: 0, videos: 0, audit: 0, idempotency_keys: 0 })
  const stopped = background.stop()
  await clock.pass(600_000)
  await stopped
})

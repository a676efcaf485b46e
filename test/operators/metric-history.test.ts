import { describe, expect, test } from 'bun:test'
import { createMetrics, readSnapshot } from '../../plugins/metrics/index.ts'
import { Background } from '../../plugins/shared/background/background.ts'
import { noLog } from '../../plugins/shared/problem.ts'
import { createActivityReport } from '../../src/operators/activity.ts'
import { createMetricHistory, keepMetricHistory } from '../../src/operators/metric-history.ts'
import { openStore } from '../../src/store/index.ts'

const hour = 3_600_000
const day = 24 * hour
/** 12:30 in UTC. */
const now = Date.UTC(2026, 5, 10, 12, 30)

const openHistory = async () => {
  const store = openStore('sqlite::memory:')
  await store.migrate()
  const clock = { time: now, now: () => clock.time }
  const metrics = createMetrics()
  const write = createMetricHistory({ store, clock, read: () => readSnapshot(metrics.registry) })
  const request = (status: number, count = 1) => {
    for (let times = 0; times < count; times++) metrics.request({ method: 'GET', status, seconds: 0.1 })
  }
  return { store, clock, metrics, write, request, [Symbol.asyncDispose]: () => store.close() }
}

describe('the history of metrics', () => {
  test('has what was counted since it was written last, once', async () => {
    await using history = await openHistory()
    const { store, write, request, metrics } = history
    request(200, 2)
    request(503)
    metrics.upstream({ action: 'GetAsset', upstream: 'api.example', status: 0, seconds: 7 })
    metrics.upstream({ action: 'GetAsset', upstream: 'api.example', status: 200, seconds: 2 })
    metrics.text({ model: 'm', accepted: true, tokens: undefined, cost: undefined })
    metrics.videoEnd('failed')
    await write()
    await write()
    request(200)
    await write()
    const found = new Map((await store.metricCounts('hour', 0)).map(({ series, value }) => [series.join(' '), value]))
    expect(Object.fromEntries(found)).toEqual({
      'requests 200': 3,
      'requests 503': 1,
      'calls api.example GetAsset 0': 1,
      'calls api.example GetAsset 200': 1,
      'seconds GetAsset 5': 1,
      'seconds GetAsset +Inf': 2,
      'text m false': 1,
      'videos failed': 1,
    })
  })

  test('writes again what could not be written', async () => {
    await using history = await openHistory()
    const { store, clock, metrics, request } = history
    let isDown = true
    const write = createMetricHistory({
      ...{ clock, read: () => readSnapshot(metrics.registry) },
      store: {
        addMetricCounts: async (observed, at) => {
          if (isDown) throw new Error('down')
          await store.addMetricCounts(observed, at)
        },
      },
    })
    request(200, 5)
    await expect(write()).rejects.toThrow('down')
    isDown = false
    request(200, 1)
    await write()
    expect((await store.metricCounts('minute', 0)).map(({ value }) => value)).toEqual([6])
  })
})

test('the last counts are written when the work in the background ends', async () => {
  await using history = await openHistory()
  const { store, clock, metrics, request } = history
  const background = new Background()
  let writes = 0
  keepMetricHistory({
    ...{ store, clock, background, log: noLog },
    async read() {
      writes++
      return readSnapshot(metrics.registry)
    },
  })
  request(200, 2)
  while (writes === 0) await Bun.sleep(1)
  request(204, 1)
  await background.stop()
  const found = (await store.metricCounts('hour', 0)).map(({ series, value }) => [series.join(' '), value])
  expect(found.sort()).toEqual([
    ['requests 200', 2],
    ['requests 204', 1],
  ])
})

describe('the activity of a server', () => {
  test('has the last complete minute, 24 hours and 7 days, with hours and days without a request', async () => {
    await using history = await openHistory()
    const { store, clock, write, request, metrics } = history
    const report = createActivityReport({ store, clock })
    for (const [time, status, count] of [
      [now - 7 * day, 200, 100],
      [now - 6 * day, 200, 10],
      [now - day, 404, 3],
      [now - 23 * hour, 500, 2],
      [now - 60_000, 200, 4],
      [now, 502, 1],
    ] as const) {
      clock.time = time
      request(status, count)
      if (time === now - day) metrics.videoEnd('succeeded')
      await write()
    }
    clock.time = now
    const { at, last_minute, hours, days, videos } = await report()
    expect(at).toBe('2026-06-10T12:30:00.000Z')
    expect(last_minute).toEqual({ requests: 4, rejected: 0, errors: 0 })
    expect(hours.length).toBe(24)
    expect(hours[0]).toEqual({ at: '2026-06-09T13:00:00.000Z', requests: 2, rejected: 0, errors: 2 })
    expect(hours.at(-1)).toEqual({ at: '2026-06-10T12:00:00.000Z', requests: 5, rejected: 0, errors: 1 })
    expect(hours.slice(1, -1).every(({ requests }) => requests === 0)).toBe(true)
    expect(days.map(({ day, requests }) => [day, requests])).toEqual([
      ['2026-06-04', 10],
      ['2026-06-05', 0],
      ['2026-06-06', 0],
      ['2026-06-07', 0],
      ['2026-06-08', 0],
      ['2026-06-09', 5],
      ['2026-06-10', 5],
    ])
    expect(days.at(-2)).toMatchObject({ rejected: 3, errors: 2, videos: { succeeded: 1 } })
    expect(videos).toEqual({ running: 0, waiting: 0 })
  })
})

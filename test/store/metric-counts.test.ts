import { beforeAll, expect, test } from 'bun:test'
import type { Store } from '../../src/store/index.ts'
import { eachDatabase } from '../support/database.ts'

const hour = 3_600_000
const minute = 60_000
const noon = Date.UTC(2026, 5, 1, 12)

eachDatabase('the history of metrics', (database) => {
  let store: Store
  let other: Store
  beforeAll(async () => {
    store = await database.open()
    other = await database.open()
  })

  const requests = (value: number) => ({ series: ['requests', '200'], value })

  test('sums what all processes have counted in a minute and in an hour', async () => {
    await Promise.all([
      store.addMetricCounts(
        { counts: [requests(3), { series: ['calls', 'a "model"', ''], value: 1 }], peaks: [] },
        noon,
      ),
      other.addMetricCounts({ counts: [requests(4)], peaks: [] }, noon + minute - 1),
    ])
    await store.addMetricCounts({ counts: [requests(5)], peaks: [] }, noon + minute)
    const ofRequests = async (span: 'minute' | 'hour', since: number) =>
      (await other.metricCounts(span, since)).filter(({ series }) => series[0] === 'requests')
    expect(await ofRequests('minute', noon)).toEqual([
      { at: noon, ...requests(7) },
      { at: noon + minute, ...requests(5) },
    ])
    expect(await ofRequests('minute', noon + minute)).toEqual([{ at: noon + minute, ...requests(5) }])
    expect(await ofRequests('hour', noon)).toEqual([{ at: noon, ...requests(12) }])
    expect((await store.metricCounts('hour', noon)).map(({ series }) => series)).toContainEqual([
      'calls',
      'a "model"',
      '',
    ])
  })

  test('keeps the highest value of a minute, and none of an hour', async () => {
    const at = noon + 5 * hour
    for (const value of [3, 9, 4])
      await store.addMetricCounts({ counts: [], peaks: [{ series: ['queue age'], value }] }, at)
    expect(await store.metricCounts('minute', at)).toEqual([{ at, series: ['queue age'], value: 9 }])
    expect(await store.metricCounts('hour', at)).toEqual([])
  })

  test('forgets minutes after three hours and hours after eight days', async () => {
    const at = noon + 100 * hour
    await store.addMetricCounts({ counts: [requests(1)], peaks: [] }, at)
    await store.addMetricCounts({ counts: [requests(2)], peaks: [] }, at + 3 * hour + minute)
    const minutes = await store.metricCounts('minute', at)
    expect(minutes.map(({ value }) => value)).toEqual([2])
    expect((await store.metricCounts('hour', at)).map(({ value }) => value)).toEqual([1, 2])
    await store.addMetricCounts({ counts: [requests(4)], peaks: [] }, at + 193 * hour)
    expect((await store.metricCounts('hour', at)).map(({ value }) => value)).toEqual([2, 4])
  })
})

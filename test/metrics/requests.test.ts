import { expect, test } from 'bun:test'
import { createMetrics } from '../../plugins/metrics/index.ts'

/** The samples of a metric. */
const linesOf = async ({ registry }: ReturnType<typeof createMetrics>, name: string) =>
  (await registry.metrics()).split('\n').filter((line) => line.startsWith(name))

test('every response is counted once, with any number of scrapes', async () => {
  const metrics = createMetrics()
  let count = 0
  for (const more of [0, 1, 127, 128, 129, 1_000]) {
    for (let nth = 0; nth < more; nth++) {
      metrics.request({ method: 'GET', status: 200, seconds: 0.25 })
      metrics.request({ method: 'GET', status: 401, seconds: 40 })
      count++
    }
    for (let look = 0; look < 2; look++) {
      expect(await linesOf(metrics, 'sluice_requests_total')).toEqual(
        count === 0
          ? []
          : [
              `sluice_requests_total{method="GET",status="200"} ${count}`,
              `sluice_requests_total{method="GET",status="401"} ${count}`,
            ],
      )
      const seconds = await linesOf(metrics, 'sluice_request_seconds')
      expect(seconds).toContain(`sluice_request_seconds_bucket{le="0.1"} 0`)
      expect(seconds).toContain(`sluice_request_seconds_bucket{le="0.5"} ${count}`)
      expect(seconds).toContain(`sluice_request_seconds_bucket{le="+Inf"} ${2 * count}`)
      expect(seconds).toContain(`sluice_request_seconds_sum ${count * 40.25}`)
    }
  }
})

test('unknown methods share one label', async () => {
  const metrics = createMetrics()
  for (const method of ['BREW', 'GET', 'WHEN']) metrics.request({ method, status: 405, seconds: 0 })
  expect(await linesOf(metrics, 'sluice_requests_total')).toEqual([
    'sluice_requests_total{method="other",status="405"} 2',
    'sluice_requests_total{method="GET",status="405"} 1',
  ])
})

test('a request that was refused because too many waited counts as a response, once, with any number of scrapes', async () => {
  const metrics = createMetrics()
  let refused = 0
  metrics.inFlight(() => ({ requests: 0, streams: 0, bodyBytes: 0, refused }))
  expect(await linesOf(metrics, 'sluice_requests_total')).toEqual([])
  metrics.request({ method: 'BREW', status: 503, seconds: 0 })
  for (const more of [1, 2]) {
    refused += more
    for (let look = 0; look < 2; look++) {
      expect(await linesOf(metrics, 'sluice_requests_total')).toEqual([
        `sluice_requests_total{method="other",status="503"} ${1 + refused}`,
      ])
      expect(await linesOf(metrics, 'sluice_waiting_requests_refused_total')).toEqual([
        `sluice_waiting_requests_refused_total ${refused}`,
      ])
    }
  }
})

test('every upstream call is counted once, by action, with any number of scrapes', async () => {
  const metrics = createMetrics()
  let count = 0
  for (const more of [1, 127, 128, 129, 1_000]) {
    for (let nth = 0; nth < more; nth++) {
      metrics.upstream({ action: 'GetAsset', status: 200, seconds: 0.25 })
      metrics.upstream({ action: 'CreateAsset', status: 0, seconds: 40 })
      count++
    }
    for (let look = 0; look < 2; look++) {
      expect(await linesOf(metrics, 'sluice_upstream_calls_total')).toEqual([
        `sluice_upstream_calls_total{action="GetAsset",status="200"} ${count}`,
        `sluice_upstream_calls_total{action="CreateAsset",status="0"} ${count}`,
      ])
      const seconds = await linesOf(metrics, 'sluice_upstream_seconds')
      expect(seconds).toContain(`sluice_upstream_seconds_bucket{le="0.5",action="GetAsset"} ${count}`)
      expect(seconds).toContain(`sluice_upstream_seconds_bucket{le="30",action="CreateAsset"} 0`)
      expect(seconds).toContain(`sluice_upstream_seconds_sum{action="CreateAsset"} ${count * 40}`)
    }
  }
})

import { expect, test } from 'bun:test'
import { runOpen } from './open-load.ts'

const request = { method: 'GET', path: '/', headers: {}, distinct: 1 } as const

/** A server that answers the nth request with the nth status. */
const serve = (statuses: readonly number[]) => {
  let nth = 0
  return Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => new Response('x', { status: statuses[nth++] ?? 200 }),
  })
}

test('each request that was due is good, refused, failed or given up', async () => {
  await using server = serve([200, 429, 503, 500, 200])
  const job = { url: `http://127.0.0.1:${server.port}`, requests: [request], perSecond: 1_000 }
  const result = await runOpen({ ...job, seconds: 0.005, connections: 5 })
  expect(result).toMatchObject({ good: 2, refused: 2, failed: 1, givenUp: 0, problem: 'status 500' })
})

test('requests without a free connection are given up, and their delays count', async () => {
  await using server = serve([])
  const job = { url: `http://127.0.0.1:${server.port}`, requests: [request], perSecond: 1e9 }
  // All are due at the first tick of the timer, before the first response can be read.
  const { good, givenUp, lag } = await runOpen({ ...job, seconds: 1e-6, connections: 2 })
  expect({ good, givenUp }).toEqual({ good: 2, givenUp: 998 })
  expect(lag.p50).toBeGreaterThan(0)
})

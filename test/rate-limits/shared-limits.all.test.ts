/** Runs with `--all`: two processes under load for seconds. Tests of the stores have equal shares, with a clock. */
import { describe, expect, test } from 'bun:test'
import { databaseNames } from '../support/database.ts'
import { until } from '../support/until.ts'
import { callsPerReader, openFixture, pause, read } from './fixture.ts'

for (const kind of databaseNames) {
  describe(`two gateways with one database (${kind})`, () => {
    test('never exceed the rate limit under five times its load, and serve each of 20 users', async () => {
      await using fixture = await openFixture({
        kind,
        users: 21,
        perSecond: 40,
        // Long enough for all 200 reads: a gateway of a busy machine rejects none.
        environment: { UPSTREAM_QUEUE_SECONDS: '20' },
      })
      const { base, servers, readers } = fixture
      const flooding = readers.slice(0, 20)
      let stopped = false
      const startedAt = Date.now()
      // 15 users call the first gateway, 5 the second, each with 10 concurrent reads: 200 reads for 40 calls per second.
      const floods = flooding.map((reader, nth) =>
        read(reader, servers[nth < 15 ? 0 : 1], { atOnce: 10, until: () => stopped }),
      )
      /** Calls of other users that reached the upstream while the rare user's call waited in the gateway. */
      const overtaken: number[] = []
      try {
        await pause(1_500)
        const [rare] = readers.slice(20)
        for (const server of [servers[0], servers[1], servers[0]]) {
          const user = rare?.at(server)
          const answer = user?.ask('GET', `/assets/${rare?.assets[0]}`)
          // A busy machine delays both on their way. This one needs no call: when it is answered, the other one waits for its turn.
          expect((await user?.ask('DELETE', '/assets/groups/nothing'))?.status).toBe(403)
          const before = base.emulator.calls.length
          expect((await answer)?.status).toBe(200)
          const arrived = base.emulator.calls.findLastIndex(({ path }) => path.endsWith(rare?.assets[0] ?? ' '))
          overtaken.push(arrived - before)
          await pause(900)
        }
        const counts = () => callsPerReader(fixture, startedAt, Number.POSITIVE_INFINITY).slice(0, 20)
        await until(() => Math.min(...counts()) >= 5)
      } finally {
        stopped = true
        await Promise.allSettled(floods)
      }
      const readings = (await Promise.all(floods)).flat()

      expect(base.emulator.maxCallsPerSecond('GetAsset')).toBeLessThanOrEqual(40)
      expect(base.emulator.calls.filter((call) => call.status === 429)).toEqual([])
      // Only a gateway rejects calls, and always with 429.
      expect(
        [...new Set(readings.map(({ status }) => status))].filter((status) => ![200, 429].includes(status)),
      ).toEqual([])
      // In a queue of 200 calls, or in a round of 20 users, each of these numbers would be larger. A busy machine may delay some of the calls all the same.
      expect(Math.min(...overtaken)).toBeLessThan(20)
    }, 300_000)

    test('both slow down when the upstream responds with Retry-After', async () => {
      await using fixture = await openFixture({
        kind,
        users: 2,
        perSecond: 5,
        environment: { UPSTREAM_QUEUE_SECONDS: '0.2' },
      })
      const { base, servers, readers } = fixture
      const ask = (nth: number) => readers[nth]?.at(servers[nth]).ask('GET', `/assets/${readers[nth]?.assets[0]}`)
      base.emulator.faults.add({ kind: 'status', status: 429, headers: { 'retry-after': '2' }, body: '{"slow":true}' })
      const first = await ask(0)
      expect([first?.status, first?.headers.get('retry-after'), first?.text]).toEqual([429, '2', '{"slow":true}'])
      for (const nth of [0, 1]) {
        const rejected = await ask(nth)
        expect([rejected?.status, rejected?.headers.get('retry-after')]).toEqual([429, '2'])
        expect(rejected?.json).toEqual({
          success: false,
          error: { message: 'too many requests wait for the upstream', type: 'media_proxy_error' },
        })
      }
      expect(base.emulator.calls).toHaveLength(1)
      await pause(2_000)
      expect([(await ask(0))?.status, (await ask(1))?.status]).toEqual([200, 200])
    }, 300_000)
  })
}

test('a gateway takes over the permits of a killed gateway', async () => {
  const environment = { MEDIA_UPSTREAM_TIMEOUT_SECONDS: '0.1', UPSTREAM_QUEUE_SECONDS: '8' }
  await using fixture = await openFixture({ kind: 'sqlite', users: 1, perSecond: 1, environment })
  const { base, servers, readers } = fixture
  const ask = (nth: number) => readers[0]?.at(servers[nth]).ask('GET', `/assets/${readers[0]?.assets[0]}`)
  await pause(1_100)
  const hold = base.emulator.faults.add({ kind: 'hold', action: 'GetAsset' })
  const lost = ask(0)?.catch(() => undefined)
  await hold.waitForHits()
  await servers[0]?.kill('SIGKILL')
  await lost
  hold.remove()
  expect((await ask(1))?.status).toBe(200)
  expect(base.emulator.maxCallsPerSecond('GetAsset')).toBe(1)
}, 300_000)

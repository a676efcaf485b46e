import { describe, expect, test } from 'bun:test'
import { gather, pause, read, shares } from './flood.ts'

for (const kind of ['sqlite', 'postgres'] as const) {
  describe(`two gateways on one database (${kind})`, () => {
    test('never exceed the limit under 20 users at five times of it, and serve them alike', async () => {
      await using crowd = await gather({ kind, users: 21, perSecond: 40, environment: { UPSTREAM_QUEUE_SECONDS: '2' } })
      const { place, servers, readers } = crowd
      const flooding = readers.slice(0, 20)
      let stopped = false
      const until = () => stopped
      const startedAt = Date.now()
      // 15 users ask the first, 5 the second, each with 10 readings at once: 200 that want to be 40 a second.
      const floods = flooding.map((reader, nth) => read(reader, servers[nth < 15 ? 0 : 1], { atOnce: 10, until }))
      await pause(1_500)
      /** Calls of others that reached the upstream while the rare one's waited for its turn. */
      const overtaken: number[] = []
      const [rare] = readers.slice(20)
      for (const server of [servers[0], servers[1], servers[0]]) {
        const before = place.emulator.calls.length
        expect((await rare?.at(server).ask('GET', `/assets/${rare.assets[0]}`))?.status).toBe(200)
        const arrived = place.emulator.calls.findLastIndex(({ path }) => path.endsWith(rare?.assets[0] ?? ' '))
        overtaken.push(arrived - before)
        await pause(900)
      }
      const endedAt = Date.now()
      stopped = true
      const readings = (await Promise.all(floods)).flat()

      expect(place.emulator.perSecond('GetAsset')).toBeLessThanOrEqual(40)
      expect(place.emulator.calls.filter((call) => call.status === 429)).toEqual([])
      const got = shares(crowd, startedAt + 1_000, endedAt).slice(0, 20)
      const fair = got.reduce((sum, each) => sum + each, 0) / 20
      expect(Math.min(...got)).toBeGreaterThanOrEqual(0.8 * fair)
      // Whoever was refused was refused by a gateway, in time.
      expect(
        [...new Set(readings.map(({ status }) => status))].filter((status) => ![200, 429].includes(status)),
      ).toEqual([])
      // In a line of 200 calls, or in a round of 20 users, it would be at least so many.
      expect(Math.max(...overtaken)).toBeLessThan(20)
    }, 30_000)

    test('slow down together when the upstream says so', async () => {
      await using crowd = await gather({ kind, users: 2, perSecond: 5, environment: { UPSTREAM_QUEUE_SECONDS: '0.2' } })
      const { place, servers, readers } = crowd
      const ask = (nth: number) => readers[nth]?.at(servers[nth]).ask('GET', `/assets/${readers[nth]?.assets[0]}`)
      place.emulator.faults.add({ kind: 'status', status: 429, headers: { 'retry-after': '2' }, body: '{"slow":true}' })
      const first = await ask(0)
      expect([first?.status, first?.headers.get('retry-after'), first?.text]).toEqual([429, '2', '{"slow":true}'])
      for (const nth of [0, 1]) {
        const refused = await ask(nth)
        expect([refused?.status, refused?.headers.get('retry-after')]).toEqual([429, '2'])
        expect(refused?.json).toEqual({
          success: false,
          error: { message: 'too many requests wait for the upstream', type: 'media_proxy_error' },
        })
      }
      expect(place.emulator.calls).toHaveLength(1)
      await pause(2_000)
      expect([(await ask(0))?.status, (await ask(1))?.status]).toEqual([200, 200])
    }, 30_000)
  })
}

test('a gateway gets back the places of another one that was killed', async () => {
  const environment = { MEDIA_UPSTREAM_TIMEOUT_SECONDS: '0.1', UPSTREAM_QUEUE_SECONDS: '8' }
  await using crowd = await gather({ kind: 'sqlite', users: 1, perSecond: 1, environment })
  const { place, servers, readers } = crowd
  const ask = (nth: number) => readers[0]?.at(servers[nth]).ask('GET', `/assets/${readers[0]?.assets[0]}`)
  await pause(1_100)
  const hold = place.emulator.faults.add({ kind: 'hold', action: 'GetAsset' })
  const lost = ask(0)?.catch(() => undefined)
  await hold.struck()
  await servers[0]?.kill('SIGKILL')
  await lost
  hold.remove()
  expect((await ask(1))?.status).toBe(200)
  expect(place.emulator.perSecond('GetAsset')).toBe(1)
}, 30_000)

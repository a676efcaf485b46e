import { callsPerReader, openFixture, pause, type Reading, read } from '../rate-limits/fixture.ts'

const perSecond = 10
const seconds = 22
/** Excludes the start, when all permits are free and no call waits. */
const settledMs = 2_000

/** 20 users send five times the rate limit of 10 calls per second, unevenly spread over two gateway processes. Measures their shares, and the wait of a rare user. */
export const limits = async (): Promise<void> => {
  for (const kind of ['sqlite', 'postgres'] as const) {
    for (const first of [10, 15, 19]) await measure(kind, first)
  }
  process.exit(0)
}

const measure = async (kind: 'sqlite' | 'postgres', first: number): Promise<void> => {
  await using fixture = await openFixture({ kind, users: 21, perSecond })
  const { base, servers, readers } = fixture
  const [light, ...flooding] = readers.toReversed()
  let stopped = false
  const until = () => stopped
  const startedAt = Date.now()
  const floods = flooding.map((reader, nth) => read(reader, servers[nth < first ? 0 : 1], { atOnce: 3, until }))
  const rare: Reading[] = []
  const endsAt = startedAt + seconds * 1000
  while (light && Date.now() < endsAt) {
    await pause(1_800 + Math.random() * 900)
    const askedAt = performance.now()
    const { status } = await light.at(servers[rare.length % 2]).ask('GET', `/assets/${light.assets[0]}`)
    rare.push({ status, ms: performance.now() - askedAt })
  }
  stopped = true
  const endedAt = Date.now()
  const got = callsPerReader(fixture, startedAt + settledMs, endedAt).slice(0, 20)
  const readings = (await Promise.all(floods)).flat()

  const total = got.reduce((sum, each) => sum + each, 0)
  const waits = readings.filter(({ status }) => status === 200).map(({ ms }) => ms)
  console.log(`${kind}, ${first} users on one process and ${20 - first} on the other, ${seconds} s`)
  console.log(`  busiest second           ${base.emulator.maxCallsPerSecond('GetAsset')} calls of ${perSecond}`)
  console.log(`  rejected by the upstream ${base.emulator.calls.filter((call) => call.status === 429).length}`)
  console.log(
    `  rejected by the gateways ${readings.filter(({ status }) => status === 429).length} of ${readings.length}`,
  )
  console.log(`  calls per second         ${((total * 1000) / (endedAt - startedAt - settledMs)).toFixed(2)}`)
  console.log(
    `  slowest, fastest user    ${percent(Math.min(...got), total)}, ${percent(Math.max(...got), total)} of a fair share`,
  )
  console.log(`  wait of a busy user      ${quantiles(waits)}`)
  console.log(`  wait of a rare user      ${quantiles(rare.map(({ ms }) => ms))} (${rare.length} calls)`)
}

const percent = (calls: number, total: number): string => `${((100 * 20 * calls) / total).toFixed(0)} %`

const quantiles = (ms: readonly number[]): string => {
  const sorted = [...ms].sort((a, b) => a - b)
  const at = (part: number) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0)
  return `median ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${Math.round(sorted.at(-1) ?? 0)} ms`
}

/** Runs with `--all`: starts and kills many workers. */
import { expect, test } from 'bun:test'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Runtime, ServerProcess } from '../support/server.ts'
import { openServerFixture } from '../support/server-fixture.ts'
import { until } from '../support/until.ts'

const token = 'the-metrics-token'

/** Reads `/metrics` of a server. */
class Scraper {
  readonly #server: ServerProcess
  /** How many requests it has sent. */
  requests = 0

  constructor(server: ServerProcess) {
    this.#server = server
  }

  /** The values by the name and labels of the sample. */
  async scrape(): Promise<ReadonlyMap<string, number>> {
    this.requests++
    const response = await fetch(`${this.#server.url}/metrics`, {
      headers: { authorization: `Bearer ${token}` },
      keepalive: false,
    })
    const text = await response.text()
    // On a busy machine the supervisor may respond late. Then the worker does not show a part of the sum.
    if (response.status === 503) return this.scrape()
    expect(response.status).toBe(200)
    const samples = text.split('\n').filter((line) => /^\w/.test(line))
    return new Map(samples.map((line) => [line.replace(/ \S+$/, ''), Number(line.slice(line.lastIndexOf(' ') + 1))]))
  }

  /**
   * Scrapes until a sum has reached this value. Where the other worker responds late, its part is that of an earlier scrape. No counter falls meanwhile.
   */
  async scrapeUntil(name: string, value: number): Promise<ReadonlyMap<string, number>> {
    let values = await this.scrape()
    while ((values.get(name) ?? 0) < value) {
      const next = await this.scrape()
      expect(next.get(rejected)).toBeGreaterThanOrEqual(values.get(rejected) ?? 0)
      values = next
    }
    return values
  }
}

/** Sends requests without a token, each on a connection of its own, so that the system spreads them over the workers. */
const sendRejected = async (server: ServerProcess, count: number) => {
  for (let nth = 0; nth < count; nth++) {
    const response = await fetch(`${server.url}/api/media/proxy/assets`, { keepalive: false })
    expect(response.status).toBe(401)
    await response.bytes()
  }
}

const rejected = 'sluice_requests_total{method="GET",status="401"}'

const workersOf = (server: ServerProcess): number[] =>
  execFileSync('ps', ['-o', 'pid=', '--ppid', String(server.pid)], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map(Number)

/** Stops a process. Disposing it lets it go on. A worker that remains stopped would outlive its supervisor, and the test would wait for it. */
const stop = (pid: number): Disposable => {
  process.kill(pid, 'SIGSTOP')
  return { [Symbol.dispose]: () => process.kill(pid, 'SIGCONT') }
}

for (const runtime of ['bun', 'deno'] satisfies Runtime[]) {
  test(`on ${runtime}, each scrape returns the sum of two workers, also when one stops, dies and is replaced`, async () => {
    await using fixture = await openServerFixture()
    const server = await fixture.start({ WORKERS: '2', METRICS_TOKEN: token }, runtime)
    const scraper = new Scraper(server)
    await sendRejected(server, 30)
    for (let nth = 0; nth < 6; nth++) {
      // The scrapes before the last one are counted as well.
      let values = await scraper.scrape()
      while ((values.get('sluice_request_seconds_count') ?? 0) < 29 + scraper.requests) values = await scraper.scrape()
      expect([values.get(rejected), values.get('sluice_processes')]).toEqual([30, 2])
      expect(values.get('sluice_request_seconds_count')).toBe(29 + scraper.requests)
      expect(values.get('sluice_request_seconds_bucket{le="+Inf"}')).toBe(29 + scraper.requests)
    }

    const [first = 0, second = 0] = workersOf(server)
    const scrapes: Promise<ReadonlyMap<string, number>>[] = []
    {
      using _stopped = stop(first)
      // The system still gives the stopped worker connections. Those wait. It chooses by chance: the other one gets at least one of so many.
      for (let nth = 0; nth < 40; nth++) scrapes.push(scraper.scrape())
      const { promise: answered, resolve } = Promise.withResolvers<ReadonlyMap<string, number>>()
      for (const scrape of scrapes) scrape.then(resolve)
      expect((await answered).get('sluice_processes_unresponsive')).toBe(1)
    }
    for (const values of await Promise.all(scrapes))
      expect([values.get(rejected), values.get('sluice_processes')]).toEqual([30, 2])
    // On a busy machine, one that goes on may respond late.
    await until(async () => (await scraper.scrape()).get('sluice_processes_unresponsive') === 0)

    process.kill(second, 'SIGKILL')
    await until(() => !workersOf(server).includes(second))
    const alone = await scraper.scrape()
    expect([alone.get(rejected), alone.get('sluice_processes_configured')]).toEqual([30, 2])
    // The next one starts after a second.
    expect(alone.get('sluice_processes')).toBeLessThanOrEqual(workersOf(server).length)
    await sendRejected(server, 10)
    await scraper.scrapeUntil('sluice_processes', 2)
    await sendRejected(server, 10)
    const values = await scraper.scrapeUntil(rejected, 50)
    expect([values.get(rejected), values.get('sluice_processes')]).toEqual([50, 2])
    expect(await server.kill('SIGTERM')).toBe(0)
  }, 300_000)
}

for (const runtime of ['bun', 'deno'] satisfies Runtime[]) {
  test(`on ${runtime}, workers stop when their supervisor was killed`, async () => {
    await using fixture = await openServerFixture()
    const server = await fixture.start({ WORKERS: '2' }, runtime)
    const workers = workersOf(server)
    expect(workers).toHaveLength(2)
    await server.kill('SIGKILL')
    await until(() => !workers.some(isRunning))
  }, 300_000)
}

const isRunning = (pid: number): boolean => {
  try {
    // An ended process stays in the table until its parent, here the first process of the system, reads its status.
    return !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

/** Runs with `--all`: starts and kills many workers. */
import { expect, test } from 'bun:test'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Runtime, ServerProcess } from '../support/server.ts'
import { openServerFixture } from '../support/server-fixture.ts'

const token = 'the-metrics-token'

/** Reads `/metrics` as values by the name and labels of the sample. */
const scrape = async (server: ServerProcess) => {
  const response = await fetch(`${server.url}/metrics`, {
    headers: { authorization: `Bearer ${token}` },
    keepalive: false,
  })
  expect(response.status).toBe(200)
  const samples = (await response.text()).split('\n').filter((line) => /^\w/.test(line))
  return new Map(samples.map((line) => [line.replace(/ \S+$/, ''), Number(line.slice(line.lastIndexOf(' ') + 1))]))
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

const signal = (pid: number | undefined, name: NodeJS.Signals) => {
  if (pid === undefined) throw new Error('there is no such worker')
  process.kill(pid, name)
}

for (const runtime of ['bun', 'deno'] satisfies Runtime[]) {
  test(`on ${runtime}, each scrape returns the sum of two workers, also when one stops, dies and is replaced`, async () => {
    await using fixture = await openServerFixture()
    const server = await fixture.start({ WORKERS: '2', METRICS_TOKEN: token }, runtime)
    await sendRejected(server, 30)
    let earlier = 0
    for (let nth = 0; nth < 6; nth++) {
      let values = await scrape(server)
      // The scrapes before this one are counted as well. Where the other worker responds late, its values are those of an earlier one.
      for (; values.get('sluice_request_seconds_count') !== 30 + earlier; earlier++) values = await scrape(server)
      expect([values.get(rejected), values.get('sluice_processes')]).toEqual([30, 2])
      expect(values.get('sluice_request_seconds_bucket{le="+Inf"}')).toBe(30 + earlier)
      earlier++
    }

    const [first, second] = workersOf(server)
    signal(first, 'SIGSTOP')
    // The system still gives the stopped worker connections. Those wait.
    const scrapes = await Promise.all(
      Array.from({ length: 8 }, () =>
        Promise.race([scrape(server), new Promise<undefined>((resolve) => setTimeout(resolve, 2_500))]),
      ),
    )
    const answered = scrapes.filter((values) => values !== undefined)
    expect(answered).not.toBeEmpty()
    for (const values of answered) expect([values.get(rejected), values.get('sluice_processes')]).toEqual([30, 2])
    signal(first, 'SIGCONT')

    signal(second, 'SIGKILL')
    while (workersOf(server).includes(second ?? 0)) await Bun.sleep(5)
    const alone = await scrape(server)
    expect([alone.get(rejected), alone.get('sluice_processes')]).toEqual([30, 1])
    await sendRejected(server, 10)
    let values = await scrape(server)
    while (values.get('sluice_processes') === 1) {
      expect(values.get(rejected)).toBe(40)
      await Bun.sleep(50)
      values = await scrape(server)
    }
    await sendRejected(server, 10)
    values = await scrape(server)
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
    while (workers.some(isRunning)) await Bun.sleep(10)
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

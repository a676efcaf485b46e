/** Runs with `--all`: ends and kills many processes on both runtimes. */
import { expect, test } from 'bun:test'
import OpenAI from 'openai'
import { until } from '../routes/fixture.ts'
import { openServerFixture } from '../support/server-fixture.ts'

const model = 'doubao-seed-emulated'

/** Servers with a text upstream, and one user with the number of their recorded calls. */
const openFixture = async (kind: 'sqlite' | 'postgres' = 'sqlite') => {
  const base = await openServerFixture(kind)
  const { url, key } = base.emulator.text
  const user = await base.addUser('ann')
  return {
    [Symbol.asyncDispose]: () => base[Symbol.asyncDispose](),
    start: (environment: Record<string, string> = {}, runtime?: 'bun' | 'deno') =>
      base.start({ TEXT_UPSTREAM_URL: url, TEXT_UPSTREAM_KEY: key, ...environment }, runtime),
    async call(server: { readonly url: string }, times: number) {
      const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: user.token, maxRetries: 0 })
      const messages = [{ role: 'user' as const, content: 'hi' }]
      await Promise.all(
        Array.from({ length: times }, (_, index) =>
          index % 2 === 0
            ? client.chat.completions.create({ model, messages })
            : client.chat.completions.create({ model, messages, stream: true }).then(async (stream) => {
                for await (const _ of stream) {
                }
              }),
        ),
      )
    },
    /** Starts streams that stay silent after their first event. */
    async hold(server: { readonly url: string }, times: number) {
      const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: user.token, maxRetries: 0 })
      const messages = [{ role: 'user' as const, content: 'hi' }]
      const bodies: Promise<string>[] = []
      for (let index = 0; index < times; index++) {
        base.emulator.faults.add({ kind: 'silence', events: 1 })
        const response = await client.chat.completions.create({ model, messages, stream: true }).asResponse()
        bodies.push(response.text())
      }
      return { ends: Promise.allSettled(bodies) }
    },
    async calls() {
      const rows = await base.store.listUsage({ user: user.id })
      return rows.reduce((sum, row) => sum + row.calls, 0)
    },
  }
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`${signal} right after the last response loses no usage, with two workers`, async () => {
    await using fixture = await openFixture()
    const server = await fixture.start({ WORKERS: '2' })
    await fixture.call(server, 20)
    expect(await server.kill(signal)).toBe(0)
    expect(await fixture.calls()).toBe(20)
  }, 300_000)
}

const listeners = [
  ['bun', 'on'],
  ['bun', 'off'],
  ['deno', 'on'],
] as const

test.each(listeners)(
  'streams that are cut off after DRAIN_SECONDS count as calls (%s, GET_BODIES=%s)',
  async (runtime, bodies) => {
    await using fixture = await openFixture()
    const server = await fixture.start({ DRAIN_SECONDS: '0.2', GET_BODIES: bodies }, runtime)
    const held = await fixture.hold(server, 3)
    expect(await server.kill('SIGTERM')).toBe(0)
    expect((await held.ends).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    expect(await fixture.calls()).toBe(3)
  },
  300_000,
)

test('usage of several processes, on Bun and Deno, adds up (postgres)', async () => {
  await using fixture = await openFixture('postgres')
  const servers = await Promise.all([fixture.start(), fixture.start({}, 'deno'), fixture.start({ WORKERS: '2' })])
  await Promise.all(servers.map((server) => fixture.call(server, 10)))
  await until(async () => (await fixture.calls()) >= 30)
  for (const server of servers) expect(await server.kill('SIGTERM')).toBe(0)
  expect(await fixture.calls()).toBe(30)
}, 300_000)

test('a killed process loses only the usage of calls that ended just before, and written usage counts once', async () => {
  await using fixture = await openFixture()
  let written = 0
  for (let round = 0; round < 3; round++) {
    const server = await fixture.start()
    await fixture.call(server, 10)
    await until(async () => (await fixture.calls()) >= written + 10)
    await fixture.call(server, 2)
    await server.kill('SIGKILL')
    const calls = await fixture.calls()
    expect(calls).toBeGreaterThanOrEqual(written + 10)
    expect(calls).toBeLessThanOrEqual(written + 12)
    written = calls
  }
}, 300_000)

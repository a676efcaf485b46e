import { expect, test } from 'bun:test'
import OpenAI from 'openai'
import { until } from '../routes/routes.ts'
import { openWorkplace } from '../support/temporary-files.ts'

const model = 'doubao-seed-emulated'

/** Servers with a text upstream, a user who calls them, and what the user is known to have called. */
const openOffice = async (kind: 'sqlite' | 'postgres' = 'sqlite') => {
  const place = await openWorkplace(kind)
  const { url, key } = place.emulator.text
  const user = await place.addUser('ann')
  return {
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
    start: (environment: Record<string, string> = {}, runtime?: 'bun' | 'deno') =>
      place.start({ TEXT_UPSTREAM_URL: url, TEXT_UPSTREAM_KEY: key, ...environment }, runtime),
    async ask(server: { readonly url: string }, times: number) {
      const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: user.token, maxRetries: 0 })
      const messages = [{ role: 'user' as const, content: 'hi' }]
      await Promise.all(
        Array.from({ length: times }, (_, nth) =>
          nth % 2 === 0
            ? client.chat.completions.create({ model, messages })
            : client.chat.completions.create({ model, messages, stream: true }).then(async (stream) => {
                for await (const _ of stream) {
                }
              }),
        ),
      )
    },
    /** Begins streams that stay silent after their first event. */
    async hold(server: { readonly url: string }, times: number) {
      const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: user.token, maxRetries: 0 })
      const messages = [{ role: 'user' as const, content: 'hi' }]
      const bodies: Promise<string>[] = []
      for (let nth = 0; nth < times; nth++) {
        place.emulator.faults.add({ kind: 'silence', events: 1 })
        const response = await client.chat.completions.create({ model, messages, stream: true }).asResponse()
        bodies.push(response.text())
      }
      return { ends: Promise.allSettled(bodies) }
    },
    async calls() {
      const rows = await place.store.listUsage({ user: user.id })
      return rows.reduce((sum, row) => sum + row.calls, 0)
    },
  }
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`${signal} right behind the last answer loses no usage, of two workers neither`, async () => {
    await using office = await openOffice()
    const server = await office.start({ WORKERS: '2' })
    await office.ask(server, 20)
    expect(await server.kill(signal)).toBe(0)
    expect(await office.calls()).toBe(20)
  }, 30_000)
}

const fronts = [
  ['bun', 'on'],
  ['bun', 'off'],
  ['deno', 'on'],
] as const

test.each(fronts)(
  'streams that are cut off when DRAIN_SECONDS are over count as calls (%s, GET_BODIES=%s)',
  async (runtime, bodies) => {
    await using office = await openOffice()
    const server = await office.start({ DRAIN_SECONDS: '0.2', GET_BODIES: bodies }, runtime)
    const held = await office.hold(server, 3)
    expect(await server.kill('SIGTERM')).toBe(0)
    expect((await held.ends).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    expect(await office.calls()).toBe(3)
  },
  30_000,
)

test('usage of several processes, on Bun and Deno, adds up (postgres)', async () => {
  await using office = await openOffice('postgres')
  const servers = await Promise.all([office.start(), office.start({}, 'deno'), office.start({ WORKERS: '2' })])
  await Promise.all(servers.map((server) => office.ask(server, 10)))
  await until(async () => (await office.calls()) >= 30)
  for (const server of servers) expect(await server.kill('SIGTERM')).toBe(0)
  expect(await office.calls()).toBe(30)
}, 60_000)

test('a process that is killed loses no usage but of what ended just before, and what was written counts once', async () => {
  await using office = await openOffice()
  let written = 0
  for (let round = 0; round < 3; round++) {
    const server = await office.start()
    await office.ask(server, 10)
    await until(async () => (await office.calls()) >= written + 10)
    await office.ask(server, 2)
    await server.kill('SIGKILL')
    const calls = await office.calls()
    expect(calls).toBeGreaterThanOrEqual(written + 10)
    expect(calls).toBeLessThanOrEqual(written + 12)
    written = calls
  }
}, 60_000)

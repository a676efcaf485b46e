/** Runs with `--all`: whole gateways, 1,000 callers at once, kills, and the minute until their leases end. Needs SLUICE_SLOW. */
import { expect, test } from 'bun:test'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { LimitReport } from 'sluice/usage-limits'
import { databaseNames } from '../../support/database.ts'
import { describeSlow } from '../../support/run-if.ts'
import type { ServerProcess } from '../../support/server.ts'
import { openServerFixture } from '../../support/server-fixture.ts'
import type { Finished, Replaced, Start } from './load-process.ts'

const amount = 300_000

interface Outcome {
  readonly result: Finished
  /** What the gateways have booked. */
  readonly booked: number
}

/** 1,000 callers of several gateways, each until it is refused. */
const run = async (kind: (typeof databaseNames)[number], seed: number, kills: number): Promise<Outcome> => {
  await using fixture = await openServerFixture(kind)
  const load = fork(join(import.meta.dir, 'load-process.ts'), [String(seed)], {
    env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: '4096' },
  })
  try {
    const [{ upstream }] = (await once(load, 'message')) as [{ readonly upstream: string }]
    const environment = {
      TEXT_UPSTREAM_URL: upstream,
      TEXT_UPSTREAM_KEY: 'upstream-key',
      ACCOUNT_LIMITS: JSON.stringify([{ unit: 'tokens', amount, window: 'month' }]),
      USER_LIMITS: JSON.stringify([
        { unit: 'requests', amount: 1_000_000, window: 'day' },
        { unit: 'streams', amount: 5_000 },
      ]),
      ...{ USER_MAX_REQUESTS: '5000', USER_MAX_STREAMS: '5000' },
    }
    const count = kind === 'postgres' ? 3 : 2
    const gateways: ServerProcess[] = []
    for (let nth = 0; nth < count; nth++) gateways.push(await fixture.start(environment))
    const users = await Promise.all(['ann', 'bob', 'cid'].map((name) => fixture.addUser(name)))
    const finished = once(load, 'message') as Promise<[Finished]>
    load.send({
      gateways: gateways.map(({ url }) => url),
      tokens: users.map(({ token }) => token),
      ...{ callers: 1_000, seed },
    } satisfies Start)
    for (let nth = 0; nth < kills; nth++) {
      await Bun.sleep(4_000)
      const killed = gateways[nth % count]
      if (!killed) break
      await killed.kill('SIGKILL')
      const next = await fixture.start(environment)
      gateways[nth % count] = next
      load.send({ from: killed.url, to: next.url } satisfies Replaced)
    }
    const [result] = await finished
    // What was held is booked or given back; that of a killed gateway within a minute.
    let account: LimitReport | undefined
    for (let second = 0; second < 60 && account?.reserved !== 0; second++) {
      await Bun.sleep(1_000)
      const response = await fetch(`${gateways[0]?.url}/api/limits`, {
        headers: { authorization: `Bearer ${users[0]?.token}` },
      })
      const { limits } = (await response.json()) as { readonly limits: readonly LimitReport[] }
      account = limits.find(({ subject }) => subject.type === 'account')
    }
    expect(account?.reserved).toBe(0)
    return { result, booked: account?.used ?? 0 }
  } finally {
    load.kill('SIGKILL')
  }
}

for (const kind of databaseNames)
  describeSlow(`gateways on one database (${kind})`, () => {
    test('let through at most the amount, and at least 95 % of it, with 1,000 callers and aborts', async () => {
      const { result, booked } = await run(kind, 5, 0)
      expect(result.tokens).toBeWithin(0.95 * amount, amount + result.largest)
      expect(booked).toBeWithin(result.tokens, amount + result.largest)
      expect(result.statuses[200]).toBeGreaterThan(1_000)
    }, 300_000)

    test('let through at most the amount when they are killed, and book what they held', async () => {
      const { result, booked } = await run(kind, 6, 2)
      expect(result.tokens).toBeLessThanOrEqual(amount + result.largest)
      expect(booked).toBeWithin(Math.max(result.tokens, 0.95 * amount), amount + result.largest)
    }, 300_000)
  })

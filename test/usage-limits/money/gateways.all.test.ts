/** Runs with `--all`: whole gateways, 1,000 callers at once, and kills. */
import { describe, expect, test } from 'bun:test'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { databaseNames } from '../../support/database.ts'
import type { ServerProcess } from '../../support/server.ts'
import { openServerFixture } from '../../support/server-fixture.ts'
import type { Finished, Replaced, Start } from './load-process.ts'

const amount = 300_000

describe.each(databaseNames)('gateways on one database (%s)', (kind) => {
  test('let through at most the amount, and at least 95 % of it, with 1,000 callers, aborts and kills', async () => {
    await using fixture = await openServerFixture(kind)
    const seed = 5
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
      const kills = (async () => {
        for (let nth = 0; nth < 2; nth++) {
          await Bun.sleep(3_000)
          const killed = gateways[nth % count]
          if (!killed) return
          await killed.kill('SIGKILL')
          const next = await fixture.start(environment)
          gateways[nth % count] = next
          load.send({ from: killed.url, to: next.url } satisfies Replaced)
        }
      })()
      const [result] = await finished
      await kills
      console.log(kind, result)
      expect(result.tokens).toBeLessThanOrEqual(amount + result.largest)
      expect(result.tokens).toBeGreaterThanOrEqual(0.95 * amount)
      expect(result.statuses[200]).toBeGreaterThan(1_000)
    } finally {
      load.kill('SIGKILL')
    }
  }, 300_000)
})

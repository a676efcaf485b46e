import type { LimitStore } from 'sluice/usage-limits'
import { exhaust } from './exhaustion.ts'
import { createJudge } from './judge.ts'
import { simulate } from './simulation.ts'
import { slide } from './sliding.ts'

const amount = 40_000
const limit = { unit: 'tokens', amount, window: 'day' } as const

/** What all simulations find of one seed. */
export const findViolations = async (
  seed: number,
  stores: readonly LimitStore[],
  steps?: number,
): Promise<readonly string[]> => {
  const found: string[] = []
  for await (const violation of violationsOf(seed, stores, steps)) found.push(violation)
  return found
}

/** The same one by one: the simulations that follow a violation run only when the next one is asked for. */
export async function* violationsOf(
  seed: number,
  stores: readonly LimitStore[],
  steps = 500,
): AsyncGenerator<string, undefined> {
  const minute = await slide(seed, stores, 10)
  yield* checkUse('requests of a minute', minute.most, 10, 10)
  yield* checkUse('requests of five minutes', minute.passed, 50)

  for (let nth = 1; nth <= 5; nth++) {
    const small = { ...limit, amount: 3_000 }
    yield* checkUse('few tokens', (await exhaust({ seed: seed + nth * 10_000, stores, limit: small })).used, 3_000)
  }
  yield* checkUse('tokens of a day', (await exhaust({ seed, stores, limit, lost: 0.02 })).used, amount)

  // From a day of 23 hours into the next; and more later on that day.
  const zone = 'America/New_York'
  const judge = createJudge(zone)
  for (const [nth, beginAt] of ['2026-03-09T03:59:58Z', '2026-03-09T04:10:00Z'].entries()) {
    const user = seed + (nth + 1) * 1_000
    const early = await exhaust({ seed: user, stores, limit, time: { zone, startAt: '2026-03-08T16:00:00Z', beginAt } })
    const noon = { zone, startAt: '2026-03-09T16:00:00Z', beginAt: '2026-03-09T16:00:01Z' }
    const late = await exhaust({ seed: user, stores, limit, time: noon })
    const ofDay = { name: 'user', limit, covers: () => true }
    const used = judge([...early.calls, ...late.calls], ofDay, Date.parse(noon.beginAt))
    yield* checkUse(`tokens of a day after a change of the clock, from ${beginAt}`, used, amount)
  }

  const { violations, granted, refused } = await simulate({ seed, stores, steps })
  yield* violations
  if (granted < steps / 5 || refused < steps / 10) yield `${granted} calls were granted, ${refused} refused`
}

function* checkUse(what: string, used: number, most: number, least = 0.95 * most): Generator<string> {
  if (used > most) yield `${what}: ${used} instead of ${most} at most`
  if (used < least) yield `${what}: ${used} instead of ${least} at least`
}

import type { TestDatabase } from '../support/database.ts'
import { randomFrom } from '../usage-limits/money/random.ts'
import { repeatedDeliveries } from './judge/deliveries.ts'
import { judge } from './judge/index.ts'
import { load } from './load/index.ts'
import { killPositions } from './processes.ts'
import { type KillWorld, openKillWorld } from './world.ts'

export interface RunOptions {
  readonly kind: TestDatabase['kind']
  readonly processes: number
  readonly kills: number
  readonly seed: number
}

export interface Report {
  readonly violations: readonly string[]
  /** For a reader of the output. */
  readonly figures: Readonly<Record<string, unknown>>
}

/** Uses gateways, kills them, and judges what is there afterwards. */
export const run = async (options: RunOptions): Promise<Report> => {
  await using world = await openKillWorld(options.kind, options)
  await useAndKill(world, options)
  const violations = await judge(world)
  return { violations, figures: figuresOf(world, options) }
}

/** Uses gateways, and kills them at the positions of the seed. */
export const useAndKill = async (
  world: KillWorld,
  { kills, seed }: Pick<RunOptions, 'kills' | 'seed'>,
): Promise<void> => {
  const over = new AbortController()
  const loading = load(world, seed, over.signal)
  // An error of a client must not leave the kills waiting for its requests.
  await Promise.race([loading, killAll(world, kills, seed)])
  over.abort()
  await loading
}

const killAll = async ({ processes, emulator, history }: KillWorld, kills: number, seed: number): Promise<void> => {
  for (const position of killPositions(randomFrom(seed), kills, processes.count)) {
    await processes.kill(position, emulator)
    if (!position.overlaps) await processes.at(position.slot)
  }
  // Without a kill there is something to judge, too.
  while (history.facts < 100) await Bun.sleep(20)
}

const figuresOf = (world: KillWorld, options: RunOptions): Report['figures'] => {
  const { history, emulator, deliveries } = world
  const outcomes = [...history.counts.values()]
  const sum = (outcome: 'acknowledged' | 'refused' | 'unknown') =>
    outcomes.reduce((total, counts) => total + counts[outcome], 0)
  return {
    ...options,
    killed: history.kills.length,
    inFlight: history.kills.reduce((total, { inFlight }) => total + inFlight, 0),
    writes: {
      ...{ acknowledged: sum('acknowledged'), refused: sum('refused'), unknown: sum('unknown') },
      kinds: history.counts.size,
    },
    facts: history.facts,
    upstreamCalls: emulator.calls.length,
    deliveries: deliveries.length,
    repeatedDeliveries: repeatedDeliveries(world),
    ...Object.fromEntries(history.counts),
  }
}

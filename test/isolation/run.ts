import fc from 'fast-check'
import { belongings, furnish } from './belongings.ts'
import { type Hole, type Kind, openWorld } from './fixture.ts'
import { Model } from './model.ts'
import { sequences } from './sequences.ts'

export interface Run {
  readonly kind: Kind
  readonly sequences: number
  readonly seed?: number
  readonly hole?: Hole
  /** Whether a violation is to be reduced to the shortest sequence that shows it. */
  readonly shrink?: boolean
}

export interface Outcome {
  /** How many were run; with a violation, it came up in the last one. */
  readonly sequences: number
  readonly violation: string | undefined
}

/** Lets users do things, sequence after sequence, until one shows a violation. */
export const runSequences = async (run: Run): Promise<Outcome> => {
  await using world = await openWorld(run.kind, run.hole)
  const property = fc.asyncProperty(belongings(), sequences(), async (given, steps) => {
    const model = new Model(await world.begin(), world.emulator.library)
    await furnish(given, model, world)
    await fc.asyncModelRun(() => ({ model, real: world }), steps)
  })
  const details = await fc.check(property, {
    numRuns: run.sequences,
    seed: run.seed,
    endOnFailure: run.shrink === false,
  })
  const { errorInstance: error } = details
  const why = error instanceof Error ? error.stack : String(error)
  return {
    sequences: details.numRuns,
    violation: details.failed ? `${why}\n${fc.defaultReportMessage(details)}` : undefined,
  }
}

import fc from 'fast-check'
import { create } from './create-step.ts'
import type { World } from './fixture.ts'
import { Model } from './model.ts'
import { behind, chat, nobody, odd, repeat, together } from './other-steps.ts'
import { cancel, get, list, remove } from './use-steps.ts'

export interface Run {
  readonly open: () => Promise<World>
  readonly sequences: number
  readonly seed?: number
  /** Whether a violation is to be reduced to the shortest sequence that shows it. */
  readonly shrink?: boolean
}

export interface Outcome {
  /** How many were run; with a violation, it came up in the last one. */
  readonly sequences: number
  readonly violation: string | undefined
}

/** Up to 30 things that three users, nobody, and somebody at the upstream do. */
const sequences = (): fc.Arbitrary<Iterable<fc.AsyncCommand<Model, World>>> =>
  fc.commands(
    [
      ...[create, create, create, create, create, create, create, create],
      ...[get, get, get, remove, cancel, cancel, list, list],
      ...[chat, odd, nobody, behind, repeat, together],
    ],
    { maxCommands: 30, size: 'max' },
  )

/** Lets users do things, sequence after sequence, until one shows a violation. */
export const runSequences = async (run: Run): Promise<Outcome> => {
  await using world = await run.open()
  const property = fc.asyncProperty(sequences(), async (steps) => {
    await world.begin()
    const model = new Model(world)
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

import fc from 'fast-check'
import { type Mutant, openFixture } from './fixture.ts'
import { Model } from './model.ts'
import { begin, end, sequences } from './steps.ts'

export interface SlotRun {
  readonly runs: number
  readonly seed: number | undefined
  readonly mutant?: Mutant
  /** How many sequences of the seed are skipped: a test of a mutant begins near the one that shows it. Default 0. */
  readonly skipped?: number | undefined
  readonly shrink?: boolean
}

/** Runs random sequences. Resolves with the violation that one of them shows, or undefined. */
export const findViolation = async (run: SlotRun): Promise<string | undefined> => {
  const { runs, seed, mutant, skipped = 0, shrink = true } = run
  const property = fc.asyncProperty(sequences(), fc.boolean(), async (steps, several) => {
    await using fixture = await openFixture(several, mutant)
    const model = new Model(fixture)
    await begin(model)
    for (const step of steps) {
      await step.run(model)
      model.checkUpstream()
    }
    await end(model)
  })
  const details = await fc.check(property, { numRuns: runs, seed, path: String(skipped), endOnFailure: !shrink })
  if (!details.failed) return undefined
  const steps = details.counterexample?.[0].map(({ what }) => what).join('\n')
  const { errorInstance: error } = details
  return `${error instanceof Error ? error.stack : error}\nseed ${details.seed}, after ${details.numRuns}\n${steps}`
}

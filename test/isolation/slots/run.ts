import fc from 'fast-check'
import { type Mutant, openFixture } from './fixture.ts'
import { Model } from './model.ts'
import { begin, end, sequences } from './steps.ts'

export interface SlotRun {
  readonly runs: number
  readonly seed: number | undefined
  readonly mutant?: Mutant
  readonly shrink?: boolean
}

/** Runs random sequences. Resolves with the violation that one of them shows, or undefined. */
export const findViolation = async ({ runs, seed, mutant, shrink = true }: SlotRun): Promise<string | undefined> => {
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
  const details = await fc.check(property, { numRuns: runs, seed, endOnFailure: !shrink })
  if (!details.failed) return undefined
  const steps = details.counterexample?.[0].map(({ what }) => what).join('\n')
  const { errorInstance: error } = details
  return `${error instanceof Error ? error.stack : error}\nseed ${details.seed}, after ${details.numRuns}\n${steps}`
}

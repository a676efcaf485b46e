import fc from 'fast-check'
import { newAsset, newGroup } from '../../routes/fixture.ts'
import type { Fixture } from './fixture.ts'
import { lendSteps } from './lend-steps.ts'
import { Model } from './model.ts'
import { sequences } from './steps.ts'

/** Runs random sequences. Resolves with the violation that one of them shows, or undefined. */
export const findViolation = async (
  fixture: Fixture,
  {
    runs,
    seed,
    skipped = 0,
    shrink = true,
    lends = false,
  }: {
    readonly runs: number
    readonly seed: number | undefined
    /** How many sequences of the seed are skipped. */
    readonly skipped?: number | undefined
    readonly shrink?: boolean
    /** Whether users lend their assets, too. Default false. */
    readonly lends?: boolean
  },
): Promise<string | undefined> => {
  const property = fc.asyncProperty(sequences(lends ? lendSteps : []), async (steps) => {
    const users = await fixture.newUsers()
    const assets = await Promise.all(users.map(async (user) => newAsset(user, await newGroup(user, 'people'))))
    const model = new Model(users, assets, fixture)
    for (const step of steps) {
      await step.run(model)
      model.checkUpstream()
    }
    await model.endAll()
    await model.checkAssets()
  })
  const details = await fc.check(property, { numRuns: runs, seed, path: String(skipped), endOnFailure: !shrink })
  if (!details.failed) return undefined
  const steps = details.counterexample?.[0].map(({ what }) => what).join('\n')
  const { errorInstance: error } = details
  return `${error instanceof Error ? error.stack : error}\nseed ${details.seed}\n${steps}`
}

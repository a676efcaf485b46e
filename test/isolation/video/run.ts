import fc from 'fast-check'
import { newAsset, newGroup } from '../../routes/fixture.ts'
import type { VideoUser } from '../../video-generation/fixture.ts'
import type { Fixture } from './fixture.ts'
import { consentSteps, lendSteps } from './lend-steps.ts'
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
    withdraws = false,
  }: {
    readonly runs: number
    readonly seed: number | undefined
    /** How many sequences of the seed are skipped. */
    readonly skipped?: number | undefined
    readonly shrink?: boolean
    /** Whether users lend their assets, too. Default false. */
    readonly lends?: boolean
    /** Whether the assets show persons, who withdraw their consents, and users lend them. Default false. */
    readonly withdraws?: boolean
  },
): Promise<string | undefined> => {
  const property = fc.asyncProperty(sequences(withdraws ? consentSteps : lends ? lendSteps : []), async (steps) => {
    const users = await fixture.newUsers()
    const addAsset = async (user: VideoUser) => newAsset(user, await newGroup(user, 'people'))
    const assets = await Promise.all(users.map((user) => (withdraws ? addFace(fixture, user) : addAsset(user))))
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

/** An asset in a group of a person, which the user gets. */
const addFace = async ({ video }: Fixture, { id: user }: VideoUser): Promise<string> => {
  const { emulator, store } = video
  const { id: group } = emulator.library.addGroup({ name: 'a face', type: 'LivenessFace' })
  await store.adoptGroup({ id: group, user, type: 'LivenessFace', name: 'a face', createdAt: 1 })
  return emulator.library.addAsset({ groupId: group, url: 'https://files.example/a.png', type: 'Image' }).id
}

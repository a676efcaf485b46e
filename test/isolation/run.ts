import fc from 'fast-check'
import { checkSequences, type RunResult, type Sequences } from './check-sequences.ts'
import { consentSequences } from './consents/sequences.ts'
import { type Kind, type Mutant, openFixture } from './fixture.ts'
import { addInitialGroups, initialGroups } from './initial-groups.ts'
import { Model } from './model.ts'
import { sequences } from './sequences.ts'
import { sharedSequences } from './shares/sequences.ts'

export interface Run extends Sequences {
  readonly kind: Kind
  readonly mutant?: Mutant
  /** Whether groups are lent, too. Default false. */
  readonly lends?: boolean
  /** Whether persons withdraw their consents, and groups are lent. Default false. */
  readonly withdraws?: boolean
}

/** Runs random sequences until one of them shows a violation. */
export const runSequences = async (run: Run): Promise<RunResult> => {
  await using fixture = await openFixture(run.kind, run.mutant)
  const property = fc.asyncProperty(
    initialGroups(),
    run.withdraws ? consentSequences() : run.lends ? sharedSequences() : sequences(),
    async (given, steps) => {
      const model = new Model(await fixture.reset(), fixture.emulator.library, fixture.now)
      await addInitialGroups(given, model, fixture)
      await fc.asyncModelRun(() => ({ model, real: fixture }), steps)
    },
  )
  return await checkSequences(property, run)
}

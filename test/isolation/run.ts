import fc from 'fast-check'
import { consentSequences } from './consents/sequences.ts'
import { type Kind, type Mutant, openFixture } from './fixture.ts'
import { addInitialGroups, initialGroups } from './initial-groups.ts'
import { Model } from './model.ts'
import { sequences } from './sequences.ts'
import { sharedSequences } from './shares/sequences.ts'

export interface Run {
  readonly kind: Kind
  readonly sequences: number
  readonly seed?: number
  readonly mutant?: Mutant
  /** Whether groups are lent, too. Default false. */
  readonly lends?: boolean
  /** Whether persons withdraw their consents, and groups are lent. Default false. */
  readonly withdraws?: boolean
  /** How many sequences of the seed are skipped: a test of a mutant begins near the one that shows it. Default 0. */
  readonly skipped?: number | undefined
  /** Whether fast-check reduces a failing sequence to a minimal one. Default: true. */
  readonly shrink?: boolean
}

export interface RunResult {
  /** Number of sequences that ran. A violation is in the last one. */
  readonly sequences: number
  readonly violation: string | undefined
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
  const details = await fc.check(property, {
    numRuns: run.sequences,
    seed: run.seed,
    path: String(run.skipped ?? 0),
    endOnFailure: run.shrink === false,
  })
  const { errorInstance: error } = details
  const why = error instanceof Error ? error.stack : String(error)
  return {
    sequences: details.numRuns,
    violation: details.failed ? `${why}\n${fc.defaultReportMessage(details)}` : undefined,
  }
}

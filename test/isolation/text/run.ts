import fc from 'fast-check'
import { create } from './create-step.ts'
import type { Fixture } from './fixture.ts'
import { Model } from './model.ts'
import {
  changeUpstream,
  chat,
  createConcurrently,
  reuseId,
  sendMalformedTarget,
  sendUnauthenticated,
} from './other-steps.ts'
import { cancel, get, list, remove } from './use-steps.ts'

export interface Run {
  readonly open: () => Promise<Fixture>
  readonly sequences: number
  readonly seed?: number
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

/** Up to 30 steps: of three users, of an unauthenticated client, and of somebody who changes the upstream directly. */
const sequences = (): fc.Arbitrary<Iterable<fc.AsyncCommand<Model, Fixture>>> =>
  fc.commands(
    [
      ...[create, create, create, create, create, create, create, create],
      ...[get, get, get, remove, cancel, cancel, list, list],
      ...[chat, sendMalformedTarget, sendUnauthenticated, changeUpstream, reuseId, createConcurrently],
    ],
    { maxCommands: 30, size: 'max' },
  )

/** Runs random sequences until one of them shows a violation. */
export const runSequences = async (run: Run): Promise<RunResult> => {
  await using fixture = await run.open()
  const property = fc.asyncProperty(sequences(), async (steps) => {
    await fixture.reset()
    const model = new Model(fixture)
    await fc.asyncModelRun(() => ({ model, real: fixture }), steps)
  })
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

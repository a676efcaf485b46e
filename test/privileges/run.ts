import fc from 'fast-check'
import type { Emulator } from '../../src/emulator/index.ts'
import type { Store } from '../../src/store/index.ts'
import { Choice } from './choice.ts'
import { addInitialPeople, stepNames, steps } from './steps.ts'
import { type Fault, World } from './world.ts'

export interface Run {
  readonly store: Store
  readonly emulator: Emulator
  readonly sequences: number
  readonly seed: number
  /** How many sequences of the seed are skipped: a test of a mutant begins near the one that shows it. Default 0. */
  readonly skipped?: number | undefined
  readonly fault?: Fault
  /** Whether fast-check reduces a failing sequence to a minimal one. Default true. */
  readonly shrink?: boolean
}

/** Runs random sequences until one of them shows what the model forbids. Resolves with that violation. */
export const runSequences = async (run: Run): Promise<string | undefined> => {
  const step = fc.tuple(fc.constantFrom(...stepNames), fc.array(fc.nat(), { minLength: 16, maxLength: 16 }))
  const property = fc.asyncProperty(fc.array(step, { minLength: 50, maxLength: 80, size: 'max' }), async (sequence) => {
    const world = new World(run.store, run.emulator, run.fault)
    await addInitialPeople(world)
    for (const [name, numbers] of sequence) {
      await steps[name]?.(world, new Choice(numbers))
      await world.check()
    }
  })
  const details = await fc.check(property, {
    numRuns: run.sequences,
    seed: run.seed,
    path: String(run.skipped ?? 0),
    endOnFailure: run.shrink === false,
  })
  if (!details.failed) return undefined
  const error = details.errorInstance
  const text = error instanceof Error ? error.stack : String(error)
  // A database that does not respond, for example, is no violation.
  if (!text?.includes('expect(')) throw error
  return `${text}\n${fc.defaultReportMessage(details)}`
}

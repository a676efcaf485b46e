import fc from 'fast-check'

/** Which random sequences run. */
export interface Sequences {
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

/** Runs random sequences until one of them shows a violation of the property. */
export const checkSequences = async <Values>(
  property: fc.IAsyncProperty<Values>,
  { sequences, seed, skipped = 0, shrink = true }: Sequences,
): Promise<RunResult> => {
  const details = await fc.check(property, {
    numRuns: sequences,
    seed,
    path: String(skipped),
    endOnFailure: !shrink,
  })
  const { errorInstance: error } = details
  const why = error instanceof Error ? error.stack : String(error)
  return {
    sequences: details.numRuns,
    violation: details.failed ? `${why}\n${fc.defaultReportMessage(details)}` : undefined,
  }
}

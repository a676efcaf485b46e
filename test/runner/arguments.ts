/** Files whose tests take minutes, many processes or many repetitions of a promise that another file tests once. */
export const longTests = '**/*.all.test.ts'

/** What the test command was asked for. */
export interface Selection {
  /** Whether `longTests` run, too. */
  readonly all: boolean
  /** Environment variables of the runner. See `repetitions` in test/support. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Arguments for the runner. */
  readonly args: readonly string[]
}

/** Reads the arguments of the test command: `--all`, and arguments for `bun test`, such as folders or `-t`. */
export const readArguments = (given: readonly string[]): Selection => {
  const all = given.includes('--all')
  const rest = given.filter((argument) => argument !== '--all')
  const environment = { SLUICE_QUICK: all ? undefined : '1' }
  return { all, environment, args: all ? rest : [`--path-ignore-patterns=${longTests}`, ...rest] }
}

/** Files whose tests take minutes, many processes or many repetitions of a promise that another file tests once. */
export const longTests = '**/*.all.test.ts'

/** What the test command was asked for. */
export interface Selection {
  /** Whether `longTests` run, too. */
  readonly all: boolean
  /** Arguments for the runner. */
  readonly args: readonly string[]
}

/** Reads the arguments of the test command: `--all`, and arguments for `bun test`, such as folders or `-t`. */
export const readArguments = (given: readonly string[]): Selection => {
  const all = given.includes('--all')
  const rest = given.filter((argument) => argument !== '--all')
  return { all, args: all ? rest : [`--path-ignore-patterns=${longTests}`, ...rest] }
}

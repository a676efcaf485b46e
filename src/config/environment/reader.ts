/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The errors of an environment: one sentence each, with the name of the variable and the expected value. */
export interface Problems {
  readonly problems: readonly string[]
}

/**
 * Reads one variable. Undefined when it is unset or empty, or when `parse` rejects it: then `${name} ${expected}` is a
 * problem.
 */
export type Read = <Value>(
  name: string,
  expected: string,
  parse: (text: string) => Value | undefined,
) => Value | undefined

/**
 * Creates the function that reads variables of an environment. Problems never quote a value, because it may be a
 * secret.
 */
export const createReader =
  (env: Environment, addProblem: (problem: string) => void): Read =>
  (name, expected, parse) => {
    const text = env[name]
    if (text === undefined || text === '') return undefined
    const value = parse(text)
    if (value === undefined) addProblem(`${name} ${expected}`)
    return value
  }

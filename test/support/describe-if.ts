import { describe } from 'bun:test'

/** A group of tests that is skipped when a condition is false. Its title then ends with the reason, which the test command prints. */
export const describeIf =
  (condition: boolean, reason: string) =>
  (title: string, tests: () => void): void =>
    condition ? describe(title, tests) : describe.skip(`${title} [${reason}]`, tests)

/** Tests that wait for minutes of real time. */
export const describeSlow = describeIf(
  process.env.SLUICE_SLOW !== undefined,
  'takes minutes of real time: SLUICE_SLOW is not set',
)

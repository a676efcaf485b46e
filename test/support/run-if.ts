import { describe, test } from 'bun:test'

/** A group of tests that is skipped when a condition is false. Its title then ends with the reason, which the test command prints. */
export const describeIf =
  (condition: boolean, reason: string) =>
  (title: string, tests: () => void): void =>
    condition ? describe(title, tests) : describe.skip(`${title} [${reason}]`, tests)

/** The same for one test. */
export const testIf =
  (condition: boolean, reason: string) =>
  (title: string, body: () => Promise<void>): void =>
    condition ? test(title, body) : test.skip(`${title} [${reason}]`, body)

/** Whether tests that take minutes run, too. */
export const isSlow = process.env.SLUICE_SLOW !== undefined

/** Tests that wait for minutes of real time. */
export const describeSlow = describeIf(isSlow, 'takes minutes of real time: SLUICE_SLOW is not set')

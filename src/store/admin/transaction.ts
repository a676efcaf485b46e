import { StoreError, UniqueViolationError } from '../database/error.ts'

/** A concurrent transaction has changed what this one has read: nothing is written. */
export class OvertakenError extends StoreError {
  override name = 'OvertakenError'
}

/**
 * Runs a transaction once more when a concurrent one has taken a unique value, or has overtaken it: the second run then
 * sees the change.
 */
export const again = async <Result>(run: () => Promise<Result>): Promise<Result> => {
  try {
    return await run()
  } catch (error) {
    if (error instanceof UniqueViolationError || error instanceof OvertakenError) return run()
    throw error
  }
}

/** 1: the member is in the change, possibly as null. */
export const flag = (member: unknown): 0 | 1 => (member === undefined ? 0 : 1)

import { UniqueViolationError } from '../database/error.ts'

/** Runs a transaction once more when a concurrent one has taken a unique value: the second run then sees it. */
export const again = async <Result>(run: () => Promise<Result>): Promise<Result> => {
  try {
    return await run()
  } catch (error) {
    if (error instanceof UniqueViolationError) return run()
    throw error
  }
}

/** 1: the member is in the change, possibly as null. */
export const flag = (member: unknown): 0 | 1 => (member === undefined ? 0 : 1)

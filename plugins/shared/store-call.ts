import { Problem } from './problem.ts'

/** Awaits a call of a store, and throws Problem 500 with `message` when it rejects. A Problem passes. */
export const storeCall = async <Value>(call: Promise<Value>, message: string): Promise<Value> => {
  try {
    return await call
  } catch (cause) {
    throw cause instanceof Problem ? cause : new Problem(500, message, { cause })
  }
}

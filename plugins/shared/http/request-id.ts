import { AsyncLocalStorage } from 'node:async_hooks'

const current = new AsyncLocalStorage<string>()

/**
 * The id of the request that the running code serves: for a log. Undefined outside of requests, and without
 * `withRequestIds` of `sluice`.
 */
export const currentRequestId = (): string | undefined => current.getStore()

/** Calls a function in whose code, and in all that it starts, `currentRequestId` returns the id. */
export const runWithRequestId = <Arguments extends readonly unknown[], Result>(
  id: string,
  run: (...given: Arguments) => Result,
  ...given: Arguments
): Result => current.run(id, run, ...given)

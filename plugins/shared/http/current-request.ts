import { AsyncLocalStorage } from 'node:async_hooks'

/** What is known of the request that the running code serves. */
interface CurrentRequest {
  readonly id: string
  user: string | undefined
}

const current = new AsyncLocalStorage<CurrentRequest | undefined>()

/**
 * The id of the request that the running code serves: for a log. Undefined outside of requests, and without
 * `withRequestIds` of `sluice`.
 */
export const currentRequestId = (): string | undefined => current.getStore()?.id

/**
 * The user of the request that the running code serves: for queues that serve all users fairly. Undefined before the
 * user is known, outside of requests, and without `withRequestIds` of `sluice`.
 */
export const currentUser = (): string | undefined => current.getStore()?.user

/** Notes the user of the request that the running code serves. */
export const noteCurrentUser = (user: string): void => {
  const request = current.getStore()
  if (request) request.user = user
}

/** Calls a function in whose code, and in all that it starts, `currentRequestId` returns the id. */
export const runWithRequestId = <Arguments extends readonly unknown[], Result>(
  id: string,
  run: (...given: Arguments) => Result,
  ...given: Arguments
): Result => current.run({ id, user: undefined }, run, ...given)

/** Calls a function outside of all requests: for work that many of them share. */
export const runOutsideRequests = <Result>(run: () => Result): Result => current.run(undefined, run)

/** A value, or a promise of it. A known value avoids the cost of a promise. */
export type Awaitable<Value> = Value | Promise<Value>

/** Whether a value is a promise, native or any other thenable. */
export const isPromise = <Value>(value: Awaitable<Value>): value is Promise<Value> =>
  typeof (value as PromiseLike<Value> | undefined)?.then === 'function'

/** Calls `next` with the value: synchronously if the value is known. `fail` handles the rejection of a promise. */
export const andThen = <Value, Next>(
  value: Awaitable<Value>,
  next: (value: Value) => Awaitable<Next>,
  fail?: (cause: unknown) => never,
): Awaitable<Next> => (isPromise(value) ? Promise.resolve(value).then(next, fail) : next(value))

/** Returns the value unchanged. If its promise rejects, `fail` throws another error. */
export const orFail = <Value>(value: Awaitable<Value>, fail: (cause: unknown) => never): Awaitable<Value> =>
  isPromise(value) ? Promise.resolve(value).catch(fail) : value

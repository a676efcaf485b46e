/** What is known at once, or a promise of it: nobody waits for what needs no waiting. */
export type Awaitable<Value> = Value | Promise<Value>

/** Anything that `await` would wait for, whosever promise it is. */
export const isPromise = <Value>(value: Awaitable<Value>): value is Promise<Value> =>
  typeof (value as PromiseLike<Value> | undefined)?.then === 'function'

/** Goes on with a value: at once where it is known. `fail` goes on instead where there is none, as a promise says. */
export const andThen = <Value, Next>(
  value: Awaitable<Value>,
  next: (value: Value) => Awaitable<Next>,
  fail?: (cause: unknown) => never,
): Awaitable<Next> => (isPromise(value) ? Promise.resolve(value).then(next, fail) : next(value))

/** The same value; `fail` throws what is said instead of a promise's own error. */
export const orFail = <Value>(value: Awaitable<Value>, fail: (cause: unknown) => never): Awaitable<Value> =>
  isPromise(value) ? Promise.resolve(value).catch(fail) : value

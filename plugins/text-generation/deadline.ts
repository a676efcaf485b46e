import type { Clock } from '../shared/clock.ts'

/** A signal that ends a call, and why it did. */
export interface Deadline extends Disposable {
  readonly signal: AbortSignal
  /** Whether it was the time that ended it. */
  readonly passed: boolean
}

export interface DeadlineOptions {
  readonly clock: Clock
  /** When the time is over, in milliseconds since 1970. */
  readonly at: number
  /** Ends it too: the caller has left. */
  readonly caller: AbortSignal
}

/** Ends a call at a time, or when its caller leaves. */
export const createDeadline = ({ clock, at, caller }: DeadlineOptions): Deadline => {
  const ending = new AbortController()
  let passed = false
  const leave = () => ending.abort(caller.reason)
  const ring = () => {
    if (ending.signal.aborted) return
    passed = true
    ending.abort(new Error('the time for a call without streaming is over'))
  }
  if (caller.aborted) leave()
  else caller.addEventListener('abort', leave, { once: true })
  if (at <= clock.now()) ring()
  const silence = clock.at(at, ring)
  return {
    signal: ending.signal,
    get passed() {
      return passed
    },
    [Symbol.dispose]() {
      silence()
      caller.removeEventListener('abort', leave)
    },
  }
}

/**
 * Milliseconds that a call without streaming may take: the limit, or less where the client has said that it waits no longer (`x-stainless-timeout`, in
 * seconds): an answer cut off a little earlier is worth more to it than none.
 */
export const timeFor = (headers: Headers, limitMs: number): number => {
  const given = Number(headers.get('x-stainless-timeout') ?? Number.NaN) * 1000
  return given > 0 ? Math.min(limitMs, given * 0.9) : limitMs
}

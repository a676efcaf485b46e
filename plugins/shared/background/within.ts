import { delay } from './delay.ts'

/**
 * Waits for a promise, but no longer than `ms` milliseconds. Undefined: it takes longer, and goes on. The timer does
 * not keep the process alive.
 */
export const within = async <Value>(promise: Promise<Value>, ms: number): Promise<Value | undefined> => {
  const ended = new AbortController()
  const late = delay(ms, ended.signal).then(() => undefined)
  return Promise.race([promise, late]).finally(() => ended.abort())
}

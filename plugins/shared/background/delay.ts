import { clearTimeout, setTimeout } from 'node:timers'

/** Resolves after `ms` milliseconds, or as soon as the signal aborts. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>

/** Waits with a timer that does not keep the process alive. */
export const delay: Sleep = (ms, signal) =>
  new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    timer.unref()
    signal.addEventListener('abort', end)
    if (signal.aborted) end()
  })

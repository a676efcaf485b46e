import { clearTimeout, setTimeout } from 'node:timers'

/** Waits, but not longer than until the signal aborts, and without keeping the process alive. */
export const delay = (ms: number, signal: AbortSignal): Promise<void> =>
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

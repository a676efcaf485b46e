import { useEffect, useState } from 'preact/hooks'

/** Milliseconds that the server's clock is ahead of this machine's clock. */
let offsetMs = 0

/**
 * Reads the server's time from a `Date` header. Expiry times are times of the server's clock.
 * @param {string | null} date
 */
export const syncClock = (date) => {
  const time = Date.parse(date ?? '')
  // The header has whole seconds, and the response took some time: a small difference means nothing.
  if (!Number.isNaN(time)) offsetMs = Math.abs(time - Date.now()) < 5_000 ? 0 : time - Date.now()
}

/** Milliseconds since 1970, by the server's clock. */
export const serverNow = () => Date.now() + offsetMs

/**
 * The server's time in milliseconds since 1970, updated every second while `enabled` is true.
 * @param {boolean} enabled
 */
export const useServerTime = (enabled) => {
  const [, setShown] = useState(0)
  useEffect(() => {
    if (!enabled) return
    const timer = setInterval(() => setShown(serverNow()), 1_000)
    return () => clearInterval(timer)
  }, [enabled])
  return serverNow()
}

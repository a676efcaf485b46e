import { useEffect, useState } from 'preact/hooks'

/** Milliseconds that the server's clock is ahead of this machine's. */
let ahead = 0

/**
 * Learns the server's time from a `Date` header: what expires, expires by the server's clock.
 * @param {string | null} date
 */
export const learnTime = (date) => {
  const time = Date.parse(date ?? '')
  // The header counts whole seconds, and the answer took a while.
  if (!Number.isNaN(time)) ahead = Math.abs(time - Date.now()) < 5_000 ? 0 : time - Date.now()
}

/** Milliseconds since 1970, by the server's clock. */
export const serverNow = () => Date.now() + ahead

/**
 * The server's time, again every second while it is wanted.
 * @param {boolean} wanted
 */
export const useSeconds = (wanted) => {
  const [now, setNow] = useState(serverNow)
  useEffect(() => {
    if (!wanted) return
    setNow(serverNow())
    const timer = setInterval(() => setNow(serverNow()), 1_000)
    return () => clearInterval(timer)
  }, [wanted])
  return now
}

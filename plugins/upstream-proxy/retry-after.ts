/** A longer wait is probably an error, for example a wrong clock. */
export const maxWaitMs = 3_600_000

/**
 * The time that `Retry-After` gives as seconds or as a date (RFC 9110 section 10.2.3), in milliseconds since 1970.
 *
 * At most an hour from now. Undefined if the header is absent or invalid, or if the time has passed.
 */
export const retryTime = (headers: Headers, now: number): number | undefined => {
  const text = headers.get('retry-after')?.trim() ?? ''
  const time = /^\d+$/.test(text) ? now + Number(text) * 1000 : Date.parse(text)
  return time > now ? Math.min(time, now + maxWaitMs) : undefined
}

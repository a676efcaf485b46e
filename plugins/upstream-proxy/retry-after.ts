/** More than this is taken for a mistake, in one of two clocks for example. */
const longestMs = 3_600_000

/**
 * The time, in milliseconds since 1970, that a `Retry-After` of seconds or of a date means (RFC 9110 section 10.2.3), at most an hour from now; undefined
 * when there is none, or nothing that can be understood.
 */
export const retryTime = (headers: Headers, now: number): number | undefined => {
  const text = headers.get('retry-after')?.trim() ?? ''
  const time = /^\d+$/.test(text) ? now + Number(text) * 1000 : Date.parse(text)
  return time > now ? Math.min(time, now + longestMs) : undefined
}

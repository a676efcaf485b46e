/** The time format of responses. Ark itself uses `rfc3339`; services in front of Ark also use the other formats. */
export type TimeFormat = 'rfc3339' | 'offset' | 'zoneless' | 'mixed'

const chinaMs = 8 * 3_600_000
const formats = ['rfc3339', 'offset', 'zoneless'] as const

/**
 * Formats an instant (ms since 1970), truncated to the second. `rfc3339`: `2026-03-18T03:33:32Z`. `offset`:
 * `2026-03-18T11:33:32+08:00`. `zoneless`: `2026-03-18 03:33:32` in UTC. `mixed`: `tieBreaker` chooses one of the three
 * formats.
 */
export const formatTime = (ms: number, times: TimeFormat, tieBreaker: number): string => {
  const format = times === 'mixed' ? (formats[tieBreaker % formats.length] ?? 'rfc3339') : times
  if (format === 'offset') return `${second(ms + chinaMs)}+08:00`
  if (format === 'zoneless') return second(ms).replace('T', ' ')
  return `${second(ms)}Z`
}

/** `YYYYMMDDHHMMSS` in UTC, as in ids. */
export const compactTime = (ms: number): string => second(ms).replace(/[-:T]/g, '')

/** `YYYYMMDDTHHMMSSZ` in UTC, as in signatures. */
export const basicIsoTime = (ms: number): string => `${second(ms).replace(/[-:]/g, '')}Z`

const second = (ms: number): string => new Date(ms).toISOString().slice(0, 19)

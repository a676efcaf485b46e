/** The time format of responses. Ark itself uses `rfc3339`; services in front of Ark also use the other formats. */
export type TimeFormat = 'rfc3339' | 'offset' | 'zoneless' | 'mixed'

const CHINA_MS = 8 * 3_600_000
const FORMATS = ['rfc3339', 'offset', 'zoneless'] as const

/**
 * Formats an instant (ms since 1970), truncated to the second. `rfc3339`: `2026-03-18T03:33:32Z`. `offset`:
 * `2026-03-18T11:33:32+08:00`. `zoneless`: `2026-03-18 03:33:32` in UTC. `mixed`: `tieBreaker` chooses one of the three formats.
 */
export function formatTime(ms: number, times: TimeFormat, tieBreaker: number): string {
  const format = times === 'mixed' ? (FORMATS[tieBreaker % FORMATS.length] ?? 'rfc3339') : times
  if (format === 'offset') return `${second(ms + CHINA_MS)}+08:00`
  if (format === 'zoneless') return second(ms).replace('T', ' ')
  return `${second(ms)}Z`
}

/** `YYYYMMDDHHMMSS` in UTC, as in ids. */
export function compactTime(ms: number): string {
  return second(ms).replace(/[-:T]/g, '')
}

/** `YYYYMMDDTHHMMSSZ` in UTC, as in signatures. */
export function basicIsoTime(ms: number): string {
  return `${second(ms).replace(/[-:]/g, '')}Z`
}

function second(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19)
}

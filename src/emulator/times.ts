/** How answers write times. Ark itself writes `rfc3339`; services in front of it were seen with the others. */
export type Times = 'rfc3339' | 'offset' | 'zoneless' | 'mixed'

const CHINA_MS = 8 * 3_600_000
const FORMS = ['rfc3339', 'offset', 'zoneless'] as const

/**
 * An instant (ms since 1970) as answers write it, cut to the second. `rfc3339`: `2026-03-18T03:33:32Z`. `offset`:
 * `2026-03-18T11:33:32+08:00`. `zoneless`: `2026-03-18 03:33:32`, which is UTC. `mixed`: each item has a form of its own,
 * chosen by `tie`.
 */
export function writtenTime(ms: number, times: Times, tie: number): string {
  const form = times === 'mixed' ? (FORMS[tie % FORMS.length] ?? 'rfc3339') : times
  if (form === 'offset') return `${second(ms + CHINA_MS)}+08:00`
  if (form === 'zoneless') return second(ms).replace('T', ' ')
  return `${second(ms)}Z`
}

/** `YYYYMMDDHHMMSS` in UTC, as ids carry it. */
export function compactTime(ms: number): string {
  return second(ms).replace(/[-:T]/g, '')
}

/** `YYYYMMDDTHHMMSSZ` in UTC, as signatures carry it. */
export function signedTime(ms: number): string {
  return `${second(ms).replace(/[-:]/g, '')}Z`
}

function second(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19)
}

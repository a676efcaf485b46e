import { compactTime } from './times.ts'

const SPAN = 36 ** 5

/** The form of the ids of groups: `group-YYYYMMDDHHMMSS-xxxxx`. */
export const GROUP_ID = /^group-\d{14}-[a-z0-9]{5}$/

/** The form of the ids of assets: `asset-YYYYMMDDHHMMSS-xxxxx`. */
export const ASSET_ID = /^asset-\d{14}-[a-z0-9]{5}$/

/** The id of the nth thing created; unique for the first 60 million, looks random, is the same in every run. */
export function idOf(kind: 'group' | 'asset', n: number, now: number): string {
  const suffix = scatter(n, 25_214_903).toString(36).padStart(5, '0')
  return `${kind}-${compactTime(now)}-${suffix}`
}

/** A unique number for the nth thing created, in an order that follows neither ids nor time. */
export function tieOf(n: number): number {
  return scatter(n, 39_916_801)
}

// a factor that shares no divisor with the span makes this a permutation of the span
function scatter(n: number, factor: number): number {
  return Number((BigInt(n) * BigInt(factor)) % BigInt(SPAN))
}

import { compactTime } from './times.ts'

const range = 36 ** 5

/** The format of group ids: `group-YYYYMMDDHHMMSS-xxxxx`. */
export const groupId = /^group-\d{14}-[a-z0-9]{5}$/

/** The format of asset ids: `asset-YYYYMMDDHHMMSS-xxxxx`. */
export const assetId = /^asset-\d{14}-[a-z0-9]{5}$/

/**
 * The id of the nth created object: looks random, is the same in every run, and is unique for the first 60 million
 * objects.
 */
export const idOf = (kind: 'group' | 'asset' | 'cgt', n: number, now: number): string => {
  const suffix = permute(n, 25_214_903).toString(36).padStart(5, '0')
  return `${kind}-${compactTime(now)}-${suffix}`
}

/** The number of the first object of an account. Ids of two accounts differ until one has 100,000 objects. */
export const firstOf = (account: number): number => account * 100_000

/** A unique number for the nth created object. Its order follows neither ids nor time. */
export const tieBreakerOf = (n: number): number => permute(n, 39_916_801)

// a factor that is coprime to RANGE makes this a permutation of 0 … RANGE - 1
const permute = (n: number, factor: number): number => Number((BigInt(n) * BigInt(factor)) % BigInt(range))

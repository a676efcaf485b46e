import { sha256 } from '../hash.ts'

/** The number and the time of a call. Ids and timestamps derive from it. */
export interface CallContext {
  /** 1 for the first call */
  readonly number: number
  /** ms since 1970 */
  readonly at: number
}

/** An id such as `chatcmpl-…`: unique for a call and a label, and the same in every run. */
export function textIdOf(prefix: string, { number }: CallContext, label = ''): string {
  return prefix + sha256(`${prefix}/${number}/${label}`).slice(0, 24)
}

/** The `system_fingerprint`, which depends on model and seed. */
export function fingerprintOf(model: string, seed: number | undefined): string {
  return `fp_${sha256(`${model}/${seed ?? ''}`).slice(0, 10)}`
}

/** The time of a call in seconds since 1970. */
export function secondsOf({ at }: CallContext): number {
  return Math.floor(at / 1000)
}

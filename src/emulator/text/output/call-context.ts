import { sha256 } from '../../shared/hash.ts'

/** The number and the time of a call. Ids and timestamps derive from it. */
export interface CallContext {
  /** 1 for the first call */
  readonly number: number
  /** ms since 1970 */
  readonly at: number
}

/** An id such as `chatcmpl-…`: unique for a call and a label, and the same in every run. */
export const textIdOf = (prefix: string, { number }: CallContext, label = ''): string =>
  prefix + sha256(`${prefix}/${number}/${label}`).slice(0, 24)

/** The `system_fingerprint`, which depends on model and seed. */
export const fingerprintOf = (model: string, seed: number | undefined): string =>
  `fp_${sha256(`${model}/${seed ?? ''}`).slice(0, 10)}`

/** The time of a call in seconds since 1970. */
export const secondsOf = ({ at }: CallContext): number => Math.floor(at / 1000)

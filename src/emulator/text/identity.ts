import { createHash } from 'node:crypto'

/** What belongs to one call: its number and its moment. */
export interface Occasion {
  /** 1 for the first call */
  readonly number: number
  /** ms since 1970 */
  readonly at: number
}

/** An id such as `chatcmpl-…`; unique by call and place, and the same in every run. */
export function idOf(prefix: string, { number }: Occasion, place = ''): string {
  return prefix + digest(`${prefix}/${number}/${place}`).slice(0, 24)
}

/** The backend that answers: one for each model, another for each seed. */
export function fingerprintOf(model: string, seed: number | undefined): string {
  return `fp_${digest(`${model}/${seed ?? ''}`).slice(0, 10)}`
}

/** Seconds since 1970. */
export function secondsOf({ at }: Occasion): number {
  return Math.floor(at / 1000)
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

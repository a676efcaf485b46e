import { randomInt } from 'node:crypto'

/**
 * Different values of the nonce for one `execution_expires_after`. A value comes back only after about that many claims
 * of a user.
 */
export const nonceCount = 1_000
/** The vendor's minimum of `execution_expires_after`, in seconds. */
export const minNonce = 3_600

/** The nonces that a claim may have, the best one first: the seconds until the task expires, less a random number. */
export function* noncesOf(leftMs: number): Generator<number> {
  const offset = randomInt(nonceCount)
  const short = leftMs < (minNonce + 2 * nonceCount) * 1000
  const step = short ? 1 : -1
  for (let nonce = short ? minNonce + offset : Math.floor(leftMs / 1000) - offset; ; nonce += step) yield nonce
}

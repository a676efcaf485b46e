import { createHash, timingSafeEqual } from 'node:crypto'

/**
 * Compares secrets in a time that reveals neither their lengths nor their content: it compares hashes, which have one
 * length.
 */
export const areSecretsEqual = (one: string, other: string): boolean => timingSafeEqual(digest(one), digest(other))

/**
 * Compares two HMACs as text, in a time that does not reveal where they differ. Their length is known: it is that of
 * the algorithm.
 */
export const areMacsEqual = (one: string, other: string): boolean => {
  const [given, expected] = [Buffer.from(one), Buffer.from(other)]
  return given.length === expected.length && timingSafeEqual(given, expected)
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

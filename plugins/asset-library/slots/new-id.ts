import { randomInt } from 'node:crypto'

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789'

/** A new id in the vendor's form. Two of one second may be equal. */
export const newAssetId = (now: number): string => {
  return `asset-${digitsOf(now).slice(0, 14)}-${random(5)}`
}

/** A new id of a use. With those of video tasks, it sorts by the second. No two are equal. */
export const newUseId = (now: number): string => {
  const digits = digitsOf(now)
  return `cgt-${digits.slice(0, 14)}-${digits.slice(14)}-${random(16)}`
}

const digitsOf = (now: number): string => new Date(now).toISOString().replace(/\D/g, '')

const random = (length: number): string => Array.from({ length }, () => letters[randomInt(letters.length)]).join('')

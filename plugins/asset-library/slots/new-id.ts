import { randomInt } from 'node:crypto'

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789'

/** A new id in the vendor's form. Two of one second may be equal. */
export const newAssetId = (now: number): string => {
  const digits = new Date(now).toISOString().replace(/\D/g, '').slice(0, 14)
  return `asset-${digits}-${Array.from({ length: 5 }, () => letters[randomInt(letters.length)]).join('')}`
}

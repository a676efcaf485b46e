import { randomInt } from 'node:crypto'

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789'

/** A new id in the vendor's form, with more random letters: the vendor gives none that are equal. */
export const newAssetId = (now: number): string => {
  const digits = new Date(now).toISOString().replace(/\D/g, '').slice(0, 14)
  return `asset-${digits}-${Array.from({ length: 16 }, () => letters[randomInt(letters.length)]).join('')}`
}

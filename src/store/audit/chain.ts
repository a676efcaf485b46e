import { createHmac } from 'node:crypto'
import type { AuditEntry } from './entry.ts'

/** A key of the chain. */
export interface ChainKey {
  /** What the key is called in reports: a secret is never shown. */
  readonly name: string
  readonly secret: string
}

/** Configured keys, with names for reports. */
export const namedKeys = (secrets: readonly string[]): readonly ChainKey[] =>
  secrets.map((secret, index) => ({ name: `AUDIT_KEY ${index + 1}`, secret }))

/** A place in the chain: an entry's number, and its HMAC. The place before the first entry is 0 with an empty HMAC. */
export interface ChainPlace {
  readonly sequence: number
  readonly hmac: string
}

export const chainStart: ChainPlace = { sequence: 0, hmac: '' }

/** What was removed from the beginning of the chain. */
export interface ChainAnchor extends ChainPlace {
  /** Number of removed entries that were damaged or missing. */
  readonly damaged: number
  /** Undefined: nothing was ever removed. */
  readonly signature?: string
}

/**
 * The HMAC-SHA-256 (RFC 2104) of an entry, in hex. The message is a JSON array (RFC 8259) in UTF-8, without spaces: the
 * HMAC of the entry before, the number of this one, and its fields, null where one is missing. The entry's `id` is not
 * in it: it only keeps an entry from being written twice, and is not exported.
 */
export const hmacOf = (secret: string, previous: string, sequence: number, entry: Omit<AuditEntry, 'id'>): string => {
  const { at, action, name, user, token, kind, target, address, status, reason, fields, times } = entry
  return hmac(secret, [
    ...[previous, sequence, at, action, name, user, token],
    ...[kind, target, address, status, reason, fields, times],
  ])
}

/** The HMAC of an anchor: it has another number of fields than an entry, so neither passes for the other. */
export const signatureOf = (secret: string, { sequence, hmac: last, damaged }: ChainAnchor): string =>
  hmac(secret, ['removed', sequence, last, damaged])

/**
 * The place among the keys of the one that has signed an anchor; the last place, for the anchor of a chain from which
 * nothing was removed. Undefined: it is changed or forged.
 */
export const signerOf = (anchor: ChainAnchor, keys: readonly ChainKey[]): number | undefined => {
  if (anchor.signature !== undefined) {
    const index = keys.findIndex(({ secret }) => signatureOf(secret, anchor) === anchor.signature)
    return index === -1 ? undefined : index
  }
  return anchor.sequence === 0 && anchor.hmac === '' && anchor.damaged === 0 ? keys.length - 1 : undefined
}

/** `JSON.stringify` writes undefined as null in arrays. */
const hmac = (secret: string, message: readonly (string | number | readonly string[] | undefined)[]): string =>
  createHmac('sha256', secret).update(JSON.stringify(message)).digest('hex')

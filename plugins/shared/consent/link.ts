import { createHash, createHmac, randomBytes } from 'node:crypto'

/** A secret of 256 bits for the link of a person. */
export const createLinkSecret = (): string => randomBytes(32).toString('base64url')

/** The same for the person who comes back from a face verification: derived from the secret state of its callback. */
export const linkSecretOf = (state: string): string =>
  createHmac('sha256', state).update('consent link').digest('base64url')

export const isLinkSecret = (text: string): boolean => /^[\w-]{43}$/.test(text)

/** The store holds only this hash. */
export const hashLinkSecret = (secret: string): string => createHash('sha256').update(secret).digest('hex')

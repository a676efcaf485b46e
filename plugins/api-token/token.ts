import { getRandomValues, hash } from 'node:crypto'

const prefix = 'sk-'
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const length = 43

/** A new token: `sk-` and 43 base62 digits, 256 random bits. */
export const createToken = (): string => {
  let digits = ''
  while (digits.length < length) {
    for (const byte of getRandomValues(new Uint8Array(64))) {
      // 248 is the largest multiple of 62 below 256: a plain remainder would favour the first letters.
      if (byte < 248 && digits.length < length) digits += alphabet[byte % 62]
    }
  }
  return prefix + digits
}

/** Hex SHA-256: what is stored. A slow hash protects weak secrets; these have 256 bits. */
export const hashToken = (token: string): string => hash('sha256', token, 'hex')

/**
 * The token of an `Authorization: Bearer sk-…` header (RFC 6750 section 2.1; the scheme in any case, RFC 9110 section 11.1); undefined when there
 * is none or it is not formed like one.
 */
export const bearerToken = (authorization: string | null): string | undefined =>
  /^bearer +(sk-[A-Za-z0-9._~+/-]{8,512}=*) *$/i.exec(authorization ?? '')?.[1]

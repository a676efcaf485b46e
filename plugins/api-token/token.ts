import { getRandomValues, hash } from 'node:crypto'

const prefix = 'sk-'
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const digitCount = 43

/**
 * Creates a token: `sk-` and 43 random base62 digits, about 256 bits.
 *
 * @example
 * const token = createToken()
 * await store.addToken({ user: 'user-1', hash: hashToken(token), start: tokenStart(token), createdAt: Date.now() })
 */
export const createToken = (): string => {
  let digits = ''
  while (digits.length < digitCount) {
    for (const byte of getRandomValues(new Uint8Array(64))) {
      // 248 is the largest multiple of 62 below 256. Without this check the first 8 digits would be more likely.
      if (byte < 248 && digits.length < digitCount) digits += alphabet[byte % 62]
    }
  }
  return prefix + digits
}

/** The first characters of a token: `sk-` and six digits. Lists show them, to tell tokens apart. */
export const tokenStart = (token: string): string => token.slice(0, 9)

/** Hex SHA-256 of a token, as stored. A slow hash is unnecessary: a token has 256 random bits. */
export const hashToken = (token: string): string => hash('sha256', token, 'hex')

/**
 * Returns the token of a request: that of `Authorization: Bearer sk-…`, or without this header, the value of
 * `x-api-key`, as clients of Anthropic send it, or of `api-key`, as clients of Azure do. Undefined if it is missing or
 * malformed.
 */
export const tokenOf = (headers: Headers): string | undefined => {
  const authorization = headers.get('authorization')
  if (authorization !== null) return bearerToken(authorization)
  return tokenPattern.exec(headers.get('x-api-key') ?? headers.get('api-key') ?? '')?.[0]
}

const tokenPattern = /^sk-[A-Za-z0-9._~+/-]{8,512}=*$/

/**
 * Returns the token of `Bearer sk-…` (RFC 6750 section 2.1); undefined if it is malformed.
 *
 * The scheme is case-insensitive (RFC 9110 section 11.1).
 */
export const bearerToken = (authorization: string): string | undefined =>
  /^bearer +(sk-[A-Za-z0-9._~+/-]{8,512}=*) *$/i.exec(authorization)?.[1]

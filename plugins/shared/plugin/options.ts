import { type PublicUrl, readPublicUrl } from '../http/origin.ts'
import type { Identify } from '../identity/identify.ts'

// Checks of options that several plugins have. Each throws TypeError, so that a host app with a wrong option does not
// start.

/**
 * One path segment after another, without characters that an address or Elysia's router would read as something else.
 */
const path = /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)+$/

/**
 * Returns a base path such as `/api/tokens`. Throws TypeError unless it starts with `/`, ends without one, and has only
 * letters, digits and `_ . ~ -`.
 */
export const checkPath = (name: string, value: string): string => {
  if (typeof value !== 'string' || !path.test(value))
    throw new TypeError(`${name} must be a path such as /api/tokens, without a slash at the end`)
  return value
}

/** Throws TypeError without an `identify` function. */
export const checkIdentify = (identify: Identify): void => {
  if (typeof identify !== 'function') throw new TypeError('identify must be a function')
}

/**
 * Throws TypeError for an address that is missing or no URL. A function may be able to return it only later, and is not
 * called.
 */
export const checkPublicUrl = (publicUrl: PublicUrl): void => {
  if (typeof publicUrl === 'function') return
  if (typeof publicUrl !== 'string' || !URL.canParse(publicUrl)) throw new TypeError('publicUrl must be a URL')
  readPublicUrl(publicUrl)
}

/** Throws TypeError unless the text is a token (RFC 9110 section 5.6.2), as RFC 6265 section 4.1.1 requires. */
export const checkCookieName = (cookieName: string): void => {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(cookieName)) throw new TypeError('cookieName must be the name of a cookie')
}

/** Minimum length of a secret that signs. Shorter ones can be guessed. */
const minSecretLength = 16

/** Throws TypeError unless there is a secret, and each has at least 16 characters. */
export const checkSecrets = (secrets: readonly string[]): void => {
  const long = (secret: unknown) => typeof secret === 'string' && secret.length >= minSecretLength
  if (!Array.isArray(secrets) || secrets.length === 0 || !secrets.every(long))
    throw new TypeError(`secrets must be one or more texts of at least ${minSecretLength} characters`)
}

/**
 * Throws unless Elysia is version 1. Elysia 2 ignores the hook `resolve` of a macro, so guarded routes would run
 * without their guards, and Bun and Deno install it in spite of the peer range.
 */
export const checkElysia = ({ prototype }: { readonly prototype: object }): void => {
  if (!('resolve' in prototype))
    throw new Error('sluice needs Elysia 1: the guards of this plugin do not run on Elysia 2')
}

/** The secret that signs: the first. Throws TypeError without one. */
export const signingSecret = (secrets: readonly string[]): string => {
  const [first] = secrets
  if (first === undefined) throw new TypeError('secrets must not be empty')
  return first
}

/** Throws TypeError unless the option is an object, such as a store or a client. */
export const checkCollaborator = (name: string, value: unknown): void => {
  if (typeof value !== 'object' || value === null) throw new TypeError(`${name} must be an object`)
}

/** Throws TypeError unless the option is a text that is not empty, such as a key. */
export const checkKey = (name: string, value: string): void => {
  if (typeof value !== 'string' || value === '') throw new TypeError(`${name} must be a text, and not empty`)
}

/** What `isUpstreamUrl` requires. */
export const upstreamUrlForm = 'must be an http or https URL without credentials, query or fragment'

/**
 * Whether a value is an `http` or `https` URL to which a client can append a path: without credentials, query and
 * fragment.
 */
export const isUpstreamUrl = (value: unknown): boolean => {
  const url = typeof value === 'string' ? URL.parse(value) : null
  return url !== null && /^https?:$/.test(url.protocol) && !url.username && !url.password && !/[?#]/.test(String(value))
}

/** Throws TypeError unless the option is such a URL. */
export const checkUpstreamUrl = (name: string, value: string): void => {
  if (!isUpstreamUrl(value)) throw new TypeError(`${name} ${upstreamUrlForm}`)
}

/**
 * Throws TypeError for a number that is not above 0, such as a limit or a duration. Undefined: the option has its
 * default.
 */
export const checkAbove0 = (numbers: Readonly<Record<string, number | undefined>>): void => {
  for (const [name, value] of Object.entries(numbers)) {
    if (value !== undefined && !(typeof value === 'number' && value > 0))
      throw new TypeError(`${name} must be a number above 0`)
  }
}

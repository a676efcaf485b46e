import type { Identify } from './identify.ts'
import { type PublicUrl, readPublicUrl } from './origin.ts'

// Checks of options that several plugins have. Each throws TypeError, so that a host app with a wrong option does not start.

/** One path segment after another, without characters that an address or Elysia's router would read as something else. */
const path = /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)+$/

/** Returns a base path such as `/api/tokens`. Throws TypeError unless it starts with `/`, ends without one, and has only letters, digits and `_ . ~ -`. */
export const checkPath = (name: string, value: string): string => {
  if (typeof value !== 'string' || !path.test(value))
    throw new TypeError(`${name} must be a path such as /api/tokens, without a slash at the end`)
  return value
}

/** Throws TypeError without an `identify` function. */
export const checkIdentify = (identify: Identify): void => {
  if (typeof identify !== 'function') throw new TypeError('identify must be a function')
}

/** Throws TypeError for an address that is missing or no URL. A function may be able to return it only later, and is not called. */
export const checkPublicUrl = (publicUrl: PublicUrl): void => {
  if (typeof publicUrl === 'function') return
  if (typeof publicUrl !== 'string' || !URL.canParse(publicUrl)) throw new TypeError('publicUrl must be a URL')
  readPublicUrl(publicUrl)
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
 * Throws unless Elysia is version 1. Elysia 2 ignores the hook `resolve` of a macro, so guarded routes would run without their guards, and Bun and
 * Deno install it in spite of the peer range.
 */
export const checkElysia = ({ prototype }: { readonly prototype: object }): void => {
  if (!('resolve' in prototype))
    throw new Error('sluice needs Elysia 1: the guards of this plugin do not run on Elysia 2')
}

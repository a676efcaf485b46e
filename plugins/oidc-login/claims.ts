/** The claims of a person, from the ID token and the UserInfo endpoint (OpenID Connect Core 1.0 section 5.1). */
export type Claims = Readonly<Record<string, unknown>>

/** A value that a claim may have. */
export type ClaimValue = string | number | boolean

/**
 * Which claims a person must have: the name of each claim with the values of which it must have one. A claim that is a
 * list fits if one of its elements does.
 *
 * @example
 * { hd: ['example.com'], groups: ['media', 'video'] }
 */
export type ClaimRules = Readonly<Record<string, readonly ClaimValue[]>>

/** Whether a value is `ClaimRules` with at least one claim, and at least one value for each. */
export const isClaimRules = (value: unknown): value is ClaimRules => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const lists = Object.values(value)
  return lists.length > 0 && lists.every((list) => Array.isArray(list) && list.length > 0 && list.every(isClaimValue))
}

const isClaimValue = (value: unknown): value is ClaimValue => ['string', 'number', 'boolean'].includes(typeof value)

/** Whether each claim of the rules has one of its values. */
export const fitsRules = (claims: Claims, rules: ClaimRules): boolean =>
  Object.entries(rules).every(([name, permitted]) => {
    const claim = claimOf(claims, name)
    const values: readonly unknown[] = Array.isArray(claim) ? claim : [claim]
    return values.some((value) => isClaimValue(value) && permitted.includes(value))
  })

/** The claim of the user's name: that of the option, else the first of these that is usable. */
const nameClaims = ['preferred_username', 'email']

/** Names of the claims that a login with these options reads. */
export const claimsRead = (
  nameClaim: string | undefined,
  ...rules: readonly (ClaimRules | undefined)[]
): readonly string[] => {
  const names = [
    ...(nameClaim === undefined ? nameClaims : [nameClaim]),
    ...rules.flatMap((rule) => Object.keys(rule ?? {})),
  ]
  return names.includes('email') ? [...names, 'email_verified'] : names
}

/** The user's name. Undefined unless a claim is a text of 1 to 128 characters without control characters. */
export const userNameOf = (claims: Claims, nameClaim: string | undefined): string | undefined =>
  (nameClaim === undefined ? nameClaims : [nameClaim])
    .map((name) => claimOf(claims, name))
    .filter((value) => typeof value === 'string')
    .map((text) => text.trim())
    .find(isName)

const isName = (text: string): boolean =>
  text !== '' && text.length <= 256 && [...text].length <= 128 && text.isWellFormed() && !/\p{Cc}|\p{Cf}/u.test(text)

/**
 * A claim by its name. An e-mail address that the provider has not verified counts as none: it may be that of somebody
 * else (OpenID Connect Core 1.0 section 5.7).
 */
export const claimOf = (claims: Claims, name: string): unknown => {
  if (!Object.hasOwn(claims, name)) return undefined
  if (name === 'email' && [false, 'false'].includes(claims.email_verified as boolean | string)) return undefined
  return claims[name]
}

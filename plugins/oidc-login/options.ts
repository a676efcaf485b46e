import { isConfidential } from './provider/bounded-fetch.ts'

/** What `isIssuer` requires. */
export const issuerForm =
  'must be an https URL (on loopback also http) without credentials, query or fragment, as the provider writes it'

/** Whether a value can be the address of an identity provider (OpenID Connect Discovery 1.0 section 3). */
export const isIssuer = (value: unknown): value is string => {
  const url = typeof value === 'string' ? URL.parse(value) : null
  return url !== null && isConfidential(url.href) && !url.username && !url.password && !/[?#\s]/.test(String(value))
}

/** What `isScopes` requires. */
export const scopesForm = 'must be scopes separated by single spaces, one of them openid'

/** Whether a value is a list of scopes (RFC 6749 section 3.3) that asks for an ID token. */
export const isScopes = (value: unknown): value is string =>
  typeof value === 'string' &&
  /^[!#-[\]-~]+(?: [!#-[\]-~]+)*$/.test(value) &&
  value.length <= 1_024 &&
  value.split(' ').includes('openid')

/** What `isClaimRules` requires. */
export const claimRulesForm =
  'must be an object with a list of permitted values for each claim, such as {"groups":["media"]}'

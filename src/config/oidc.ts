import { type ClaimRules, isClaimRules } from '../../plugins/oidc-login/claims.ts'
import { claimRulesForm, isIssuer, isScopes, issuerForm, scopesForm } from '../../plugins/oidc-login/options.ts'
import { jsonOrFile } from './environment/json-or-file.ts'
import { key, oneOf, printableForm } from './environment/parsers.ts'
import type { Environment, Read } from './environment/reader.ts'

/** The identity provider at which users log in. */
export interface OidcConfig {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  readonly scopes: string
  readonly nameClaim?: string
  readonly allowed?: ClaimRules
  readonly admin?: ClaimRules
  /** Text of the console's button. */
  readonly label?: string
}

/** How users log in to the console. */
export interface LoginConfig {
  /** Whether users log in with a name and a password. */
  readonly password: boolean
  /** Undefined: at no identity provider. */
  readonly oidc?: OidcConfig
}

/** Variables that have no meaning without OIDC_ISSUER. */
const others = [
  ...['OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'OIDC_SCOPES', 'OIDC_NAME_CLAIM', 'OIDC_ALLOWED', 'OIDC_ADMIN'],
  'OIDC_LABEL',
] as const

/** Reads how users log in. */
export const readLoginConfig = (env: Environment, read: Read, addProblem: (problem: string) => void): LoginConfig => {
  const password = (read('PASSWORD_LOGIN', 'must be on or off', oneOf(['on', 'off'])) ?? 'on') === 'on'
  const issuer = read('OIDC_ISSUER', issuerForm, (text) => (isIssuer(text) ? text : undefined))
  const clientId = read('OIDC_CLIENT_ID', printableForm, key)
  const clientSecret = read('OIDC_CLIENT_SECRET', printableForm, key)
  const scopes =
    read('OIDC_SCOPES', scopesForm, (text) => (isScopes(text) ? text : undefined)) ?? 'openid profile email'
  const nameClaim = read('OIDC_NAME_CLAIM', printableForm, key)
  const allowed = read('OIDC_ALLOWED', rulesForm, claimRules)
  const admin = read('OIDC_ADMIN', rulesForm, claimRules)
  const label = read('OIDC_LABEL', 'must have 1 to 64 characters', (text) =>
    text.trim() !== '' && text.length <= 64 ? text.trim() : undefined,
  )
  if (!env.OIDC_ISSUER) {
    for (const name of others) if (env[name]) addProblem(`OIDC_ISSUER is required for ${name}`)
    if (!password) addProblem('OIDC_ISSUER is required for PASSWORD_LOGIN=off: nobody could log in')
    return { password }
  }
  for (const name of ['OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET'])
    if (!env[name]) addProblem(`${name} is required for an OIDC_ISSUER`)
  return {
    password,
    oidc: {
      ...{ issuer: issuer ?? '', clientId: clientId ?? '', clientSecret: clientSecret ?? '', scopes },
      ...(nameClaim !== undefined && { nameClaim }),
      ...(allowed && { allowed }),
      ...(admin && { admin }),
      ...(label !== undefined && { label }),
    },
  }
}

const rulesForm = `${claimRulesForm}, as JSON or @FILE`

const claimRules = (text: string): ClaimRules | undefined => {
  const rules = jsonOrFile(text)
  return isClaimRules(rules) ? rules : undefined
}

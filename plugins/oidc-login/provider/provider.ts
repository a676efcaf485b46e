import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  calculatePKCECodeChallenge,
  clockSkew,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  ResponseBodyError,
  type ServerMetadata,
  WWWAuthenticateChallengeError,
} from 'openid-client'
import { type Clock, systemClock } from '../../shared/clock.ts'
import type { Log } from '../../shared/problem.ts'
import type { Fetch } from '../../shared/upstream/upstream-error.ts'
import type { Claims } from '../claims.ts'
import type { PendingLogin } from '../pending-logins.ts'
import { boundedFetch } from './bounded-fetch.ts'
import {
  errorText,
  isUnreachable,
  ProviderDeniedError,
  ProviderInvalidError,
  ProviderUnreachableError,
} from './error.ts'

export interface OidcProviderOptions {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  readonly scopes: string
  readonly redirectUri: () => string
  /** Names of the claims that a login needs. The UserInfo endpoint is asked for those that the ID token lacks. */
  readonly claimNames: readonly string[]
  readonly fetch: Fetch
  /** Deadline of all requests of one step together. Milliseconds. */
  readonly timeoutMs: number
  readonly clock: Pick<Clock, 'now'>
  readonly log: Log
}

/**
 * The identity provider. Its methods reject with ProviderUnreachableError, ProviderDeniedError or ProviderInvalidError,
 * whose messages hold no code, token or claim.
 */
export interface OidcProvider {
  /** Where the browser logs in (OpenID Connect Core 1.0 section 3.1.2.1). */
  authorizationUrl(login: PendingLogin): Promise<string>
  /**
   * Exchanges the code of a callback, and verifies the ID token: signature, issuer, audience, nonce and times.
   *
   * @param query the parameters that the browser has brought back
   */
  claimsOf(login: PendingLogin, query: URLSearchParams): Promise<Claims>
}

/** How long the provider's metadata are used before they are read again. */
const metadataMs = 600_000
/** The same after a failed login. */
const suspiciousMs = 30_000
const endpoints = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const
/** Difference of the clocks that `openid-client` accepts, too. */
const clockToleranceSeconds = 30

export const createOidcProvider = (options: OidcProviderOptions): OidcProvider => {
  const { issuer, clientId, clientSecret, scopes, redirectUri, claimNames, timeoutMs, clock, log } = options
  const newFetch = () => boundedFetch({ fetch: options.fetch, timeoutMs })
  const timeout = Math.ceil(timeoutMs / 1_000)
  const insecure = new URL(issuer).protocol === 'http:'

  const discover = async (): Promise<ServerMetadata> => {
    const configuration = await discovery(new URL(issuer), clientId, undefined, undefined, {
      [customFetch]: newFetch(),
      timeout,
      execute: insecure ? [allowInsecureRequests] : [],
    })
    const found = configuration.serverMetadata()
    for (const name of endpoints)
      if (typeof found[name] !== 'string') throw new ProviderInvalidError(`the metadata have no ${name}`)
    return found
  }

  let known: { readonly metadata: ServerMetadata; readonly since: number } | undefined
  /** Whether a login has failed since. The provider may have moved. */
  let isSuspicious = false
  let discovering: Promise<ServerMetadata> | undefined
  /** One request for all logins that wait. Without an answer, the old metadata stay in use. */
  const metadata = (): Promise<ServerMetadata> => {
    const age = clock.now() - (known?.since ?? 0)
    if (known && age >= 0 && age < (isSuspicious ? suspiciousMs : metadataMs)) return Promise.resolve(known.metadata)
    discovering ??= discover()
      .then((found) => {
        known = { metadata: found, since: clock.now() }
        isSuspicious = false
        return found
      })
      .catch((error: unknown) => {
        if (!known) throw error
        log.warn({ err: publicError(error) }, 'the metadata of the identity provider could not be read again')
        return known.metadata
      })
      .finally(() => {
        discovering = undefined
      })
    return discovering
  }

  /**
   * A configuration for one login: `openid-client` keeps the provider's keys with it, so each login reads the keys of
   * its time. A key that was withdrawn is not used, and a new one works at once.
   */
  const configure = (server: ServerMetadata, authentication: ClientAuth): Configuration => {
    const client = { client_secret: clientSecret, [clockSkew]: Math.round((clock.now() - systemClock.now()) / 1_000) }
    const configuration = new Configuration(server, clientId, client, authentication)
    configuration[customFetch] = newFetch()
    configuration.timeout = timeout
    if (insecure) allowInsecureRequests(configuration)
    // Without it, a token that comes from the token endpoint over TLS would not need a signature.
    enableNonRepudiationChecks(configuration)
    return configuration
  }

  const exchange = async (login: PendingLogin, query: URLSearchParams) => {
    const server = await metadata()
    const callback = new URL(`${redirectUri()}?${query}`)
    const checks = {
      expectedState: login.state,
      expectedNonce: login.nonce,
      pkceCodeVerifier: login.verifier,
      idTokenExpected: true,
    }
    const [first, second] = authenticationsOf(server, clientSecret)
    const grant = async (authentication: ClientAuth) => {
      const configuration = configure(server, authentication)
      return { configuration, tokens: await authorizationCodeGrant(configuration, callback, checks) }
    }
    // A client is registered for one way to send its secret, and the metadata name all ways of the provider.
    return grant(first).catch((error: unknown) => {
      if (second && isWrongAuthentication(error)) return grant(second)
      throw error
    })
  }

  return {
    async authorizationUrl(login) {
      try {
        const configuration = configure(await metadata(), ClientSecretBasic(clientSecret))
        return buildAuthorizationUrl(configuration, {
          redirect_uri: redirectUri(),
          scope: scopes,
          state: login.state,
          nonce: login.nonce,
          code_challenge: await calculatePKCECodeChallenge(login.verifier),
          code_challenge_method: 'S256',
        }).href
      } catch (error) {
        throw publicError(error)
      }
    },

    async claimsOf(login, query) {
      try {
        const { configuration, tokens } = await exchange(login, query)
        const claims = tokens.claims()
        if (!claims) throw new ProviderInvalidError('the token response has no ID token')
        if (!isSubject(claims.sub)) throw new ProviderInvalidError('the claim sub is not a text of 1 to 255 characters')
        if (claims.iat > clock.now() / 1_000 + clockToleranceSeconds)
          throw new ProviderInvalidError('the ID token was issued in the future')
        const complete = claimNames.every((name) => Object.hasOwn(claims, name))
        if (complete || configuration.serverMetadata().userinfo_endpoint === undefined) return claims
        return { ...(await fetchUserInfo(configuration, tokens.access_token, claims.sub)), ...claims }
      } catch (error) {
        isSuspicious = true
        throw publicError(error)
      }
    },
  }
}

/** OpenID Connect Core 1.0 section 2. No database keeps other texts apart. */
const isSubject = (sub: string): boolean =>
  sub !== '' && sub.length <= 255 && sub.isWellFormed() && !/\p{Cc}/u.test(sub)

/** The ways in which the client can authenticate (OpenID Connect Core 1.0 section 9), the default first. */
const authenticationsOf = (
  server: ServerMetadata,
  secret: string,
): readonly [ClientAuth, ...(readonly ClientAuth[])] => {
  const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
  const [basic, post] = [ClientSecretBasic(secret), ClientSecretPost(secret)]
  if (!methods.includes('client_secret_post')) return [basic]
  return methods.includes('client_secret_basic') ? [basic, post] : [post]
}

/** RFC 6749 section 5.2. The code stays valid. */
const isWrongAuthentication = (error: unknown): boolean =>
  (error instanceof ResponseBodyError && error.error === 'invalid_client') ||
  (error instanceof WWWAuthenticateChallengeError && error.status === 401)

/** An error whose message, stack and members may be logged. */
const publicError = (error: unknown): Error => {
  const message = errorText(error)
  if (isUnreachable(error)) return new ProviderUnreachableError(message)
  return error instanceof AuthorizationResponseError
    ? new ProviderDeniedError(message)
    : new ProviderInvalidError(message)
}

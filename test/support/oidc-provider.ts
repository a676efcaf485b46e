import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'

export interface OidcClient {
  readonly id: string
  readonly secret: string
  readonly redirectUri: string
}

type Json = Record<string, unknown>

/** Wrong answers. A test sets them before the login, or between its steps. */
export interface OidcFaults {
  /** The key at its `jwks_uri`. Default: `its key`. `another key`: as if somebody else had made the ID tokens; `no key`: there is no `jwks_uri`. */
  publishes?: 'its key' | 'another key' | 'no key'
  /** Replaces the ID token. */
  idToken?: (claims: Json, sign: Sign) => string
  metadata?: (metadata: Json) => Json
  tokenResponse?: (body: Json) => Json
  /** Changes the address to which the browser is sent back. */
  answer?: (callback: URL) => void
  /** Answers instead of the provider. Returns false for a request that the provider shall answer. */
  respond?: (path: string, response: ServerResponse, request: IncomingMessage) => boolean
}

/** Makes a JWT. Default: signed like the provider's own. */
export type Sign = (
  claims: Json,
  options?: { alg?: string; key?: KeyObject | 'its public key'; kid?: string },
) => string

export interface OidcAccount {
  sub: string
  [claim: string]: unknown
}

/**
 * Starts an OpenID provider on loopback: `oidc-provider`, with PKCE required. Its login page asks nothing: every browser is `account`, and consents.
 *
 * `account` and `faults` may be changed while it runs.
 */
export const startOidcProvider = async (
  client: OidcClient,
  options: OidcFaults & {
    /** Whether the ID token holds all claims, not only those without another place. Default false. */
    readonly fullIdToken?: boolean
    readonly authentication?: 'client_secret_basic' | 'client_secret_post'
    readonly port?: number
  } = {},
) => {
  const { fullIdToken = false, authentication = 'client_secret_basic', port = 0, ...faults } = options
  const provider = {
    account: {
      sub: 'cn=dora,ou=people',
      name: 'Dora',
      preferred_username: 'dora',
      email: 'dora@corp.example',
      email_verified: true,
    } as OidcAccount,
    faults: faults as OidcFaults,
    /** The paths of all requests, in order. */
    requests: [] as string[],
    /** The last ID token that it made. */
    idToken: '',
  }
  const server = createServer((request, response) => {
    const path = (request.url ?? '').replace(/\?.*/, '')
    provider.requests.push(path)
    if (faults.respond?.(path, response, request)) return
    void handle(request, response)
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const [signing, other] = [takeKey(), takeKey()]
  const keys = [signing, other]
  const signed: Sign = (claims, { alg = 'RS256', key = signing.privateKey, kid } = {}) =>
    jwt(claims, { alg, key: key === 'its public key' ? signing.publicKey : key, kid: kid ?? kidOf(provider.idToken) })

  const oidc = new Provider(issuer, {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: [client.redirectUri],
        token_endpoint_auth_method: authentication,
      },
    ],
    pkce: { required: () => true },
    claims: {
      openid: ['sub', 'groups', 'hd'],
      profile: ['name', 'preferred_username'],
      email: ['email', 'email_verified'],
    },
    conformIdTokenClaims: !fullIdToken,
    jwks: { keys: [signing.privateKey.export({ format: 'jwk' })] },
    ttl: { AccessToken: 60, Grant: 60, IdToken: 60, Interaction: 60, Session: 60 },
    cookies: { keys: ['key of the cookies of the provider'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `/login/${uid}` },
    findAccount: (_, accountId) => ({ accountId, claims: () => ({ ...provider.account }) }),
    async loadExistingGrant({ oidc: { session, client: found } }) {
      const earlier = session?.grantIdFor(client.id)
      if (earlier !== undefined) return oidc.Grant.find(earlier)
      const grant = new oidc.Grant({ accountId: session?.accountId, clientId: found?.clientId })
      grant.addOIDCScope('openid profile email')
      await grant.save()
      return grant
    },
  })
  oidc.use(async (context, next) => {
    await next()
    if (faults.publishes === 'another key' && context.path === '/jwks')
      context.body = { keys: [{ ...other.publicKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256' }] }
    if (context.path.startsWith('/.well-known/')) {
      if (faults.publishes === 'no key') context.body = { ...(context.body as Json), jwks_uri: undefined }
      if (faults.metadata) context.body = faults.metadata(context.body as Json)
    }
    if (context.path === '/token' && context.status === 200) {
      const body = context.body as Json
      provider.idToken = String(body.id_token)
      if (faults.idToken) body.id_token = faults.idToken(claimsOf(provider.idToken), signed)
      context.body = faults.tokenResponse?.(body) ?? body
    }
    const location = String(context.response.get('location'))
    if (faults.answer && location.startsWith(client.redirectUri)) {
      const callback = new URL(location)
      faults.answer(callback)
      context.set('location', callback.href)
    }
  })
  const callback = oidc.callback()
  const handle: typeof callback = (request, response) =>
    request.url?.startsWith('/login/')
      ? oidc.interactionFinished(request, response, { login: { accountId: provider.account.sub } })
      : callback(request, response)

  return Object.assign(provider, {
    issuer,
    discoveryUrl: `${issuer}/.well-known/openid-configuration`,
    /** A second key: of somebody else, or the next one of the provider. */
    otherKey: other,
    stop: async () => {
      unusedKeys.push(...keys.splice(0))
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  })
}

const createKey = () => generateKeyPairSync('rsa', { modulusLength: 2048 })

/** Keys of providers that have stopped: to make one takes a tenth of a second. Two providers that run never have the same. */
const unusedKeys: ReturnType<typeof createKey>[] = []
const takeKey = () => unusedKeys.pop() ?? createKey()

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const part = (token: string, index: number): Json =>
  JSON.parse(Buffer.from(token.split('.')[index] ?? '', 'base64url').toString())
const claimsOf = (token: string): Json => part(token, 1)
const kidOf = (token: string): string => String(part(token, 0).kid)

const jwt = (
  claims: Json,
  { alg, key, kid }: { readonly alg: string; readonly key: KeyObject; readonly kid: string },
): string => {
  const content = `${base64url({ alg, typ: 'JWT', ...(kid && { kid }) })}.${base64url(claims)}`
  if (alg === 'none') return `${content}.`
  if (alg.startsWith('HS')) {
    const secret = key.type === 'secret' ? key : key.export({ format: 'pem', type: 'spki' })
    return `${content}.${createHmac(alg.replace('HS', 'sha'), secret).update(content).digest('base64url')}`
  }
  return `${content}.${sign(alg.replace('RS', 'sha'), Buffer.from(content), key).toString('base64url')}`
}

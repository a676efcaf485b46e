import { generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'

export interface OidcClient {
  readonly id: string
  readonly secret: string
  readonly redirectUri: string
}

/**
 * Starts an OpenID provider on loopback: `oidc-provider`, with PKCE required. Its login page asks nothing: every browser is `account`, and consents.
 *
 * @param publishes the key at its `jwks_uri`; `another key`: as if somebody else had made the ID tokens; `no key`: there is no `jwks_uri`
 */
export const startOidcProvider = async (
  client: OidcClient,
  { publishes = 'its key' }: { publishes?: 'its key' | 'another key' | 'no key' } = {},
) => {
  const account = { sub: 'cn=dora,ou=people', name: 'Dora', email: 'dora@corp.example', email_verified: true }
  const server = createServer((request, response) => void handle(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const [signing, other] = [createKey(), createKey()]

  const provider = new Provider(issuer, {
    clients: [{ client_id: client.id, client_secret: client.secret, redirect_uris: [client.redirectUri] }],
    pkce: { required: () => true },
    claims: { openid: ['sub'], profile: ['name'], email: ['email', 'email_verified'] },
    jwks: { keys: [signing.privateKey.export({ format: 'jwk' })] },
    ttl: { AccessToken: 60, Grant: 60, IdToken: 60, Interaction: 60, Session: 60 },
    cookies: { keys: ['key of the cookies of the provider'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `/login/${uid}` },
    findAccount: (_, accountId) => ({ accountId, claims: () => account }),
    async loadExistingGrant({ oidc }) {
      const grant = new provider.Grant({ accountId: oidc.session?.accountId, clientId: oidc.client?.clientId })
      grant.addOIDCScope('openid profile email')
      await grant.save()
      return grant
    },
  })
  provider.use(async (context, next) => {
    await next()
    if (publishes === 'another key' && context.path === '/jwks')
      context.body = { keys: [{ ...other.publicKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256' }] }
    if (publishes === 'no key' && context.path.startsWith('/.well-known/'))
      context.body = { ...(context.body as object), jwks_uri: undefined }
  })
  const callback = provider.callback()
  const handle: typeof callback = (request, response) =>
    request.url?.startsWith('/login/')
      ? provider.interactionFinished(request, response, { login: { accountId: account.sub } })
      : callback(request, response)

  return {
    discoveryUrl: `${issuer}/.well-known/openid-configuration`,
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const createKey = () => generateKeyPairSync('rsa', { modulusLength: 2048 })

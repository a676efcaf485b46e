import type { Emulator } from '../../src/emulator/index.ts'
import { Browser } from '../examples/browser.ts'
import { startOidcProvider } from '../support/oidc-provider.ts'
import { type FaultProxy, portOf } from './fault-proxy.ts'
import type { FaultRequest, FaultWorld } from './world.ts'

/** A webhook of the person with these headers. */
export const newWebhook = async ({ ask, emulator }: FaultWorld, headers: FaultRequest['headers']): Promise<string> => {
  const body = webhookOf(emulator)
  return (await ask('POST', { as: 'session', path: '/api/webhooks', body, headers })).webhook.id
}

/** A webhook that gets nothing: its user makes no videos. */
export const webhookOf = ({ origin }: Emulator) => ({ url: `${origin}/hook`, types: ['video.succeeded'] })

/** The return of a person from the identity provider to the server, which then asks the provider who it is. */
export const newReturn = async ({ server }: FaultWorld): Promise<FaultRequest> => {
  const browser = new Browser(server.url)
  const { url } = await browser.send('GET', '/api/session/oidc', undefined, ({ pathname }) =>
    pathname.endsWith('/callback'),
  )
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  return { as: 'nobody', path: url.slice(server.url.length), headers: { cookie } }
}

/**
 * Starts an identity provider. For the server at `url`, it is at the address of a proxy; the browser goes to the
 * provider itself.
 */
export const startProviderBehindProxy = async (url: string, proxyOf: (serverPort: number) => Promise<FaultProxy>) => {
  const client = {
    id: 'sluice',
    secret: 'secret-of-the-client-0123456789',
    redirectUri: `${url}/api/session/oidc/callback`,
  }
  let started: FaultProxy | undefined
  const before = (address: unknown) => started?.before(String(address)) ?? ''
  const provider = await startOidcProvider(client, {
    metadata: ({ issuer, authorization_endpoint, token_endpoint, userinfo_endpoint, jwks_uri, ...others }) => ({
      ...others,
      authorization_endpoint: String(authorization_endpoint).replace(/^http:..[^/]+/, provider.issuer),
      ...{ issuer: before(issuer), token_endpoint: before(token_endpoint) },
      ...{ userinfo_endpoint: before(userinfo_endpoint), jwks_uri: before(jwks_uri) },
    }),
    answer: ({ searchParams }) => searchParams.set('iss', before(searchParams.get('iss'))),
    idToken: (claims, sign) => sign({ ...claims, iss: before(claims.iss) }),
  })
  const proxy = await proxyOf(portOf(provider.issuer))
  started = proxy
  return {
    proxy,
    settings: {
      OIDC_ISSUER: proxy.before(provider.issuer),
      OIDC_CLIENT_ID: client.id,
      OIDC_CLIENT_SECRET: client.secret,
    },
    stop: provider.stop,
  }
}

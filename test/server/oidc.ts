import { Browser } from '../examples/browser.ts'
import { databaseNames, type TestDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { startOidcProvider } from '../support/oidc-provider.ts'
import type { Runtime, ServerProcess } from '../support/server.ts'
import { openFixture } from './fixture.ts'

export { databaseNames }

export interface OidcServerOptions {
  readonly kind?: TestDatabase['kind']
  readonly runtime?: Runtime
  readonly environment?: Readonly<Record<string, string>>
}

export const clientSecret = 'secret-of-the-client-0123456789'

/** A default server whose users log in at an OpenID provider, which starts after the server. */
export const openOidcServer = async ({ kind, runtime, environment }: OidcServerOptions = {}) => {
  const stack = new AsyncDisposableStack()
  const fixture = stack.use(await openFixture(kind))
  const port = await freePort()
  const variables = {
    OIDC_ISSUER: `http://127.0.0.1:${port}`,
    OIDC_CLIENT_ID: 'sluice',
    OIDC_CLIENT_SECRET: clientSecret,
    ...environment,
  }
  const start = (): Promise<ServerProcess> => fixture.start(variables, runtime)
  const server = await start()
  const redirectUri = `${server.url}/api/session/oidc/callback`
  const startProvider = async (options: Parameters<typeof startOidcProvider>[1] = {}) => {
    const client = { id: 'sluice', secret: clientSecret, redirectUri }
    const provider = await startOidcProvider(client, { ...options, port })
    stack.defer(provider.stop)
    return provider
  }
  const who = async (browser: Browser): Promise<string | undefined> => {
    const { status, text } = await browser.send('GET', '/api/session')
    return status === 200 ? JSON.parse(text).user.name : undefined
  }
  return {
    ...{ fixture, server, startProvider, who },
    browser: () => new Browser(server.url),
    login: (browser: Browser, query = '') => browser.send('GET', `/api/session/oidc${query}`),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

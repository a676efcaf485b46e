import { Elysia } from 'elysia'
import {
  type AcceptedLogin,
  type OidcLogin,
  type OidcLoginOptions,
  type OidcUserStore,
  oidcLogin,
  type RejectedLogin,
} from 'sluice/oidc-login'
import type { AuditEvent } from '../../plugins/shared/audit.ts'
import { Browser } from '../examples/browser.ts'
import { serveHost } from '../examples/serve-host.ts'
import { startOidcProvider } from '../support/oidc-provider.ts'

export interface MemoryUser {
  readonly id: string
  readonly name: string
  issuer?: string
  subject?: string
  role: 'user' | 'admin'
  disabled?: boolean
}

/** The users of a host app. `invitations`: the hash of each, with the id of its user. */
export class MemoryUsers implements OidcUserStore {
  readonly users: MemoryUser[] = []
  readonly invitations = new Map<string, string>()
  readonly logins: OidcLogin[] = []

  async logInOidcUser(login: OidcLogin): Promise<AcceptedLogin | RejectedLogin> {
    this.logins.push(login)
    const { issuer, subject, name, role, invitation } = login
    const known = this.users.find((user) => user.issuer === issuer && user.subject === subject)
    const invited = this.users.find(({ id }) => id === this.invitations.get(invitation ?? ''))
    if (!known && invitation !== undefined && !invited) return 'invitation'
    if (known && invited && known !== invited) return 'known'
    if (known?.disabled) return 'disabled'
    if (invited) this.invitations.delete(invitation ?? '')
    const user = known ?? invited ?? this.#add(name)
    if (typeof user === 'string') return user
    Object.assign(user, { issuer, subject, ...(role && { role }) })
    const found = known ? 'known' : invited ? 'invited' : 'added'
    return { user: { id: user.id, name: user.name }, found }
  }

  #add(name: string | undefined): MemoryUser | 'no-name' | 'name-taken' {
    if (name === undefined) return 'no-name'
    if (this.users.some((user) => user.name.toLowerCase() === name.toLowerCase())) return 'name-taken'
    const user: MemoryUser = { id: `u${this.users.length + 1}`, name, role: 'user' }
    this.users.push(user)
    return user
  }
}

export interface FixtureOptions extends Partial<OidcLoginOptions> {
  readonly provider?: Parameters<typeof startOidcProvider>[1]
}

/** A host app with `oidc-login` and its OpenID provider, on loopback. */
export const openFixture = async ({ provider: providerOptions, ...options }: FixtureOptions = {}) => {
  const stack = new AsyncDisposableStack()
  const users = new MemoryUsers()
  const sessions: string[] = []
  const events: AuditEvent[] = []
  const lines: { readonly level: string; readonly fields: unknown; readonly message: string }[] = []
  const line = (level: string) => (fields: object, message: string) => {
    const { err } = fields as { err?: unknown }
    const text = err instanceof Error ? { ...fields, err: { ...err, message: err.message, stack: err.stack } } : fields
    lines.push({ level, fields: JSON.parse(JSON.stringify(text)), message })
  }
  const provider = Promise.withResolvers<Awaited<ReturnType<typeof startOidcProvider>>>()
  const { url, stop } = await serveHost(async (publicUrl) => {
    const client = {
      id: 'sluice',
      secret: 'secret of the client: /%+&:',
      redirectUri: `${publicUrl}${options.prefix ?? '/api/session/oidc'}/callback`,
    }
    const started = await startOidcProvider(client, providerOptions)
    provider.resolve(started)
    stack.defer(started.stop)
    return new Elysia()
      .use(
        oidcLogin({
          issuer: started.issuer,
          clientId: client.id,
          clientSecret: client.secret,
          store: users,
          beginSession: async (_request, user) => {
            sessions.push(user.id)
            return `session=${user.id}; Path=/; HttpOnly; SameSite=Lax`
          },
          secrets: ['a secret of the tests'],
          publicUrl,
          log: { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') },
          audit: {
            note: (event) => void events.push(event),
            record: async (event) => void events.push(event),
          },
          ...options,
        }),
      )
      .get('/console', 'the console')
      .get('/other', 'another page')
  })
  stack.defer(() => stop())
  const started = await provider.promise
  const start = `${options.prefix ?? '/api/session/oidc'}`
  const isCallback = ({ pathname, origin }: URL) => origin === url && pathname === `${start}/callback`

  return {
    url,
    provider: started,
    users,
    /** The users of all sessions that began. */
    sessions,
    events,
    lines,
    start,
    browser: () => new Browser(url),
    /** Logs in. Returns the page at which the browser ends. */
    login: (browser = new Browser(url), query = '') => browser.send('GET', start + query),
    /** Goes to the provider, and stops before the browser comes back. Returns the address of the callback. */
    authorize: async (browser: Browser, query = '') =>
      new URL((await browser.send('GET', start + query, undefined, isCallback)).url),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

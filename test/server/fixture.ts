import { hashPassword } from '../../plugins/web-session/index.ts'
import type { EmulatorOptions } from '../../src/emulator/index.ts'
import type { TestDatabase } from '../support/database.ts'
import { askRaw, type Reply } from '../support/gateway.ts'
import { openServerFixture, type ServerFixture } from '../support/server-fixture.ts'

export { until } from '../support/until.ts'

export const password = 'correct horse'
export const faces = '/api/media/face-verifications'

let hashed: Promise<string> | undefined
const hash = (): Promise<string> => {
  hashed ??= hashPassword(password)
  return hashed
}

/** Default servers, and users who have a password. */
export interface Fixture extends ServerFixture {
  addPerson(name: string): Promise<string>
}

export const openFixture = async (
  kind: TestDatabase['kind'] = 'sqlite',
  options?: EmulatorOptions,
): Promise<Fixture> => {
  const servers = await openServerFixture(kind, options)
  return {
    ...servers,
    async addPerson(name) {
      const id = await servers.store.addUser({ name, password: await hash(), createdAt: Date.now() })
      if (id === undefined) throw new Error(`${name} exists already`)
      return id
    },
  }
}

/** The environment of a server whose upstream is of kind `ark`. */
export const arkOf = ({ emulator }: Pick<ServerFixture, 'emulator'>): Record<string, string> => ({
  MEDIA_UPSTREAM_KIND: 'ark',
  MEDIA_UPSTREAM_URL: emulator.ark.url,
  MEDIA_UPSTREAM_ACCESS_KEY: emulator.ark.accessKey,
  MEDIA_UPSTREAM_SECRET_KEY: emulator.ark.secretKey,
  MEDIA_UPSTREAM_LIMITS: '{}',
})

type Headers_ = Record<string, string>

/** Sends a request. A body that is not a string is sent as JSON. */
export const send = (
  url: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Headers_ = {},
): Promise<Reply> =>
  askRaw(url, path, {
    method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
  })

export const login = (url: string, name: string, headers: Headers_ = {}, entered = password): Promise<Reply> =>
  send(url, 'POST', '/api/session', { name, password: entered }, { origin: url, ...headers })

export const cookieOf = (reply: Reply): string => reply.headers.get('set-cookie')?.split(';')[0] ?? ''

/** A browser with a session. */
export interface Browser {
  readonly cookie: string
  /** Sends a request as a page of the server does. `at` is another server on the same database; default: the server of the login. */
  ask(method: string, path: string, body?: unknown, headers?: Headers_, at?: { readonly url: string }): Promise<Reply>
}

export const browse = async (server: { readonly url: string }, name: string): Promise<Browser> => {
  const cookie = cookieOf(await login(server.url, name))
  if (cookie === '') throw new Error(`${name} could not log in`)
  return {
    cookie,
    ask: (method, path, body, headers = {}, at = server) =>
      send(at.url, method, path, body, { origin: at.url, cookie, ...headers }),
  }
}

/** Creates a token for the browser's user. */
export const newToken = async (browser: Browser): Promise<{ readonly id: string; readonly token: string }> =>
  (await browser.ask('POST', '/api/tokens', {})).json.token

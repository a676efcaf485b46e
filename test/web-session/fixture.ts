import { randomUUID } from 'node:crypto'
import { type WebSessionOptions, webSession } from '../../plugins/web-session/index.ts'
import { createAdminUserStore } from '../../src/store/admin/admin-users.ts'
import type { Database } from '../../src/store/database/database.ts'
import { openSqlite } from '../../src/store/database/sqlite.ts'
import { migrate } from '../../src/store/migrations/migrate.ts'
import { createAttemptStore } from '../../src/store/users/attempts.ts'
import { createSessionStore } from '../../src/store/users/sessions.ts'
import { createTokenStore } from '../../src/store/users/tokens.ts'
import { endSessionsOf } from '../../src/store/users/user-rows.ts'
import { createUserStore } from '../../src/store/users/users.ts'

/** Creates the tables of users, tokens and sessions in a new database. */
export const makeTables = (database: Database): Promise<void> => database.exclusively(() => migrate(1))

export const storeOn = (database: Database) => ({
  ...createAdminUserStore(database),
  ...createUserStore(database, createAdminUserStore(database)),
  ...createTokenStore(database),
  ...createSessionStore(database),
  ...createAttemptStore(database),
  endSessionsOf: (user: string) => database.query(endSessionsOf(user)),
})

export const publicUrl = 'https://sluice.test'

/** A response that has been read completely. */
export interface Shown {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies of every shape
  readonly json: any
  /** The name and value of the first `Set-Cookie` header, as the browser sends them back. */
  readonly cookie: string
}

export interface App {
  handle(request: Request): Promise<Response>
}

export const showing = async (response: Response): Promise<Shown> => {
  const text = await response.text()
  const json = text.startsWith('{') ? JSON.parse(text) : text
  const cookie = response.headers.get('set-cookie')?.split(';', 1)[0] ?? ''
  return { status: response.status, headers: response.headers, json, cookie }
}

/** Sends a request to an app in process. A body that is not a string is sent as JSON. */
export const ask = async (
  app: App,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: unknown,
): Promise<Shown> => {
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  const type: Record<string, string> = text === undefined ? {} : { 'content-type': 'application/json' }
  return showing(
    await app.handle(
      new Request(`http://localhost${path}`, {
        method,
        body: text as string | undefined,
        headers: { ...type, ...headers },
      }),
    ),
  )
}

/** A verifier without hashing: the hash of a password is the password after `#`. `checked` records the hash of every check. */
export const quickVerify = () => {
  const checked: (string | undefined)[] = []
  const verify = async (password: string, hash: string | undefined) => {
    checked.push(hash)
    return hash === `#${password}`
  }
  return { verify, checked }
}

/** The plugin on SQLite in memory, with a clock that the test sets and one user, ann, with the password `right`. */
export const openFixture = async (options: Partial<WebSessionOptions> = {}) => {
  const database = openSqlite(':memory:')
  await makeTables(database)
  const store = storeOn(database)
  const clock = { now: 1_800_000_000_000 }
  const { verify, checked } = quickVerify()
  const full: WebSessionOptions = {
    store,
    secrets: ['secret, a secret of the tests'],
    publicUrl,
    clock: { now: () => clock.now },
    verify,
    ...options,
  }
  const addUser = async (name: string, password?: string) => {
    const id = await store.addUser({ name, password: password && `#${password}`, createdAt: 1 })
    if (id === undefined) throw new Error(`there is a user ${name} already`)
    return id
  }
  const ann = await addUser('ann', 'right')
  const app: App = webSession(full)
  const login = (name = 'ann', password = 'right', headers: Record<string, string> = {}) =>
    ask(app, 'POST', '/api/session', headers, { name, password })
  const whoIs = (cookie: string, headers: Record<string, string> = {}) =>
    ask(app, 'GET', '/api/session', { cookie, ...headers })
  return { database, store, options: full, clock, checked, app, ann, addUser, login, whoIs }
}

export const rejection = (message: string, type = 'request_error') => ({ success: false, error: { message, type } })

export const sameOrigin = { origin: publicUrl }

/** A random name of no user. */
export const nobody = () => `nobody-${randomUUID()}`

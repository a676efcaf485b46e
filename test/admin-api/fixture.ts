import { randomUUID } from 'node:crypto'
import { Elysia } from 'elysia'
import { type AdminOptions, admin } from '../../plugins/admin/index.ts'
import { createToken, hashToken, identifyByToken } from '../../plugins/api-token/index.ts'
import type { AuditEvent } from '../../plugins/shared/audit.ts'
import type { Identity } from '../../plugins/shared/identity/identify.ts'
import type { Role, Scope } from '../../plugins/shared/identity/scopes.ts'
import type { Store } from '../../src/store/index.ts'
import { createResponseChecker } from '../support/check-response.ts'
import { documentOfServer } from '../support/document.ts'

export const publicUrl = 'https://sluice.example'

// biome-ignore lint/suspicious/noExplicitAny: the tests check each member of it
export type Body = any

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: Body
}

/** What a request has besides its method and path. */
export interface Sent {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends a request to an app below `/api/admin`, and checks the response by the document of the server. */
export type Call = (method: string, path: string, sent?: Sent) => Promise<Answer>

/** The admin API on a store. Its callers have real tokens; those of `as` have the identity of the test. */
export const openAdmin = async (store: Store, options: Partial<AdminOptions> = {}) => {
  const checker = createResponseChecker(await documentOfServer())
  const events: AuditEvent[] = []
  const byToken = identifyByToken({ store })
  const identities = new Map<string, Identity>()
  const app = new Elysia().use(
    admin({
      ...{ store, publicUrl, secrets: ['a secret of the test suite'], idempotency: store.idempotency },
      identify: (request) => identities.get(request.headers.get('x-test-identity') ?? '') ?? byToken(request),
      audit: {
        note: (event) => void events.push(event),
        record: async (event) => void events.push(event),
      },
      ...options,
    }),
  )

  const send = async (method: string, path: string, { body, headers = {} }: Sent = {}): Promise<Answer> => {
    const target = `/api/admin${path}`
    const response = await app.handle(
      new Request(`http://localhost${target}`, {
        method,
        headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
        body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
      }),
    )
    const text = await response.text()
    const sent = {
      port: 0,
      method,
      target,
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: text,
    }
    const problems = checker.problemsOf(sent, false)
    if (problems.length > 0) throw new Error(`${method} ${path} ${response.status}: ${problems.join('; ')}\n${text}`)
    const isJson = response.headers.get('content-type') === 'application/json'
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined }
  }

  const withHeaders =
    (given: Readonly<Record<string, string>>): Call =>
    (method, path, sent = {}) =>
      send(method, path, { ...sent, headers: { ...given, ...sent.headers } })

  return {
    app,
    events,
    send: send as Call,
    /** Sends as the holder of a token. */
    with: (token: string): Call => withHeaders({ authorization: `Bearer ${token}` }),
    /** Sends with an identity, as a session or a host app gives one. */
    as: (identity: Identity): Call => {
      const name = randomUUID()
      identities.set(name, identity)
      return withHeaders({ 'x-test-identity': name })
    },
  }
}

/** Adds a user with a token. */
export const addUser = async (store: Store, role: Role, scopes: readonly Scope[], name: string = randomUUID()) => {
  const user = await store.addAdminUser({ name, role, createdAt: Date.now() })
  if (typeof user === 'string') throw new Error(user)
  const secret = createToken()
  const token = await store.addUserToken(user.id, {
    ...{ hash: hashToken(secret), start: secret.slice(0, 9), scopes, createdAt: Date.now() },
  })
  if (typeof token === 'string') throw new Error(token)
  return { id: user.id, name, token: secret, tokenId: token.id }
}

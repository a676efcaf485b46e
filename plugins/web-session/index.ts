import { Elysia } from 'elysia'
import { type Audit, noAudit } from '../shared/audit.ts'
import { requireIdentity } from '../shared/identify.ts'
import { identity } from '../shared/identity.ts'
import { type Log, Problem, problemBody, renderProblems } from '../shared/problem.ts'
import { unkept, unkeptJson } from '../shared/unkept.ts'
import { refuseUnknown } from '../shared/unknown.ts'
import { createDevices } from './devices.ts'
import { findUser, readCredentials, type Verify } from './login.ts'
import { foreignOrigin, isForeign, otherAddress, requireSameOrigin } from './origin.ts'
import { verifyPassword } from './password.ts'
import { createSessions, type SessionIdentity, type SessionOptions } from './session.ts'
import type { AttemptStore, SessionStore } from './store.ts'
import { createThrottle, type ThrottleOptions } from './throttle.ts'

export type { Audit, AuditEvent } from '../shared/audit.ts'
export type { Identify, Identity } from '../shared/identify.ts'
export type { Verify } from './login.ts'
export type { Flow } from './login-queue.ts'
export { type PublicUrl, requireSameOrigin } from './origin.ts'
export { hashPassword, verifyPassword } from './password.ts'
export type { SessionIdentity, SessionOptions } from './session.ts'
export type { Attempt, AttemptStore, Counter, LoginUser, NewSession, Session, SessionStore } from './store.ts'
export type { ThrottleOptions } from './throttle.ts'

export interface WebSessionOptions extends SessionOptions {
  readonly store: SessionStore & AttemptStore
  /** Where a request comes from, to count failures by address. Default: they are counted by name alone. Never a header that callers can set. */
  readonly addressOf?: (request: Request) => string | undefined
  readonly throttle?: ThrottleOptions
  /** Default: `verifyPassword`, for hashes from `hashPassword`. May throw a Problem, which is not counted as a failure. */
  readonly verify?: Verify
  /** Where the routes are. Default `/api/session`. */
  readonly path?: string
  /** The product word in the type of errors. Default `media`. */
  readonly segment?: string
  readonly log?: Log
  /** Told of every login, logout, failure and lockout. Default: nobody is. */
  readonly audit?: Audit
}

/**
 * Identifies callers by the session in their cookie, for other plugins. `SessionOptions` must be the ones that `webSession` has. Says nothing of the
 * origin: what changes something needs `requireSameOrigin` as well.
 *
 * The result throws Problem 500 when the store cannot be asked.
 */
export const identifyBySession = (
  options: SessionOptions,
): ((request: Request) => Promise<SessionIdentity | undefined>) => createSessions(options).identify

/**
 * Routes to log in (POST), to ask who one is (GET) and to log out (DELETE), and macro `session: true`: the route needs a session and gives
 * `identity`, else 401; unless it only reads, it also needs the public address's origin, else 403.
 */
export const webSession = (options: WebSessionOptions) => {
  const { store, publicUrl, segment = 'media', verify = verifyPassword, now = Date.now, audit = noAudit } = options
  const sessions = createSessions(options)
  const devices = createDevices(options)
  const throttle = createThrottle(store, now, options.throttle)
  const render = renderProblems(problemBody(`${segment}_proxy_error`), options.log, audit)

  const guard = async (request: Request): Promise<SessionIdentity> => {
    const found = await requireIdentity(sessions.identify, request)
    if (!reading.has(request.method)) requireSameOrigin(request, publicUrl)
    return found as SessionIdentity
  }

  const routes = new Elysia({ prefix: options.path ?? '/api/session' })
    .onError(({ error, code, request }) => unkept(render({ error, code, request })))
    .post(
      '',
      async ({ request }) => {
        const credentials = await readCredentials(request)
        const { name } = credentials
        const caller = { name, address: options.addressOf?.(request), device: devices.idOf(request, name) }
        const user = await throttle.run(caller, (flow) => findUser(credentials, store, verify, flow))
        // After the password, which says whether to name the address; counted and hashed like any other try.
        const event = { action: 'session.fail', name } as const
        if (isForeign(request, publicUrl)) {
          const message = user ? otherAddress(publicUrl) : foreignOrigin
          throw new Problem(403, message, { event: { ...event, reason: 'foreign origin' } })
        }
        const cookie = user && (await sessions.begin(request, user))
        if (!cookie) throw new Problem(401, 'wrong name or password', { event })
        // Before anybody has the cookie: there is no session without a trace.
        await audit.record({ action: 'session.login', user: user.id }, request)
        return welcome({ user: user.id, name: user.name }, cookie, devices.issue(request, name))
      },
      { parse: 'none' },
    )
    .get('', async ({ request }) => welcome(await guard(request)))
    .delete(
      '',
      async ({ request }) => {
        await guard(request)
        const cookie = await sessions.end(request)
        await audit.record({ action: 'session.logout' }, request)
        return answer({}, cookie)
      },
      { parse: 'none' },
    )
    .use(refuseUnknown)

  return new Elysia({ name: 'sluice/web-session', seed: identity(options) })
    .macro({
      session: (_required: true) => ({
        resolve: async ({ request }) => ({ identity: await guard(request) }),
      }),
    })
    .use(routes)
}

const reading: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

const welcome = ({ user: id, name }: SessionIdentity, ...cookies: readonly string[]): Response =>
  answer({ user: { id, name } }, ...cookies)

const answer = (content: object, ...cookies: readonly string[]): Response => {
  const response = unkeptJson({ success: true, ...content })
  for (const cookie of cookies) response.headers.append('set-cookie', cookie)
  return response
}

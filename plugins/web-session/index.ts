import { Elysia } from 'elysia'
import { requireIdentity } from '../shared/identify.ts'
import { identity } from '../shared/identity.ts'
import { type Log, Problem, problemBody, renderProblems } from '../shared/problem.ts'
import { unkept, unkeptJson } from '../shared/unkept.ts'
import { refuseUnknown } from '../shared/unknown.ts'
import { findUser, readCredentials, type Verify } from './login.ts'
import { refuseForeignOrigin, requireSameOrigin } from './origin.ts'
import { verifyPassword } from './password.ts'
import { createSessions, type SessionIdentity, type SessionOptions } from './session.ts'
import type { AttemptStore, SessionStore } from './store.ts'
import { createThrottle, type ThrottleOptions } from './throttle.ts'

export type { Identify, Identity } from '../shared/identify.ts'
export type { Verify } from './login.ts'
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
  const { store, publicUrl, segment = 'media', verify = verifyPassword, now = Date.now } = options
  const sessions = createSessions(options)
  const throttle = createThrottle(store, now, options.throttle)
  const render = renderProblems(problemBody(`${segment}_proxy_error`), options.log)

  const guard = async (request: Request): Promise<SessionIdentity> => {
    const found = await requireIdentity(sessions.identify, request)
    if (!reading.has(request.method)) requireSameOrigin(request, publicUrl)
    return found as SessionIdentity
  }

  const routes = new Elysia({ prefix: options.path ?? '/api/session' })
    .onError((context) => unkept(render(context)))
    .post(
      '',
      async ({ request }) => {
        refuseForeignOrigin(request, publicUrl)
        const credentials = await readCredentials(request)
        const attempt = () => findUser(credentials, store, verify)
        const user = await throttle.run(credentials.name, options.addressOf?.(request), attempt)
        const cookie = user && (await sessions.begin(request, user))
        if (!cookie) throw new Problem(401, 'wrong name or password')
        return welcome({ user: user.id, name: user.name }, { 'set-cookie': cookie })
      },
      { parse: 'none' },
    )
    .get('', async ({ request }) => welcome(await guard(request)))
    .delete(
      '',
      async ({ request }) => {
        await guard(request)
        return answer({}, { 'set-cookie': await sessions.end(request) })
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

const welcome = ({ user: id, name }: SessionIdentity, headers?: Record<string, string>): Response =>
  answer({ user: { id, name } }, headers)

const answer = (content: object, headers?: Record<string, string>): Response =>
  unkeptJson({ success: true, ...content }, headers)

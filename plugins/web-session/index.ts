import { type AnyElysia, Elysia } from 'elysia'
import { noAudit } from '../shared/audit.ts'
import { systemClock } from '../shared/clock.ts'
import { createErrorHandler, routesOf } from '../shared/http/error-handler.ts'
import { fallbackRoutes } from '../shared/http/fallback-routes.ts'
import { noStoreJson } from '../shared/http/no-store.ts'
import {
  crossOriginMessage,
  isCrossOrigin,
  requireSameOrigin,
  safeMethods,
  wrongOriginMessage,
} from '../shared/http/origin.ts'
import { requireIdentity } from '../shared/identity/identify.ts'
import { checkElysia, checkPath } from '../shared/plugin/options.ts'
import type { MacroFunctions, MacroPlugin, RoutesAt } from '../shared/plugin/plugin.ts'
import { seedOf } from '../shared/plugin/seed.ts'
import { Problem } from '../shared/problem.ts'
import { createDevices } from './devices.ts'
import { findUser, noPasswordLogin, readCredentials } from './login.ts'
import { type SessionRoutes, sessionDocs } from './openapi.ts'
import type { WebSessionOptions } from './options.ts'
import { verifyPassword } from './password.ts'
import { createSessions, type SessionIdentity, type SessionOptions } from './session.ts'
import type { LoginUser } from './store.ts'
import { createThrottle } from './throttle.ts'

export type { Audit, AuditEvent } from '../shared/audit.ts'
export type { ErrorsOption } from '../shared/http/error-handler.ts'
export { type PublicUrl, requireSameOrigin } from '../shared/http/origin.ts'
export type { Identify, Identity } from '../shared/identity/identify.ts'
export type { QueueFlow } from '../shared/login/login-queue.ts'
export { type OwnAccountOptions, ownAccount } from './account/index.ts'
export { hashInvitation } from './account/invitations.ts'
export type {
  AccountResponse,
  InvitationResponse,
  OwnAccountRoutes,
  PasswordChange,
  RedeemedInvitation,
  SessionList,
} from './account/openapi.ts'
export type { Account, InvitedUser, OwnAccountStore, OwnSession } from './account/store.ts'
export type { Verify } from './login.ts'
export type { LoginRequest, SessionRoutes, SessionUser } from './openapi.ts'
export type { WebSessionOptions } from './options.ts'
export { hashPassword, verifyPassword } from './password.ts'
export type { SessionIdentity, SessionOptions } from './session.ts'
export type { Attempt, AttemptStore, Counter, LoginUser, NewSession, Session, SessionStore } from './store.ts'
export type { ThrottleOptions } from './throttle.ts'

/**
 * Creates a function that identifies callers by their session cookie, for other plugins. It needs the same
 * `SessionOptions` as `webSession`.
 *
 * It does not check the origin: a route that changes something needs `requireSameOrigin` as well. It throws Problem 500
 * when the store fails.
 *
 * @example
 * const identify = identifyBySession({ store, secrets, publicUrl })
 */
export const identifyBySession = (
  options: SessionOptions,
): ((request: Request) => Promise<SessionIdentity | undefined>) => createSessions(options).identify

/**
 * Creates a function that begins a session after a login of another kind, for example with OpenID Connect. It needs the
 * same `SessionOptions` as `webSession`. The caller has authenticated the user.
 *
 * The function returns the `Set-Cookie` header; undefined when the user may no longer log in. It throws Problem 500
 * when the store fails.
 *
 * @example
 * const begin = beginSession({ store, secrets, publicUrl })
 * const cookie = await begin(request, { id: 'u1', name: 'ann' })
 */
export const beginSession = (
  options: SessionOptions,
): ((request: Request, user: LoginUser) => Promise<string | undefined>) => createSessions(options).begin

/** The macro of `webSession`: its parameter, and what it adds to the context. */
export type WebSessionMacros = {
  session: { parameter: true; context: { identity: SessionIdentity } }
}

/**
 * Routes to log in (POST), to read the session's user (GET) and to log out (DELETE), and the macro `session`.
 *
 * `session: true` on a route requires a session (else 401) and provides `identity`. A method other than GET, HEAD and
 * OPTIONS also requires the origin of `publicUrl` (else 403). Rejected requests get their response whatever `onError`
 * hooks the app has.
 *
 * Throws TypeError for a wrong `prefix`, `publicUrl`, `secrets`, `cookieName` or duration, and without a store.
 *
 * @example
 * new Elysia().use(webSession({ store, secrets, publicUrl }))
 */
export const webSession = <const Prefix extends string = '/api/session'>(
  options: WebSessionOptions & { readonly prefix?: Prefix },
): MacroPlugin<WebSessionMacros, RoutesAt<Prefix, SessionRoutes>> => {
  checkElysia(Elysia)
  const { store, publicUrl, verify = verifyPassword, clock = systemClock, audit = noAudit } = options
  const { passwordLogin = true } = options
  const prefix = checkPath('prefix', options.prefix ?? '/api/session')
  const sessions = createSessions(options)
  const devices = createDevices(options)
  const throttle = createThrottle(store, clock, options.throttle)
  const errors = createErrorHandler(options)

  const guard = async (request: Request): Promise<SessionIdentity> => {
    const identity = await requireIdentity(sessions.identify, request)
    if (!safeMethods.has(request.method)) requireSameOrigin(request, publicUrl)
    return identity as SessionIdentity
  }

  const login = async (request: Request): Promise<Response> => {
    if (!passwordLogin) throw noPasswordLogin
    const credentials = await readCredentials(request)
    const { name } = credentials
    const caller = { name, address: options.addressOf?.(request), device: devices.idOf(request, name) }
    const user = await throttle.run(caller, (flow) => findUser(credentials, store, verify, flow))
    // Checked after the password: only a user with the right one may learn the public address. A foreign login counts
    // and takes time like any other.
    const event = { action: 'session.fail', name } as const
    if (isCrossOrigin(request, publicUrl)) {
      const message = user ? wrongOriginMessage(publicUrl) : crossOriginMessage
      throw new Problem(403, message, { event: { ...event, reason: 'foreign origin' } })
    }
    const cookie = user && (await sessions.begin(request, user))
    if (!cookie) throw new Problem(401, 'wrong name or password', { event })
    // Recorded before the response: no caller gets a session without an audit event.
    await audit.record({ action: 'session.login', user: user.id }, request)
    return userResponse({ user: user.id, name: user.name }, cookie, devices.issue(request, name))
  }

  const logout = async (request: Request): Promise<Response> => {
    await guard(request)
    const cookie = await sessions.end(request)
    await audit.record({ action: 'session.logout' }, request)
    return success({}, cookie)
  }

  const route = routesOf(errors)
  const routes = new Elysia({ prefix })
    .post('', route(login), sessionDocs.login)
    .get(
      '',
      route(async (request) => userResponse(await guard(request))),
      sessionDocs.getUser,
    )
    .delete('', route(logout), sessionDocs.logout)
    .use(fallbackRoutes(errors))

  const plugin: AnyElysia = new Elysia({ name: 'sluice/web-session', seed: seedOf(options) }).macro({
    session: (_required: true) => ({
      resolve: async ({ request, set, status }) => {
        try {
          return { identity: await guard(request) }
        } catch (error) {
          return errors.stop(error, { request, set, status })
        }
      },
    }),
  } satisfies MacroFunctions<WebSessionMacros>)
  return plugin.use(routes)
}

/** The body is not read. */
const userResponse = ({ user: id, name }: SessionIdentity, ...cookies: readonly string[]): Response =>
  success({ user: { id, name } }, ...cookies)

const success = (content: object, ...cookies: readonly string[]): Response => {
  const response = noStoreJson({ success: true, ...content })
  for (const cookie of cookies) response.headers.append('set-cookie', cookie)
  return response
}

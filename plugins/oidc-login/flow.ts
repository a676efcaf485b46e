import { createHash } from 'node:crypto'
import type { Audit, AuditEvent } from '../shared/audit.ts'
import type { Clock } from '../shared/clock.ts'
import { type PublicUrl, publicBase } from '../shared/http/origin.ts'
import { LoginQueue } from '../shared/login/login-queue.ts'
import { networksOf } from '../shared/login/networks.ts'
import { type Log, Problem } from '../shared/problem.ts'
import { storeCall } from '../shared/store-call.ts'
import { type ClaimRules, type Claims, fitsRules, userNameOf } from './claims.ts'
import { type LoginFailure, LoginProblem } from './login-failures.ts'
import type { PendingLogin, PendingLogins } from './pending-logins.ts'
import { ProviderDeniedError, ProviderInvalidError, ProviderUnreachableError } from './provider/error.ts'
import type { OidcProvider } from './provider/provider.ts'
import type { AcceptedLogin, OidcUser, OidcUserStore, RejectedLogin } from './store.ts'

/** What the two routes need. */
export interface OidcFlowOptions {
  readonly provider: OidcProvider
  readonly pending: PendingLogins
  readonly store: OidcUserStore
  readonly beginSession: (request: Request, user: OidcUser) => Promise<string | undefined>
  readonly publicUrl: PublicUrl
  readonly prefix: string
  readonly returnTo: string
  readonly nameClaim: string | undefined
  readonly allowed: ClaimRules | undefined
  readonly admin: ClaimRules | undefined
  readonly addressOf: ((request: Request) => string | undefined) | undefined
  readonly clock: Pick<Clock, 'now'>
  readonly log: Log
  readonly audit: Audit
}

/** Callbacks that ask the provider or the store at once, and that wait. */
const atOnce = 16
const maxWaiting = 64
/** A code, a state and an issuer are much shorter. */
const maxQueryLength = 8_192

/** The two steps of a login in a browser. Both throw LoginProblem. */
export interface OidcFlow {
  /** Redirects the browser to the provider. */
  start(request: Request): Promise<Response>
  /** Logs in the user with whom the browser comes back. */
  finish(request: Request): Promise<Response>
}

export const createOidcFlow = (options: OidcFlowOptions): OidcFlow => {
  const { provider, pending, store, publicUrl, prefix, returnTo, nameClaim, allowed, admin, clock, log, audit } =
    options
  const queue = new LoginQueue({ atOnce, maxWaiting, message: 'too many callbacks are in progress' })
  const startAddress = publicBase.bind(undefined, publicUrl)

  /** Starts the login again, with the same return path, and the same invitation unless that was the problem. */
  const againAt = (login: Partial<PendingLogin> | undefined): string => {
    const query = new URLSearchParams()
    if (login?.returnPath !== undefined) query.set('return_to', login.returnPath)
    if (login?.invitation !== undefined) query.set('invitation', login.invitation)
    return `${startAddress()}${prefix}${query.size === 0 ? '' : `?${query}`}`
  }

  const start = async (request: Request): Promise<Response> => {
    const { searchParams } = new URL(request.url)
    const returnPath = readReturnPath(searchParams.get('return_to'), publicUrl)
    const invitation = searchParams.get('invitation') ?? undefined
    const fail = (failure: LoginFailure, cause: unknown) =>
      new LoginProblem(failure, request, { cause, again: againAt({ returnPath }) })
    if (invitation !== undefined && !isInvitation(invitation))
      throw fail('invitation', new Error('the invitation has the wrong form'))
    const { login, cookie } = pending.start(request, { returnPath, invitation })
    const location = await provider.authorizationUrl(login).catch((error: unknown) => {
      throw fail(failureOf(error), error)
    })
    return redirect(location, [cookie])
  }

  const finish = async (request: Request): Promise<Response> => {
    const { searchParams, search } = new URL(request.url)
    const [state, ...others] = searchParams.getAll('state')
    const found =
      search.length <= maxQueryLength && state !== undefined && others.length === 0
        ? pending.end(request, state)
        : undefined
    if (!found) {
      const cause = new Error('the state of the callback is not that of a login of this browser')
      throw new LoginProblem('expired', request, { cause, again: againAt(undefined) })
    }
    const { login, cookie } = found
    const fail = (failure: LoginFailure, cause: unknown, more: Readonly<Record<string, string>> = {}) => {
      const { invitation, ...withoutInvitation } = login
      const isForAnother = failure === 'known' || failure === 'invitation'
      const again = againAt(isForAnother ? withoutInvitation : login)
      return new LoginProblem(failure, request, { cause, again, headers: { 'set-cookie': cookie, ...more } })
    }
    const flow = { name: networksOf(options.addressOf?.(request) ?? '').at(-1)?.name ?? '' }
    try {
      const sessionCookie = await queue.run(flow, () => logIn(request, login, searchParams, fail))
      return redirect(publicBase(publicUrl) + (login.returnPath ?? returnTo), [sessionCookie, cookie])
    } catch (error) {
      if (!(error instanceof Problem) || error instanceof LoginProblem) throw error
      throw error.status === 503 ? fail('busy', error, error.headers) : fail('failed', error.cause ?? error)
    }
  }

  /** Returns the `Set-Cookie` header of the session. */
  const logIn = async (
    request: Request,
    login: PendingLogin,
    query: URLSearchParams,
    fail: (failure: LoginFailure, cause: unknown) => LoginProblem,
  ): Promise<string> => {
    const claims = await provider.claimsOf(login, query).catch((error: unknown) => {
      throw fail(failureOf(error), error)
    })
    if (allowed && !fitsRules(claims, allowed))
      throw fail('not-allowed', new Error('the claims do not fit the option allowed'))
    const outcome = await storeCall(store.logInOidcUser(loginOf(login, claims)), 'login could not be stored')
    if (typeof outcome === 'string') throw fail(rejections[outcome], new Error(`the login was rejected: ${outcome}`))
    const { user } = outcome
    if (outcome.isLastAdmin)
      log.warn({ user: user.id }, 'the last enabled admin stays admin, although the claims do not fit')
    for (const event of eventsOf(outcome)) await audit.record(event, request)
    const cookie = await options.beginSession(request, user)
    if (cookie === undefined) throw fail('not-allowed', new Error('the user may no longer log in'))
    await audit.record({ action: 'session.login', user: user.id, reason: 'oidc' }, request)
    return cookie
  }

  const loginOf = ({ invitation }: PendingLogin, claims: Claims) => ({
    issuer: String(claims.iss),
    subject: String(claims.sub),
    name: userNameOf(claims, nameClaim),
    role: admin && (fitsRules(claims, admin) ? ('admin' as const) : ('user' as const)),
    invitation: invitation && createHash('sha256').update(invitation).digest('hex'),
    now: clock.now(),
  })

  return { start, finish }
}

const isInvitation = (text: string): boolean => /^[\w-]{16,128}$/.test(text)

const redirect = (location: string, cookies: readonly string[]): Response => {
  const headers = new Headers({ location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
  for (const cookie of cookies) headers.append('set-cookie', cookie)
  return new Response(null, { status: 303, headers })
}

const failureOf = (error: unknown): LoginFailure => {
  if (error instanceof ProviderUnreachableError) return 'unreachable'
  if (error instanceof ProviderDeniedError) return 'denied'
  if (error instanceof ProviderInvalidError) return 'invalid'
  throw error
}

/** A disabled user learns no more than one who was never allowed. */
const rejections: Readonly<Record<RejectedLogin, LoginFailure>> = {
  disabled: 'not-allowed',
  'name-taken': 'name-taken',
  'no-name': 'no-name',
  invitation: 'invitation',
  known: 'known',
}

/** What the login has changed. */
const eventsOf = ({ user: { id }, found, newRole }: AcceptedLogin): readonly AuditEvent[] => {
  const common = { user: id, target: { kind: 'user', id }, reason: 'oidc' }
  const fields = [...(found === 'invited' ? ['login'] : []), ...(newRole === undefined ? [] : ['role'])]
  return [
    ...(found === 'added' ? [{ action: 'user.create', ...common } as const] : []),
    ...(fields.length > 0 ? [{ action: 'user.update', ...common, fields } as const] : []),
  ]
}

const maxLength = 256

/** A path, with query and fragment, that no browser reads as the address of another host. */
const path = /^\/(?![/\\])[!-[\]-~]*$/

/**
 * The path at which a person continues after the login, relative to the public address. Undefined for anything that
 * could lead to another host, or out of the public address's own path.
 */
export const readReturnPath = (text: string | null, publicUrl: PublicUrl): string | undefined => {
  if (text === null || text.length > maxLength || !path.test(text)) return undefined
  const base = publicBase(publicUrl)
  const url = URL.parse(base + text)
  return url?.href.startsWith(`${base}/`) ? url.href.slice(base.length) : undefined
}

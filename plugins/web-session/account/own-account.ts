import { type Audit, accessDenied } from '../../shared/audit.ts'
import type { Clock } from '../../shared/clock.ts'
import { readJsonRequest } from '../../shared/http/body/body.ts'
import { success } from '../../shared/http/no-store.ts'
import { readId } from '../../shared/id.ts'
import type { QueueFlow } from '../../shared/login/login-queue.ts'
import { passwordProblem } from '../../shared/login/password-rules.ts'
import { Problem } from '../../shared/problem.ts'
import { storeCall } from '../../shared/store-call.ts'
import { maxPasswordBytes, noPasswordLogin, type Verify } from '../login.ts'
import type { SessionIdentity } from '../session.ts'
import type { LoginCaller, Throttle } from '../throttle.ts'
import type { Account, OwnAccountStore, OwnSession } from './store.ts'

/** Hashes a new password. `flow` identifies the caller to a fair queue, for a hash that costs time. */
export type Hash = (password: string, flow: QueueFlow) => Promise<string>

/** What the handlers need. */
export interface OwnAccountContext {
  readonly store: OwnAccountStore
  /** The user of the session. Throws Problem 401, and 403 for a change from a page of another origin. */
  readonly guard: (request: Request) => Promise<SessionIdentity>
  readonly throttle: Throttle
  readonly callerOf: (request: Request, name: string) => LoginCaller
  readonly verify: Verify
  readonly hash: Hash
  readonly passwordLogin: boolean
  readonly clock: Pick<Clock, 'now'>
  readonly audit: Audit
}

/** Creates the handlers of a user's own account. They throw Problem. */
export const createOwnAccount = (context: OwnAccountContext) => {
  const { store, guard, clock, audit } = context

  const accountOf = async ({ user }: SessionIdentity): Promise<Account> => {
    const account = await storeCall(store.account(user), accountNotRead)
    if (!account) throw new Problem(404, 'this user has no account here')
    return account
  }

  return {
    async show(request: Request): Promise<Response> {
      return success({ account: toJson(await accountOf(await guard(request))) })
    },

    async changePassword(request: Request): Promise<Response> {
      const identity = await guard(request)
      if (!context.passwordLogin) throw noPasswordLogin
      const { current, password } = await readPasswords(request)
      const account = await accountOf(identity)
      if (account.password === undefined) throw new Problem(409, 'this account has no password')
      checkPassword(password, account.name)
      await checkCurrent(request, current, account, context)
      const hash = await context.hash(password, { name: identity.user })
      const change = { before: account.password, password: hash, keep: identity.session }
      if (!(await storeCall(store.changeOwnPassword(identity.user, change), accountNotChanged)))
        throw new Problem(409, 'the account was changed at the same time')
      await audit.record({ action: 'user.password', target: { kind: 'user', id: identity.user } }, request)
      return success({ account: toJson(account) })
    },

    async listSessions(request: Request): Promise<Response> {
      const { user, session } = await guard(request)
      const sessions = await storeCall(store.listSessions(user, clock.now()), accountNotRead)
      return success({ sessions: sessions.map((each) => toSession(each, session)) })
    },

    async endOtherSessions(request: Request): Promise<Response> {
      const { user, session } = await guard(request)
      await storeCall(store.endOtherSessions(user, session), accountNotChanged)
      await audit.record({ action: 'user.logout', target: { kind: 'user', id: user } }, request)
      return success()
    },

    async endSession(request: Request, id: unknown): Promise<Response> {
      const { user } = await guard(request)
      const known = readId(id)
      const ended = known !== undefined && (await storeCall(store.endSessionOf(user, known), accountNotChanged))
      if (!ended) throw new Problem(404, 'session not found', { event: accessDenied('session', known) })
      await audit.record({ action: 'session.logout', target: { kind: 'session', id: known } }, request)
      return success()
    },
  }
}

/** Throws Problem 403 for a wrong current password. It counts as a failed login. */
const checkCurrent = async (
  request: Request,
  current: string,
  { id, name, password: hash }: Account,
  { throttle, callerOf, verify }: OwnAccountContext,
): Promise<void> => {
  const caller = callerOf(request, name)
  const isRight = await throttle.run(caller, async (flow) => (await verify(current, hash, flow)) || undefined)
  if (!isRight) {
    const event = { action: 'session.fail', user: id, reason: 'change of the password' } as const
    throw new Problem(403, 'current_password is wrong', { event })
  }
}

/** Throws Problem 400 for a password that is not good enough. */
export const checkPassword = (password: string, name: string): void => {
  const problem = passwordProblem(password, name)
  if (problem !== undefined) throw new Problem(400, problem)
}

const maxBodyBytes = 8_192

const readPasswords = async (request: Request): Promise<{ readonly current: string; readonly password: string }> => {
  const [current, password] = await readStrings(request, 'current_password', 'password')
  if (Buffer.byteLength(current) > maxPasswordBytes) throw new Problem(403, 'current_password is wrong')
  return { current, password }
}

/** Reads members of a body that must be strings. Throws Problem 400, 413 above 8 KiB, and 415. */
export const readStrings = async <const Names extends readonly string[]>(
  request: Request,
  ...names: Names
): Promise<{ readonly [Index in keyof Names]: string }> => {
  const { json } = await readJsonRequest(request, maxBodyBytes)
  return names.map((name) => {
    const text = json.get(name)?.string()
    if (text === undefined) throw new Problem(400, `${name} must be a string`)
    return text
  }) as { readonly [Index in keyof Names]: string }
}

const toJson = ({ id, name, role, team, login }: Account) => ({ id, name, role, team: team ?? null, login })

const toSession = ({ id, createdAt, lastUsedAt, idleUntil, endsAt, userAgent }: OwnSession, current?: string) => ({
  id,
  created_at: timeOf(createdAt),
  last_used_at: timeOf(lastUsedAt),
  expires_at: timeOf(Math.min(idleUntil, endsAt)),
  user_agent: userAgent ?? null,
  current: id === current,
})

const timeOf = (at: number): string => new Date(at).toISOString()

/** The messages when the store fails. */
export const accountNotRead = 'the account could not be read'
export const accountNotChanged = 'the account could not be changed'

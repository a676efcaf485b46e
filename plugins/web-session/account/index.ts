import { type AnyElysia, Elysia } from 'elysia'
import { noAudit } from '../../shared/audit.ts'
import { systemClock } from '../../shared/clock.ts'
import { createErrorHandler, routesOf } from '../../shared/http/error-handler.ts'
import { fallbackRoutes } from '../../shared/http/fallback-routes.ts'
import { requireSameOrigin, safeMethods } from '../../shared/http/origin.ts'
import { requireIdentity } from '../../shared/identity/identify.ts'
import { checkCollaborator, checkElysia, checkPath } from '../../shared/plugin/options.ts'
import type { RoutesAt, RoutesPlugin } from '../../shared/plugin/plugin.ts'
import { seedOf } from '../../shared/plugin/seed.ts'
import { createDevices } from '../devices.ts'
import type { WebSessionOptions } from '../options.ts'
import { hashPassword, verifyPassword } from '../password.ts'
import { createSessions, type SessionIdentity } from '../session.ts'
import { createThrottle } from '../throttle.ts'
import { createInvitations } from './invitations.ts'
import { accountDocs, type OwnAccountRoutes } from './openapi.ts'
import { createOwnAccount, type Hash } from './own-account.ts'
import type { OwnAccountStore } from './store.ts'

/** Options of `ownAccount`: those of `webSession`, with the same values, and a store that also keeps accounts. */
export interface OwnAccountOptions extends Omit<WebSessionOptions, 'store' | 'prefix'> {
  readonly store: WebSessionOptions['store'] & OwnAccountStore
  /** Hashes a new password, in the format of `verify`. Default: `hashPassword`. */
  readonly hash?: Hash
  /** Base path of the routes `/account` and `/invitations`. Default `/api`. */
  readonly prefix?: string
}

/**
 * Routes by which users see their own account, change the password, and end sessions; and the routes of invitations.
 *
 * - GET of `/account`: name, role, team and login. PATCH with `{"current_password","password"}` changes the password
 *   and ends the user's other sessions.
 * - GET of `/account/sessions` lists the own sessions, DELETE ends all but this one, and DELETE of `/:id` ends one.
 * - GET of `/invitations/:token` names the invited user. POST with `{"password"}` sets the password, once.
 *
 * A wrong current password, and an unknown invitation, count as failed logins. Throws TypeError for options that
 * `webSession` rejects.
 *
 * @example
 * new Elysia().use(ownAccount({ store, secrets, publicUrl }))
 */
export const ownAccount = <const Prefix extends string = '/api'>(
  options: OwnAccountOptions & { readonly prefix?: Prefix },
): RoutesPlugin<RoutesAt<Prefix, OwnAccountRoutes>> => {
  checkElysia(Elysia)
  const prefix = checkPath('prefix', options.prefix ?? '/api')
  checkCollaborator('store', options.store)
  const {
    store,
    publicUrl,
    verify = verifyPassword,
    hash = hashPassword,
    clock = systemClock,
    audit = noAudit,
    addressOf,
  } = options
  const sessions = createSessions(options)
  const devices = createDevices(options)
  const throttle = createThrottle(store, clock, options.throttle)
  const errors = createErrorHandler(options)
  const common = { store, throttle, hash, passwordLogin: options.passwordLogin ?? true, clock, audit }
  const account = createOwnAccount({
    ...common,
    verify,
    async guard(request) {
      const identity = await requireIdentity(sessions.identify, request)
      if (!safeMethods.has(request.method)) requireSameOrigin(request, publicUrl)
      return identity as SessionIdentity
    },
    callerOf: (request, name) => ({ name, address: addressOf?.(request), device: devices.idOf(request, name) }),
  })
  const invitations = createInvitations({ ...common, addressOf, publicUrl })

  const route = routesOf(errors)
  const ofAccount = new Elysia({ prefix: `${prefix}/account` })
    .get('', route(account.show), accountDocs.show)
    .patch('', route(account.changePassword), accountDocs.changePassword)
    .get('/sessions', route(account.listSessions), accountDocs.listSessions)
    .delete('/sessions', route(account.endOtherSessions), accountDocs.endOtherSessions)
    .delete('/sessions/:id', route(account.endSession, 'id'), accountDocs.endSession)
    .use(fallbackRoutes(errors))

  const ofInvitations = new Elysia({ prefix: `${prefix}/invitations` })
    .get('/:token', route(invitations.show, 'token'), accountDocs.showInvitation)
    .post('/:token', route(invitations.redeem, 'token'), accountDocs.redeemInvitation)
    .use(fallbackRoutes(errors))

  const plugin: AnyElysia = new Elysia({ name: 'sluice/own-account', seed: seedOf(options) })
    .use(ofAccount)
    .use(ofInvitations)
  return plugin
}

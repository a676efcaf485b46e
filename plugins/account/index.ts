import { type AnyElysia, Elysia } from 'elysia'
import { type ConsoleTokenStore, consoleTokens, type TokenRoutes } from '../api-token/index.ts'
import { type ConsolePagesOptions, type ConsolePaths, consolePages } from '../console/index.ts'
import { type FaceRoutes, type FaceVerificationOptions, faceVerification } from '../face-verification/index.ts'
import type { Audit } from '../shared/audit.ts'
import type { Clock } from '../shared/clock.ts'
import { createClientAddressOf } from '../shared/http/client-address.ts'
import { createErrorHandler, type ErrorsOption, routesOf } from '../shared/http/error-handler.ts'
import { fallbackRoutes } from '../shared/http/fallback-routes.ts'
import { requireSameOrigin } from '../shared/http/origin.ts'
import type { Identify } from '../shared/identity/identify.ts'
import { checkCollaborator, checkIdentify, checkPath } from '../shared/plugin/options.ts'
import type { MacroPlugin, RoutesAt, RoutesPlugin } from '../shared/plugin/plugin.ts'
import { seedOf } from '../shared/plugin/seed.ts'
import type { Log } from '../shared/problem.ts'
import {
  type AttemptStore,
  identifyBySession,
  type OwnAccountOptions,
  type OwnAccountRoutes,
  type OwnAccountStore,
  ownAccount,
  type SessionRoutes,
  type SessionStore,
  type WebSessionMacros,
  type WebSessionOptions,
  webSession,
} from '../web-session/index.ts'
import { type UsageRoutes, usageDocs } from './openapi.ts'
import { listUsage, type UsageReportStore } from './usage.ts'

export type { Audit, AuditEvent } from '../shared/audit.ts'
export type { ErrorsOption } from '../shared/http/error-handler.ts'
export type { UsageCounts, UsageCountsView } from '../shared/usage-counts.ts'
export type { UsageReport, UsageRoutes, UsageRow } from './openapi.ts'
export type { DailyUsage, UsageReportStore } from './usage.ts'

/**
 * The store port of `account`, without that of face verification.
 *
 * Without the methods of `OwnAccountStore` there are no routes for the own account and for invitations: for a host app
 * that has its own.
 */
export type AccountStore = SessionStore & AttemptStore & ConsoleTokenStore & UsageReportStore & Partial<OwnAccountStore>

/** Options of face verification that `account` does not set itself. */
export interface AccountFaceOptions
  extends Omit<
    FaceVerificationOptions,
    'store' | 'identify' | 'publicUrl' | 'requireSameOrigin' | 'errors' | 'clock' | 'log' | 'audit'
  > {
  readonly store?: FaceVerificationOptions['store']
}

/**
 * The store of `account` must keep face verifications too, unless the option `face` has a store of its own or is
 * missing.
 */
type StoreFor<Face> = Face extends { readonly store: object } | undefined
  ? AccountStore
  : AccountStore & FaceVerificationOptions['store']

/** Options of `account`. Those that are not described here are options of `webSession`. */
export interface AccountOptions
  extends Pick<
    WebSessionOptions,
    | 'secrets'
    | 'publicUrl'
    | 'cookieName'
    | 'idleMs'
    | 'absoluteMs'
    | 'maxSessions'
    | 'throttle'
    | 'verify'
    | 'passwordLogin'
  > {
  /** Hashes a new password, in the format of `verify`. Default: `hashPassword` of `web-session`. */
  readonly hash?: OwnAccountOptions['hash']
  /** Its face verifications are needed when `face` has no store of its own. */
  readonly store: AccountStore
  /** The client address of a request. Default: the address of the connection's peer, where the server reports it. */
  readonly addressOf?: WebSessionOptions['addressOf']
  /** Base path of the routes `/session`, `/account`, `/invitations`, `/tokens` and `/usage`. Default `/api`. */
  readonly prefix?: string
  /** Valid API tokens that one user may have. Default 100. */
  readonly maxTokens?: number
  /** Options of `faceVerification`. Its `store` is by default that of `account`. Undefined: no face verification. */
  readonly face?: AccountFaceOptions | undefined
  /**
   * The console: its path, another login, and the base paths of routes that `account` does not have. Defaults: those
   * of `consolePages`.
   */
  readonly console?: Pick<ConsolePagesOptions, 'prefix' | 'login'> &
    Partial<Omit<ConsolePaths, 'session' | 'tokens' | 'usage' | 'faceVerification' | 'invitations' | 'account'>>
  /** The JSON body of errors; `throw`: errors go to the `onError` of the host app. Default: `problemBody()`. */
  readonly errors?: ErrorsOption
  /** Default: the system clock. */
  readonly clock?: Clock
  readonly log?: Log
  /** Receives audit events. Default: no audit. */
  readonly audit?: Audit
}

/**
 * The routes for people with a browser, as one plugin: login, the own account, API tokens, their usage, face
 * verification, and the console. It has the macro `session` of `webSession`.
 *
 * Throws TypeError for options that its parts reject.
 *
 * @example
 * new Elysia().use(account({ store, secrets, publicUrl }))
 */
export const account = <
  const Prefix extends string = '/api',
  const Face extends AccountFaceOptions | undefined = undefined,
>(
  options: AccountOptions & { readonly prefix?: Prefix; readonly face?: Face; readonly store: StoreFor<Face> },
): MacroPlugin<WebSessionMacros, AccountRoutes<Prefix, Face>> => {
  const { store, publicUrl, prefix = '/api', addressOf = createClientAddressOf(), errors, log, audit, clock } = options
  checkPath('prefix', prefix)
  if (options.face?.prefix !== undefined) checkPath('face.prefix', options.face.prefix)
  const session = {
    ...{ store, publicUrl, secrets: options.secrets, cookieName: options.cookieName, clock },
    ...{ idleMs: options.idleMs, absoluteMs: options.absoluteMs, maxSessions: options.maxSessions },
  }
  const identify = identifyBySession(session)
  const common = { errors, log, audit }
  const { throttle, verify, passwordLogin, maxTokens } = options
  const paths = { session: `${prefix}/session`, tokens: `${prefix}/tokens`, usage: `${prefix}/usage` }
  const { prefix: consolePrefix, login, ...served } = options.console ?? {}
  const faceVerificationPath = options.face?.prefix ?? '/api/media/face-verifications'

  const plugin: AnyElysia = new Elysia({ name: 'sluice/account', seed: seedOf(options) })
    .use(webSession({ ...session, ...common, prefix: paths.session, throttle, verify, passwordLogin, addressOf }))
    .use(consoleTokens({ ...common, prefix: paths.tokens, store, identify, publicUrl, maxTokens, clock }))
    .use(usageRoutes({ ...common, prefix: paths.usage, store, identify }))
    .use(
      consolePages({
        errors,
        log,
        prefix: consolePrefix,
        login,
        paths: {
          ...{ ...served, ...paths, faceVerification: faceVerificationPath },
          invitations: keepsAccounts(store) ? `${prefix}/invitations` : undefined,
          account: keepsAccounts(store) ? `${prefix}/account` : undefined,
        },
      }),
    )
  if (keepsAccounts(store))
    plugin.use(
      ownAccount({
        ...session,
        ...common,
        store,
        prefix,
        throttle,
        verify,
        passwordLogin,
        hash: options.hash,
        addressOf,
      }),
    )
  if (options.face) {
    const faceOptions = { ...options.face, store: options.face.store ?? options.store }
    const sameOrigin = (request: Request) => requireSameOrigin(request, publicUrl)
    plugin.use(
      faceVerification({ ...faceOptions, ...common, clock, identify, publicUrl, requireSameOrigin: sameOrigin }),
    )
  }
  return plugin
}

const keepsAccounts = <Store extends AccountStore>(store: Store): store is Store & OwnAccountStore =>
  store.account !== undefined

/** The routes of `account`, for Eden. `Face` is the type of its option `face`. */
export type AccountRoutes<Prefix extends string, Face> = RoutesAt<
  Prefix,
  { session: SessionRoutes; tokens: TokenRoutes } & UsageRoutes & OwnAccountRoutes
> &
  (Face extends { readonly prefix: infer FacePrefix extends string }
    ? RoutesAt<FacePrefix, FaceRoutes>
    : Face extends object
      ? RoutesAt<'/api/media/face-verifications', FaceRoutes>
      : Record<never, never>)

/** Options of `usageRoutes`. */
export interface UsageRoutesOptions extends Pick<AccountOptions, 'errors' | 'log' | 'audit'> {
  readonly store: UsageReportStore
  /** Authenticates by session: `identifyBySession` or a function of the host app. */
  readonly identify: Identify
}

/**
 * The usage route alone, for a host app with a login of its own. `GET` of the prefix: the caller's usage by day, API
 * token and model, newest day first. `?since` and `?until` are days, both inclusive.
 *
 * Throws TypeError for a wrong `prefix`, `store` or `identify`.
 *
 * @example
 * new Elysia().use(usageRoutes({ store, identify }))
 */
export const usageRoutes = <const Prefix extends string = '/api/usage'>(
  options: UsageRoutesOptions & { readonly prefix?: Prefix },
): RoutesPlugin<RoutesAt<Prefix, UsageRoutes['usage']>> => {
  const prefix = checkPath('prefix', options.prefix ?? '/api/usage')
  checkCollaborator('store', options.store)
  checkIdentify(options.identify)
  const list = listUsage(options.store, options.identify)
  const errors = createErrorHandler(options)
  const plugin: AnyElysia = new Elysia({ name: 'sluice/usage', seed: seedOf(options), prefix })
    .get('', routesOf(errors)(list), usageDocs)
    .use(fallbackRoutes(errors))
  return plugin
}

import { type AnyElysia, Elysia } from 'elysia'
import { createErrorHandler, type ErrorsOption, routesOf } from '../shared/http/error-handler.ts'
import { fallbackRoutes } from '../shared/http/fallback-routes.ts'
import { success } from '../shared/http/no-store.ts'
import { type Identify, requireIdentity } from '../shared/identity/identify.ts'
import { checkCollaborator, checkElysia, checkIdentify, checkPath } from '../shared/plugin/options.ts'
import type { RoutesAt, RoutesPlugin } from '../shared/plugin/plugin.ts'
import { seedOf } from '../shared/plugin/seed.ts'
import type { Log } from '../shared/problem.ts'
import { storeCall } from '../shared/store-call.ts'
import { type LimitRoutes, limitDocs } from './openapi.ts'
import type { UsageLimits } from './usage-limits.ts'

export { type UsageLimitsOptions, usageLimits } from './create.ts'
export { type InvalidLimits, type Limit, type LimitUnit, type LimitWindow, parseLimits } from './limit.ts'
export { LimitProblem, type ReachedLimit } from './limit-problem.ts'
export type { LimitList, LimitRoutes } from './openapi.ts'
export {
  firstStep,
  grantOf,
  type HeldMove,
  type LimitChange,
  type LimitCounter,
  type LimitCounts,
  type LimitExchange,
  type LimitStore,
  type LimitSubjects,
  type LimitUse,
  type SlidingWindow,
  type SubjectLimits,
  stepOf,
} from './store.ts'
export type {
  Amounts,
  LimitedCall,
  LimitReport,
  LimitSubject,
  LimitUsedRatio,
  UsageLimits,
  UsageReservation,
} from './usage-limits.ts'

/** Options of `limitRoutes`. */
export interface LimitRoutesOptions {
  readonly limits: Pick<UsageLimits, 'report'>
  /** Identifies the caller, by a token or a session. */
  readonly identify: Identify
  /** Base path of the route. Default `/api/limits`. */
  readonly prefix?: string
  /** The JSON body of errors; `throw`: errors go to the `onError` of the host app. Default: `problemBody()`. */
  readonly errors?: ErrorsOption
  readonly log?: Log
}

/**
 * The route by which callers see their limits. `GET` of the prefix: those of the account, of the user and the user's
 * team, and of the token that the caller uses, with what is used, reserved and left of each. With a session,
 * `?token=ID` adds those of one of the user's tokens. An id of no such token adds none.
 *
 * Throws TypeError for a wrong `prefix`, `limits` or `identify`.
 *
 * @example
 * const limits = usageLimits({ store: store.limits })
 * new Elysia().use(limitRoutes({ limits, identify }))
 */
export const limitRoutes = <const Prefix extends string = '/api/limits'>(
  options: LimitRoutesOptions & { readonly prefix?: Prefix },
): RoutesPlugin<RoutesAt<Prefix, LimitRoutes>> => {
  checkElysia(Elysia)
  checkCollaborator('limits', options.limits)
  checkIdentify(options.identify)
  const prefix = checkPath('prefix', options.prefix ?? '/api/limits')
  const { limits, identify } = options
  const errors = createErrorHandler(options)
  const list = async (request: Request): Promise<Response> => {
    const { user, token = tokenIn(request) } = await requireIdentity(identify, request)
    return success({
      limits: await storeCall(limits.report({ user, token }), 'limits could not be loaded'),
    })
  }
  const plugin: AnyElysia = new Elysia({ name: 'sluice/usage-limits', seed: seedOf(options), prefix })
    .get('', routesOf(errors)(list), limitDocs)
    .use(fallbackRoutes(errors))
  return plugin
}

/** Longest id of a token. */
const maxIdLength = 256

/** The token that a request asks about. What cannot be an id is none. */
const tokenIn = (request: Request): string | undefined => {
  const id = new URL(request.url).searchParams.get('token') ?? ''
  return id === '' || id.length > maxIdLength || id.includes('\0') ? undefined : id
}

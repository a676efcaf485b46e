import type { Json } from '../../shared/json/json.ts'
import type { Log } from '../../shared/problem.ts'
import { UpstreamRejectedError, UpstreamUnreachableError } from '../../shared/upstream/upstream-error.ts'
import { type Capabilities, type ModelRoute, type ModelRouting, nameOf } from '../models/routing.ts'
import { type ObjectOwnership, OtherUpstreamProblem } from '../objects/ownership.ts'
import type { Exchange } from '../protocol/protocol.ts'
import { hasNoRoute, type LearntCapabilities, limitationIn, type ModelUse } from '../upstream/learnt-capabilities.ts'

export interface RouteAttemptsOptions {
  readonly routing: ModelRouting
  /** Limitations of upstreams that their errors have shown. */
  readonly learnt: LearntCapabilities
  /** Whether a request names objects of its upstream. No other upstream has them. */
  readonly objects: Pick<ObjectOwnership, 'namesObjects'>
  readonly log: Log
}

/** What is known of an attempt that has failed before the caller received anything. */
export interface FailedAttempt {
  readonly exchange: Pick<Exchange, 'action'>
  /** Whether the upstream began a response with a status of success. It may have generated something then. */
  readonly accepted: boolean
  /** The request that was sent. */
  readonly request: Json
}

/**
 * Selects where one request goes: at first the upstream of its model, and after an error the same upstream with a
 * limitation that the error has shown, or the next upstream that serves the model.
 *
 * There is another attempt only if nothing was generated. Each limitation and each upstream has at most one, so their
 * number is bounded.
 */
export class RouteAttempts {
  readonly #options: RouteAttemptsOptions
  readonly #use: ModelUse
  readonly #routes: readonly ModelRoute[]
  #index = 0
  #route: ModelRoute | undefined
  /** What earlier attempts have shown: limitations of this upstream, and the first error of it. */
  #shown: { readonly limitations: Capabilities; readonly firstError: unknown } | undefined

  constructor(use: ModelUse, options: RouteAttemptsOptions) {
    this.#options = options
    this.#use = use
    this.#routes = options.routing.routesOf(use.model)
    this.#select(0)
  }

  /** Where the request goes now. Undefined when there is no upstream. */
  get route(): ModelRoute | undefined {
    return this.#route
  }

  /** Call this when the response has begun: limitations that were assumed are confirmed. */
  succeed(route: ModelRoute): void {
    if (this.#shown) this.#options.learnt.remember(route, this.#use, this.#shown.limitations)
  }

  /** Selects the route of the next attempt. Throws the error for the caller if there is none. */
  next(error: unknown, route: ModelRoute, attempt: FailedAttempt): ModelRoute {
    if (attempt.accepted) throw error
    const { exchange } = attempt
    const { objects, log } = this.#options
    const model = route.id ?? this.#use.model
    const limitation = limitationIn(error, { exchange, route, model })
    if (limitation) {
      this.#shown = { firstError: error, ...this.#shown, limitations: { ...this.#shown?.limitations, ...limitation } }
      this.#route = { ...route, ...limitation }
      return this.#route
    }
    const following =
      isUnavailable(error) && !objects.namesObjects(attempt.request) ? this.#select(this.#index + 1) : undefined
    if (following) {
      const upstreams = { upstream: nameOf(route.upstream), next: nameOf(following.upstream) }
      log.warn({ ...upstreams, err: error }, 'upstream is unavailable: asking the next one')
      return following
    }
    // The bridge has found no route either: the first error tells what is wrong.
    throw this.#shown?.limitations.chatOnly && hasNoRoute(error, model) ? this.#shown.firstError : error
  }

  /**
   * Selects the upstream that has the objects which the request names, if it serves the model too: it has taken over an
   * earlier request. Throws the error if it does not.
   */
  selectOwner(error: unknown): ModelRoute {
    const isOwner = ({ upstream }: ModelRoute) =>
      error instanceof OtherUpstreamProblem && upstream.url === error.upstream
    const index = this.#index === 0 ? this.#routes.findIndex(isOwner) : -1
    const route = index > 0 ? this.#select(index) : undefined
    if (!route) throw error
    return route
  }

  #select(index: number): ModelRoute | undefined {
    const route = this.#routes[index]
    if (!route) return undefined
    this.#index = index
    this.#shown = undefined
    this.#route = this.#options.learnt.apply(route, this.#use)
    return this.#route
  }
}

/**
 * Whether the upstream did not get the request, or has sent it back with the advice to come later. Neither costs
 * anything.
 */
const isUnavailable = (error: unknown): boolean =>
  error instanceof UpstreamUnreachableError
    ? !error.sent
    : error instanceof UpstreamRejectedError &&
      error.status === 503 &&
      (error.response.headers.has('retry-after') || error.response.headers.has('retry-after-ms'))

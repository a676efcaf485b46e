import type { Log } from '../../shared/problem.ts'
import { type ErrorDetail, errorDetails } from '../../shared/upstream/error-details.ts'
import { UpstreamRejectedError } from '../../shared/upstream/upstream-error.ts'
import type { Capabilities, MaxTokensField, ModelRoute } from '../models/routing.ts'
import type { Exchange } from '../protocol/protocol.ts'
import { LearntCache, type LearntCacheOptions } from './learnt-cache.ts'

/** A user, and the model by the name that the user sends. */
export interface ModelUse {
  readonly user: string
  readonly model: string
}

/** Cache of limitations that the gateway has found out from the errors of upstreams. */
export interface LearntCapabilities {
  /** The route with the limitations that are known of its model. */
  apply(route: ModelRoute, use: ModelUse): ModelRoute
  /** Call this when a request that respects these limitations has succeeded. */
  remember(route: ModelRoute, use: ModelUse, capabilities: Capabilities): void
}

/**
 * Creates the cache. Its key is the user, the upstream and the model. Each limitation is logged once, when it is
 * remembered.
 *
 * A request may provoke such an error where the upstream has no such limitation, for example by a tool that it does not
 * implement. Then only requests of the same user are affected.
 */
export const createLearntCapabilities = ({
  log,
  ...options
}: LearntCacheOptions & { readonly log: Log }): LearntCapabilities => {
  const cache = new LearntCache<Capabilities>(options)
  return {
    apply(route, use) {
      const capabilities = cache.isEmpty ? undefined : cache.get(keyOf(route, use))
      return capabilities ? { ...route, ...capabilities } : route
    },
    remember(route, use, capabilities) {
      const key = keyOf(route, use)
      const known = cache.get(key)
      if (known && Object.keys(capabilities).every((name) => name in known)) return
      if (!cache.set(key, { ...known, ...capabilities })) return
      log.info(
        { upstream: route.upstream.url, model: use.model, ...capabilities },
        'learnt a limitation of an upstream from its error',
      )
    },
  }
}

const keyOf = ({ upstream }: ModelRoute, { user, model }: ModelUse): string =>
  JSON.stringify([user, upstream.url, model])

/** The parts of a call that decide what its error means. */
interface FailedCall {
  readonly exchange: Pick<Exchange, 'action'>
  readonly route: ModelRoute
  readonly model: string
}

/**
 * Finds the limitation that the error of an upstream is about: with it, the same request may succeed, and the upstream
 * has generated nothing so far. Undefined for every other error, and for a limitation that the request respected.
 */
export const limitationIn = (error: unknown, { exchange, route, model }: FailedCall): Capabilities | undefined => {
  if (exchange.action === 'CreateResponse') return hasNoRoute(error, model) ? { chatOnly: true } : undefined
  const maxTokensField = maxTokensFieldIn(error, route)
  return maxTokensField && { maxTokensField }
}

/** The field for the maximum of the output that the error recommends. Undefined if the request used that already. */
export const maxTokensFieldIn = (error: unknown, { maxTokensField }: ModelRoute): MaxTokensField | undefined => {
  if (!(error instanceof UpstreamRejectedError) || (error.status !== 400 && error.status !== 422)) return undefined
  if (maxTokensField !== undefined) return undefined
  const details = errorDetails(error.response)
  if (details.some(({ message }) => newFieldRecommended.test(message))) return 'max_completion_tokens'
  return details.some(isNewFieldUnknown) ? 'max_tokens' : undefined
}

/**
 * With a bound on the distance: an error may quote a long text of the caller, and the search takes time by the square
 * of it.
 */
const newFieldRecommended = /\bmax_tokens\b.{0,200}\buse ['"`]?max_completion_tokens\b/is

/** Servers that do not know the newer field know the older one. */
const isNewFieldUnknown = ({ field, code, message }: ErrorDetail): boolean =>
  (field === 'max_completion_tokens' && (unknownField.test(code) || unknownField.test(message))) ||
  /\bmax_completion_tokens\b[^.]{0,40}\bnot (?:supported|permitted|allowed)\b/i.test(message) ||
  /\b(?:unknown|unrecogni[sz]ed|unexpected|unsupported|extra)\b[^.]{0,60}\bmax_completion_tokens\b/i.test(message)

const unknownField =
  /unknown|unrecogni[sz]ed|unexpected|unsupported_parameter|extra|not permitted|not supported|not allowed/i

/**
 * Whether the error says that an upstream has no such route. An upstream responds with the same statuses for an unknown
 * model or object.
 */
export const hasNoRoute = (error: unknown, model: string): boolean => {
  if (!(error instanceof UpstreamRejectedError) || ![404, 405, 501].includes(error.status)) return false
  return !errorDetails(error.response).some(
    ({ code, message }) =>
      otherSubject.test(code) || otherSubject.test(message) || (model.length > 2 && message.includes(model)),
  )
}

/** Codes and messages about a model, a deployment of one, or an object with an id. */
const otherSubject = /model|deployment|\bid\b|\b(?:resp|conv|msg)_|[a-z]_not_found\b|\bno endpoints found\b/i

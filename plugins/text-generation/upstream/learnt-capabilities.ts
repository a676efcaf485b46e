import type { Clock } from '../../shared/clock.ts'
import type { JsonBody } from '../../shared/http/body/body.ts'
import type { Log } from '../../shared/problem.ts'
import { type ErrorDetail, errorDetails } from '../../shared/upstream/error-details.ts'
import { UpstreamRejectedError } from '../../shared/upstream/upstream-error.ts'
import type { Capabilities, MaxTokensField, ModelRoute } from '../models/routing.ts'
import type { Exchange } from '../protocol/protocol.ts'
import type { Addition } from './additions.ts'

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

interface LearntCacheOptions {
  readonly clock: Pick<Clock, 'now'>
  /** Maximum number of entries; the oldest is removed first. Default 5000. */
  readonly maxEntries?: number
}

/** Milliseconds until the gateway tries again: the upstream may have been updated by then. */
const ttlMs = 3_600_000

/** Callers choose parts of the keys, such as names of models, of any length. */
const maxKeyLength = 2000

/**
 * Cache of what errors of upstreams have shown, for an hour. Its keys contain the user, see `createLearntCapabilities`.
 */
class LearntCache<Value> {
  readonly #entries = new Map<string, { readonly value: Value; readonly until: number }>()
  readonly #clock: Pick<Clock, 'now'>
  readonly #maxEntries: number

  constructor({ clock, maxEntries = 5000 }: LearntCacheOptions) {
    this.#clock = clock
    this.#maxEntries = maxEntries
  }

  /** Most gateways learn nothing: then callers need not compose a key. */
  get isEmpty(): boolean {
    return this.#entries.size === 0
  }

  get(key: string): Value | undefined {
    const found = this.#entries.get(key)
    return found && this.#clock.now() < found.until ? found.value : undefined
  }

  /** Returns false, and caches nothing, if the key is too long. */
  set(key: string, value: Value): boolean {
    if (key.length > maxKeyLength) return false
    this.#entries.delete(key)
    const [oldest] = this.#entries.keys()
    if (oldest !== undefined && this.#entries.size >= this.#maxEntries) this.#entries.delete(oldest)
    this.#entries.set(key, { value, until: this.#clock.now() + ttlMs })
    return true
  }
}

/** What the cache distinguishes of a call. */
interface CallKey {
  readonly user: string
  readonly exchange: { readonly path: string }
  readonly route: { readonly upstream: { readonly url: string } }
  readonly body?: Pick<JsonBody, 'json'>
}

/** Cache of added fields to omit, because an upstream has rejected them before. */
export interface RejectedAdditions {
  get(call: CallKey): ReadonlySet<Addition>
  /** Call this when a request without these fields has succeeded. */
  remember(call: CallKey, additions: ReadonlySet<Addition>): void
}

/**
 * Creates the cache. Its key is the user, the upstream, the model and the names of the request's fields.
 *
 * Some models reject streams only in combination with other fields or with some of their values. So a rejected request
 * does not affect requests with other fields, nor other users.
 */
export const createRejectedAdditions = (options: LearntCacheOptions): RejectedAdditions => {
  const cache = new LearntCache<ReadonlySet<Addition>>(options)
  return {
    get: (call) => (cache.isEmpty ? undefined : cache.get(additionsKey(call))) ?? noAdditions,
    remember: (call, additions) => void cache.set(additionsKey(call), additions),
  }
}

const noAdditions: ReadonlySet<Addition> = new Set()

const additionsKey = ({ user, exchange, route, body }: CallKey): string => {
  const fields = new Set(body?.json.members().map(({ key }) => key))
  // The gateway sets the stream fields itself.
  for (const gatewayField of ['stream', 'stream_options']) fields.delete(gatewayField)
  const model = body?.json.get('model')?.string()
  return JSON.stringify([user, route.upstream.url, exchange.path, model, ...[...fields].sort()])
}

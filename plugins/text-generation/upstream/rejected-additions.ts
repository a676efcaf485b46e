import type { JsonBody } from '../../shared/http/body/body.ts'
import type { Addition } from './additions.ts'
import { LearntCache, type LearntCacheOptions } from './learnt-cache.ts'

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
    get: (call) => (cache.isEmpty ? undefined : cache.get(keyOf(call))) ?? noAdditions,
    remember: (call, additions) => void cache.set(keyOf(call), additions),
  }
}

const noAdditions: ReadonlySet<Addition> = new Set()

const keyOf = ({ user, exchange, route, body }: CallKey): string => {
  const fields = new Set(body?.json.members().map(({ key }) => key))
  // The gateway sets the stream fields itself.
  for (const gatewayField of ['stream', 'stream_options']) fields.delete(gatewayField)
  const model = body?.json.get('model')?.string()
  return JSON.stringify([user, route.upstream.url, exchange.path, model, ...[...fields].sort()])
}

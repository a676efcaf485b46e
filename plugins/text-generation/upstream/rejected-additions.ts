import type { Clock } from '../../shared/clock.ts'
import type { Call } from '../call.ts'
import type { Addition } from './additions.ts'

/** Cache of added fields to omit, because an upstream has rejected them before. */
export interface RejectedAdditions {
  get(call: Call): ReadonlySet<Addition>
  /** Call this when a request without these fields has succeeded. */
  remember(call: Call, additions: ReadonlySet<Addition>): void
}

export interface RejectedAdditionsOptions {
  readonly clock: Pick<Clock, 'now'>
  /** Milliseconds until the gateway tries the field again: the upstream may support it by then. Default one hour. */
  readonly ttlMs?: number
  /** Maximum number of entries; the oldest is removed first. Default 5000. */
  readonly maxEntries?: number
}

/**
 * Creates the cache. Its key is the user, the upstream, the model and the names of the request's fields.
 *
 * Some models reject streams only in combination with other fields or with some of their values. So a rejected request
 * does not affect requests with other fields, nor other users.
 */
export const createRejectedAdditions = ({
  clock,
  ttlMs = 3_600_000,
  maxEntries = 5000,
}: RejectedAdditionsOptions): RejectedAdditions => {
  const entries = new Map<string, { readonly additions: ReadonlySet<Addition>; readonly until: number }>()
  return {
    get(call) {
      const found = entries.size === 0 ? undefined : entries.get(keyOf(call))
      return found && clock.now() < found.until ? found.additions : noAdditions
    },
    remember(call, additions) {
      const key = keyOf(call)
      if (key.length > maxKeyLength) return
      entries.delete(key)
      const [oldest] = entries.keys()
      if (oldest !== undefined && entries.size >= maxEntries) entries.delete(oldest)
      entries.set(key, { additions, until: clock.now() + ttlMs })
    },
  }
}

const noAdditions: ReadonlySet<Addition> = new Set()

/** Callers choose model and field names of any length. */
const maxKeyLength = 2000

const keyOf = ({ user, exchange, route, body }: Call): string => {
  const fields = new Set(body?.json.members().map(({ key }) => key))
  // The gateway sets the stream fields itself.
  for (const gatewayField of ['stream', 'stream_options']) fields.delete(gatewayField)
  const model = body?.json.get('model')?.string()
  return JSON.stringify([user, route.upstream.url, exchange.path, model, ...[...fields].sort()])
}

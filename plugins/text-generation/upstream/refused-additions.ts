import type { Call } from '../call.ts'
import type { Addition } from './additions.ts'

/** What is left out of requests because the same was refused before. */
export interface RefusedAdditions {
  get(call: Call): ReadonlySet<Addition>
  /** To be told when a call without them has succeeded. */
  remember(call: Call, additions: ReadonlySet<Addition>): void
}

export interface RefusedAdditionsOptions {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Milliseconds after which an upstream is tried anew: it may have learned, or have been misunderstood. Default an hour. */
  readonly ttlMs?: number
  /** Default 5000; the oldest is forgotten first. */
  readonly maxEntries?: number
}

/**
 * A memory by user, upstream, model and the names of the request's fields: some models refuse streams only together with other fields or with some of their
 * values, and nobody should lose his stream by what he does not send, or somebody else does.
 */
export const createRefusedAdditions = ({
  now,
  ttlMs = 3_600_000,
  maxEntries = 5000,
}: RefusedAdditionsOptions): RefusedAdditions => {
  const entries = new Map<string, { readonly additions: ReadonlySet<Addition>; readonly until: number }>()
  return {
    get(call) {
      const found = entries.size === 0 ? undefined : entries.get(keyOf(call))
      return found && now() < found.until ? found.additions : noAdditions
    },
    remember(call, additions) {
      const key = keyOf(call)
      if (key.length > maxKeyLength) return
      entries.delete(key)
      const [oldest] = entries.keys()
      if (oldest !== undefined && entries.size >= maxEntries) entries.delete(oldest)
      entries.set(key, { additions, until: now() + ttlMs })
    },
  }
}

const noAdditions: ReadonlySet<Addition> = new Set()

/** Callers may name models and fields as they like. */
const maxKeyLength = 2000

const keyOf = ({ user, exchange, route, body }: Call): string => {
  const fields = new Set(body?.json.members().map(({ key }) => key))
  // Whether there is a stream is the gateway's business.
  for (const gatewayField of ['stream', 'stream_options']) fields.delete(gatewayField)
  const model = body?.json.get('model')?.string()
  return JSON.stringify([user, route.upstream.url, exchange.path, model, ...[...fields].sort()])
}

import type { Call } from '../call.ts'
import type { Addition } from './additions.ts'

/** What is left out of requests because the same was refused before. */
export interface RefusedAdditions {
  of(call: Call): ReadonlySet<Addition>
  /** To be told when a call without them has succeeded. */
  keep(call: Call, additions: ReadonlySet<Addition>): void
}

export interface RefusedAdditionsOptions {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Milliseconds after which an upstream is tried anew: it may have learned, or have been misunderstood. Default an hour. */
  readonly keptMs?: number
  /** Default 5000; the oldest is forgotten first. */
  readonly maxKept?: number
}

/**
 * A memory by user, upstream, model and the names of the request's fields: some models refuse streams only together with other fields or with some of their
 * values, and nobody should lose his stream by what he does not send, or somebody else does.
 */
export const createRefusedAdditions = ({
  now,
  keptMs = 3_600_000,
  maxKept = 5000,
}: RefusedAdditionsOptions): RefusedAdditions => {
  const kept = new Map<string, { readonly additions: ReadonlySet<Addition>; readonly until: number }>()
  return {
    of(call) {
      const found = kept.size === 0 ? undefined : kept.get(keyOf(call))
      return found && now() < found.until ? found.additions : none
    },
    keep(call, additions) {
      const key = keyOf(call)
      if (key.length > longestKey) return
      kept.delete(key)
      const [oldest] = kept.keys()
      if (oldest !== undefined && kept.size >= maxKept) kept.delete(oldest)
      kept.set(key, { additions, until: now() + keptMs })
    },
  }
}

const none: ReadonlySet<Addition> = new Set()

/** Callers may name models and fields as they like. */
const longestKey = 2000

const keyOf = ({ user, exchange, served, body }: Call): string => {
  const fields = new Set(body?.json.members().map(({ key }) => key))
  // Whether there is a stream is the gateway's business.
  for (const own of ['stream', 'stream_options']) fields.delete(own)
  const model = body?.json.get('model')?.string()
  return JSON.stringify([user, served.upstream.url, exchange.path, model, ...[...fields].sort()])
}

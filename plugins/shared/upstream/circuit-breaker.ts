import { systemClock } from '../clock.ts'
import { checkAbove0 } from '../plugin/options.ts'
import { noLog } from '../problem.ts'
import { Circuit, type CircuitBreakerOptions, type CircuitState } from './circuit.ts'
import { CircuitOpenError, type Fetch } from './upstream-error.ts'

/** Circuit breakers, one for each upstream and action. */
export interface CircuitBreakers {
  /**
   * A `fetch` that fails at once, with `CircuitOpenError`, while the circuit of the upstream and action is open, and at
   * most `probeWaitMs` later while it is half-open. A call fails if it gets no response, or status 502, 503 or 504. One
   * that its client has left does not count.
   *
   * @param account tells the circuits of several accounts at one address apart. Default: an address has one account
   */
  wrap(fetch: Fetch, account?: string): Fetch
  /** How many circuits have each state, and how many calls were not sent, since the start. */
  counts(): Readonly<Record<CircuitState, number>> & { readonly refused: number }
}

/**
 * Creates circuit breakers: while an upstream fails, callers get their error at once, and hold nothing until a timeout.
 * As it closes within seconds, no failed call is repeated.
 *
 * Throws TypeError for an option that is not above 0.
 *
 * @example
 * const circuits = createCircuitBreakers()
 * const upstream = createUpstream({ kind, fetch: circuits.wrap(fetch) })
 */
export const createCircuitBreakers = (options: CircuitBreakerOptions = {}): CircuitBreakers => {
  const { failures = 5, calls = 20, ratio = 0.5, windowMs = 10_000 } = options
  const { silentMs = 30_000, openMs = 1_000, maxOpenMs = 4_000, probeWaitMs = 1_000 } = options
  const { clock = systemClock, log = noLog } = options
  checkAbove0({ failures, calls, ratio, windowMs, silentMs, openMs, maxOpenMs, probeWaitMs })
  const rules = { failures, calls, ratio, windowMs, silentMs, openMs, maxOpenMs, probeWaitMs, clock, log }
  const circuits = new Map<string, Circuit>()
  let refused = 0
  /** The latest call, because most calls that generate text have the address of the one before. */
  let latest: Readonly<{ account: string | undefined; method: string; url: string; circuit: Circuit }> | undefined

  const circuitOf = (account: string | undefined, method: string, url: string): Circuit => {
    if (latest && latest.url === url && latest.method === method && latest.account === account) return latest.circuit
    const circuit = findCircuit(account, method, url)
    latest = { account, method, url, circuit }
    return circuit
  }

  const findCircuit = (account: string | undefined, method: string, url: string): Circuit => {
    const ofUpstream = actionOf(method, url)
    const action = account === undefined ? ofUpstream : `${account} ${ofUpstream}`
    const found = circuits.get(action)
    if (found) return found
    // No upstream has so many actions: paths with words of callers in them.
    if (circuits.size >= maxCircuits) circuits.clear()
    const circuit = new Circuit(action, rules)
    circuits.set(action, circuit)
    return circuit
  }

  const call = (fetch: Fetch, circuit: Circuit, url: string, init: RequestInit): Promise<Response> => {
    const how = circuit.begin()
    if (how === 'waits') return probeEnd(circuit, init.signal).then(() => call(fetch, circuit, url, init))
    if (how === 'refused') {
      refused++
      return Promise.reject(new CircuitOpenError(circuit.retrySeconds))
    }
    const isProbe = how === 'probe'
    return fetch(url, init).then(
      (response) => {
        circuit.end(failedStatuses.has(response.status) ? 'failed' : 'succeeded', isProbe)
        return response
      },
      (error: unknown) => {
        circuit.end(isLeft(init.signal) ? 'left' : 'unreachable', isProbe)
        throw error
      },
    )
  }

  return {
    wrap: (fetch, account) => (url, init) => call(fetch, circuitOf(account, init.method ?? 'GET', url), url, init),

    counts() {
      const counts = { closed: 0, open: 0, 'half-open': 0, refused }
      for (const circuit of circuits.values()) counts[circuit.state]++
      return counts
    },
  }
}

const maxCircuits = 1_000

/** Statuses of a server that does not reach the one behind it, or has no room. */
const failedStatuses: ReadonlySet<number> = new Set([502, 503, 504])

/** Resolves when the probe of a circuit need not be waited for any longer. Rejects when the signal aborts before. */
const probeEnd = (circuit: Circuit, signal: AbortSignal | null | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const leave = () => {
      cancel()
      // At a time limit, the caller is to know that nothing was sent.
      reject(isLeft(signal) ? signal?.reason : new CircuitOpenError(circuit.retrySeconds))
    }
    const cancel = circuit.onProbeEnd(() => {
      signal?.removeEventListener('abort', leave)
      resolve()
    })
    if (signal?.aborted) leave()
    else signal?.addEventListener('abort', leave, { once: true })
  })

/** Whether the client has left. A time limit aborts with a TimeoutError, and counts as a failure. */
const isLeft = (signal: AbortSignal | null | undefined): boolean =>
  signal?.aborted === true && !(signal.reason instanceof Error && signal.reason.name === 'TimeoutError')

/**
 * The method, the path without ids, and the action of a signed call. Ids of upstreams contain digits. It runs for each
 * call, and nearly each has another address: a cache by address would only keep memory.
 */
const actionOf = (method: string, url: string): string => {
  const query = url.indexOf('?')
  const end = query < 0 ? url.length : query
  let action = `${method} `
  /** All before it is in `action`. */
  let copied = 0
  let segment = url.indexOf('/', url.indexOf('://') + 3)
  while (segment >= 0 && segment < end) {
    const slash = url.indexOf('/', segment + 1)
    const next = slash < 0 ? end : Math.min(slash, end)
    if (hasDigit(url, segment + 1, next)) {
      action += `${url.slice(copied, segment)}/*`
      copied = next
    }
    segment = next
  }
  action += url.slice(copied, end)
  const signed = query < 0 ? null : /[?&]Action=(\w+)/.exec(url)
  return signed ? `${action} ${signed[1]}` : action
}

const hasDigit = (text: string, from: number, to: number): boolean => {
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at)
    if (code >= 0x30 && code <= 0x39) return true
  }
  return false
}

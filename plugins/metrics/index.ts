import { createHash, timingSafeEqual } from 'node:crypto'
import { Elysia } from 'elysia'
import { Counter, Histogram, Registry } from 'prom-client'
import { Problem } from '../shared/problem.ts'

/** What is counted, and the registry it is counted in: further metrics of a host app may be registered there too. */
export interface Metrics {
  readonly registry: Registry
  /** An answer to a caller. */
  request(answer: { method: string; status: number; seconds: number }): void
  /** A call to an upstream that has ended: `status` is 0 when there was no answer. Fits `observe` of `upstream-proxy`. */
  upstream(call: { action: string; status: number; seconds: number }): void
  /** A call of text generation, and its tokens where the upstream reported them. */
  text(call: { model: string; tokens: TextTokens | undefined }): void
}

/** Tokens of one call, whole numbers from 0: `cachedInput` is part of `input`, and `reasoning` of `output`. */
export interface TextTokens {
  readonly input: number
  readonly cachedInput: number
  readonly output: number
  readonly reasoning: number
}

/** Counters of one process, apart from any global registry. */
export const createMetrics = (): Metrics => {
  const registry = new Registry()
  const registers = [registry]
  const seconds = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30]
  const requests = new Counter({
    name: 'sluice_requests_total',
    help: 'Answers to callers.',
    labelNames: ['method', 'status'],
    registers,
  })
  const requestSeconds = new Histogram({
    name: 'sluice_request_seconds',
    help: 'Time until an answer began.',
    buckets: seconds,
    registers,
  })
  const calls = new Counter({
    name: 'sluice_upstream_calls_total',
    help: 'Calls to upstreams; status 0 is no answer.',
    labelNames: ['action', 'status'],
    registers,
  })
  const callSeconds = new Histogram({
    name: 'sluice_upstream_seconds',
    help: 'Time of calls to upstreams.',
    labelNames: ['action'],
    buckets: seconds,
    registers,
  })
  const textCalls = new Counter({
    name: 'sluice_text_calls_total',
    help: 'Calls of text generation, by whether the upstream reported their tokens.',
    labelNames: ['model', 'reported'],
    registers,
  })
  const textTokens = new Counter({
    name: 'sluice_text_tokens_total',
    help: 'Tokens of text generation; cached_input is part of input, reasoning is part of output.',
    labelNames: ['model', 'kind'],
    registers,
  })
  const modelLabel = boundedLabel()
  return {
    registry,
    request({ method, status, seconds }) {
      requests.inc({ method: methods.has(method) ? method : 'other', status })
      requestSeconds.observe(seconds)
    },
    upstream({ action, status, seconds }) {
      calls.inc({ action, status })
      callSeconds.observe({ action }, seconds)
    },
    text({ model: name, tokens }) {
      const model = modelLabel(name)
      textCalls.inc({ model, reported: String(tokens !== undefined) })
      if (!tokens) return
      textTokens.inc({ model, kind: 'input' }, tokens.input)
      textTokens.inc({ model, kind: 'cached_input' }, tokens.cachedInput)
      textTokens.inc({ model, kind: 'output' }, tokens.output)
      textTokens.inc({ model, kind: 'reasoning' }, tokens.reasoning)
    },
  }
}

/** A label that callers choose freely would grow the registry without bound. */
const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** How many models have a label of their own, the first that were asked for; all others share one. */
const mostModels = 200

/** Without control characters and lone surrogates, which could spoil the whole text that Prometheus reads, or make one label of two. */
const plainName = /^[^\p{Cc}\p{Cs}]{1,256}$/u

const boundedLabel = () => {
  const known = new Set<string>()
  return (name: string): string => {
    if (known.has(name)) return name
    if (known.size === mostModels || !plainName.test(name)) return 'other'
    known.add(name)
    return name
  }
}

export interface MetricsOptions {
  readonly metrics: Metrics
  /** Bearer token that opens `/metrics`. Undefined: 404. */
  readonly token: string | undefined
}

/** `GET /metrics` in the Prometheus text format. Throws Problem 401 without the token, 404 when there is none to give. */
export const metrics = ({ metrics, token }: MetricsOptions) =>
  new Elysia({ name: 'sluice/metrics' }).get('/metrics', async ({ request }) => {
    if (token === undefined) throw new Problem(404, 'not found')
    const given = /^bearer +(.+)$/i.exec(request.headers.get('authorization') ?? '')?.[1]
    if (given === undefined || !timingSafeEqual(digest(given), digest(token))) {
      throw new Problem(401, 'not authenticated', { headers: { 'www-authenticate': 'Bearer' } })
    }
    return new Response(await metrics.registry.metrics(), { headers: { 'content-type': metrics.registry.contentType } })
  })

/** Digests are of one length, as a comparison in constant time needs. */
const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

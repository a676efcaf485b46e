import { createHash, timingSafeEqual } from 'node:crypto'
import { Elysia } from 'elysia'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { Problem } from '../shared/problem.ts'
import { Gathered, StatusCounts, TextCounts } from './requests.ts'

/** What is counted, and the registry it is counted in: further metrics of a host app may be registered there too. */
export interface Metrics {
  readonly registry: Registry
  /** An answer to a caller. */
  request(answer: { method: string; status: number; seconds: number }): void
  /** A call to an upstream that has ended: `status` is 0 when there was no answer. Fits `observe` of `upstream-proxy`. */
  upstream(call: { action: string; status: number; seconds: number }): void
  /** How to find out, whenever somebody looks, what is in flight. Fits `counts` of `concurrency-limits`. */
  inFlight(counts: () => { requests: number; streams: number; bodyBytes: number }): void
  /** A call of text generation, whether the upstream took it, and its tokens where the upstream reported them. */
  text(call: { model: string; taken: boolean; tokens: TextTokens | undefined }): void
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
  const requests = new StatusCounts()
  new Counter({
    name: 'sluice_requests_total',
    help: 'Answers to callers.',
    labelNames: ['method', 'status'],
    registers,
    collect() {
      this.reset()
      for (const { name: method, status, count } of requests.all()) this.inc({ method, status }, count)
    },
  })
  const requestSeconds = new Gathered((seconds) => histogram.observe(seconds))
  const histogram = new Histogram({
    name: 'sluice_request_seconds',
    help: 'Time until an answer began.',
    buckets: seconds,
    registers,
    collect: () => requestSeconds.pass(),
  })
  const calls = new StatusCounts()
  new Counter({
    name: 'sluice_upstream_calls_total',
    help: 'Calls to upstreams; status 0 is no answer.',
    labelNames: ['action', 'status'],
    registers,
    collect() {
      this.reset()
      for (const { name: action, status, count } of calls.all()) this.inc({ action, status }, count)
    },
  })
  const callSeconds = new Map<string, Gathered>()
  const callHistogram = new Histogram({
    name: 'sluice_upstream_seconds',
    help: 'Time of calls to upstreams.',
    labelNames: ['action'],
    buckets: seconds,
    registers,
    collect() {
      for (const gathered of callSeconds.values()) gathered.pass()
    },
  })
  const texts = new Map<string, TextCounts>()
  new Counter({
    name: 'sluice_text_calls_total',
    help: 'Calls of text generation, by whether the upstream reported their tokens.',
    labelNames: ['model', 'reported'],
    registers,
    collect() {
      this.reset()
      for (const [model, { reported, unreported }] of texts) {
        if (reported > 0) this.inc({ model, reported: 'true' }, reported)
        if (unreported > 0) this.inc({ model, reported: 'false' }, unreported)
      }
    },
  })
  new Counter({
    name: 'sluice_text_tokens_total',
    help: 'Tokens of text generation; cached_input is part of input, reasoning is part of output.',
    labelNames: ['model', 'kind'],
    registers,
    collect() {
      this.reset()
      for (const [model, { reported, tokens }] of texts) {
        if (reported > 0) for (const [kind, count] of Object.entries(tokens)) this.inc({ model, kind }, count)
      }
    },
  })
  const modelLabel = boundedLabel()
  return {
    registry,
    request({ method, status, seconds }) {
      requests.add(methods.has(method) ? method : 'other', status)
      requestSeconds.add(seconds)
    },
    upstream({ action, status, seconds }) {
      calls.add(action, status)
      let gathered = callSeconds.get(action)
      if (!gathered) {
        gathered = new Gathered((seconds) => callHistogram.observe({ action }, seconds))
        callSeconds.set(action, gathered)
      }
      gathered.add(seconds)
    },
    inFlight(counts) {
      for (const [name, help, read] of [
        ['sluice_requests_in_flight', 'Requests whose answer has not begun.', () => counts().requests],
        ['sluice_streams_open', 'Answers that are streams and have not ended.', () => counts().streams],
        [
          'sluice_body_bytes_held',
          'Bytes of request bodies, and of unread answers, that are held.',
          () => counts().bodyBytes,
        ],
      ] as const) {
        new Gauge({
          ...{ name, help, registers },
          collect() {
            this.set(read())
          },
        })
      }
    },
    text({ model: name, taken, tokens }) {
      const model = modelLabel(name, taken)
      let counts = texts.get(model)
      if (!counts) {
        counts = new TextCounts()
        texts.set(model, counts)
      }
      counts.add(tokens)
    },
  }
}

/** A label that callers choose freely would grow the registry without bound. */
const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** How many models have a label of their own, the first that an upstream has taken a call for; all others, and what is no model, share one. */
const maxModels = 200

/** Without control characters and lone surrogates, which could spoil the whole text that Prometheus reads, or make one label of two. */
const plainName = /^[^\p{Cc}\p{Cs}]{1,256}$/u

const boundedLabel = () => {
  const known = new Set<string>()
  return (name: string, exists: boolean): string => {
    if (known.has(name)) return name
    if (!exists || known.size === maxModels || !plainName.test(name)) return 'other'
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

import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { createSlotMetrics, type SlotMetrics } from './asset-slots.ts'
import { type CallMetrics, createCallMetrics } from './calls.ts'
import { ObservationBuffer, StatusCounts } from './requests.ts'
import { registerProcesses } from './snapshot.ts'
import { createTextMetrics, type TextMetrics } from './texts.ts'
import { createVideoMetrics, type VideoMetrics } from './video-tasks.ts'

/** The metrics of one process, and their registry, where a host app can register further metrics. */
export interface Metrics extends CallMetrics, TextMetrics, VideoMetrics, SlotMetrics {
  readonly registry: Registry
  /** Counts a response. */
  request(response: { method: string; status: number; seconds: number }): void
  /**
   * Adds metrics whose values come from `counts` at each scrape. For `counts` of `concurrency-limits`. What it has
   * refused because too many waited counts as a response, too: a server refuses it before the app.
   */
  inFlight(counts: () => InFlightCounts): void
}

/** Counts of requests in flight. */
export interface InFlightCounts {
  readonly requests: number
  readonly streams: number
  readonly bodyBytes: number
  /** Requests that wait until the process handles them. Default 0. */
  readonly waiting?: number
  /** Requests since the start that were rejected because too many waited. Default 0. */
  readonly refused?: number
}

/**
 * Creates the metrics of one process, in a registry of their own.
 *
 * @example
 * const recorder = createMetrics()
 * new Elysia().use(metrics({ metrics: recorder, token: 'a token that nobody guesses' }))
 */
export const createMetrics = (): Metrics => {
  const registry = new Registry()
  const registers = [registry]
  const requests = new StatusCounts()
  let waitingRefused = () => 0
  new Counter({
    name: 'sluice_requests_total',
    help: 'Responses to callers; status 499: the caller disconnected before the response.',
    labelNames: ['method', 'status'],
    registers,
    collect() {
      this.reset()
      for (const { name: method, status, count } of requests.all()) this.inc({ method, status }, count)
      const refused = waitingRefused()
      if (refused > 0) this.inc({ method: 'other', status: 503 }, refused)
    },
  })
  const requestSeconds = new ObservationBuffer((seconds) => histogram.observe(seconds))
  const histogram = new Histogram({
    name: 'sluice_request_seconds',
    help: 'Time until a response started.',
    buckets,
    registers,
    collect: () => requestSeconds.flush(),
  })
  new Gauge({
    name: 'sluice_processes',
    help: 'Processes that serve requests.',
    registers,
    collect() {
      this.set(1)
    },
  })
  registerProcesses(registry, { configured: 1, unresponsive: 0 })
  return {
    registry,
    request({ method, status, seconds }) {
      requests.add(methods.has(method) ? method : 'other', status)
      requestSeconds.add(seconds)
    },
    ...createCallMetrics(registers, buckets),
    ...createTextMetrics(registers),
    ...createVideoMetrics(registers),
    ...createSlotMetrics(registers),
    inFlight(counts) {
      waitingRefused = () => counts().refused ?? 0
      for (const [name, help, read] of [
        ['sluice_requests_in_flight', 'Requests whose response has not started.', () => counts().requests],
        ['sluice_requests_waiting', 'Requests that are not handled yet.', () => counts().waiting ?? 0],
        ['sluice_streams_open', 'Open response streams.', () => counts().streams],
        [
          'sluice_body_bytes_held',
          'Bytes of request bodies and of unread responses in memory.',
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
      let counted = 0
      new Counter({
        ...{
          name: 'sluice_waiting_requests_refused_total',
          help: 'Requests rejected because too many waited.',
          registers,
        },
        collect() {
          const { refused = 0 } = counts()
          this.inc(refused - counted)
          counted = refused
        },
      })
    },
  }
}

/** Upper bounds of the histograms, in seconds. */
const buckets = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30]

/** Methods with a label of their own. Callers can invent others, which would grow the registry without bound. */
const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

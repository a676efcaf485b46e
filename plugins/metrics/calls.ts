import { Counter, Histogram, type Registry } from 'prom-client'
import { ObservationBuffer, StatusCounts } from './requests.ts'

/** The metrics of calls to upstreams. */
export interface CallMetrics {
  /**
   * Counts a completed upstream call; `status` is 0 without a response. `upstream` is a label, and must come from the
   * configuration. For the option `observe` of `upstream-proxy` and `text-generation`.
   */
  upstream(call: { action: string; upstream?: string | undefined; status: number; seconds: number }): void
  /** Counts a read that was sent again, or was not. For the option `observeRetry` of `upstream-proxy`. */
  retry(outcome: 'sent' | 'refused'): void
}

export const createCallMetrics = (registers: Registry[], buckets: number[]): CallMetrics => {
  const calls = new Map<string | undefined, UpstreamCalls>()
  new Counter({
    name: 'sluice_upstream_calls_total',
    help: 'Calls to upstreams; status 0: no response.',
    labelNames: ['upstream', 'action', 'status'],
    registers,
    collect() {
      this.reset()
      for (const [upstream, { counts }] of calls)
        for (const { name: action, status, count } of counts.all())
          this.inc({ ...labelOf(upstream), action, status }, count)
    },
  })
  const callHistogram = new Histogram({
    name: 'sluice_upstream_seconds',
    help: 'Duration of calls to upstreams.',
    labelNames: ['upstream', 'action'],
    buckets,
    registers,
    collect() {
      for (const { seconds } of calls.values()) for (const durations of seconds.values()) durations.flush()
    },
  })
  const retries = new Counter({
    name: 'sluice_upstream_retries_total',
    help: 'Reads whose call failed before the response: sent again, or refused, to spare the upstream.',
    labelNames: ['outcome'],
    registers,
  })
  return {
    retry: (outcome) => retries.inc({ outcome }),
    upstream({ action, upstream, status, seconds }) {
      let own = calls.get(upstream)
      if (!own) {
        own = { counts: new StatusCounts(), seconds: new Map() }
        calls.set(upstream, own)
      }
      own.counts.add(action, status)
      let durations = own.seconds.get(action)
      if (!durations) {
        const labels = { ...labelOf(upstream), action }
        durations = new ObservationBuffer((seconds) => callHistogram.observe(labels, seconds))
        own.seconds.set(action, durations)
      }
      durations.add(seconds)
    },
  }
}

/** The calls to one upstream. */
interface UpstreamCalls {
  readonly counts: StatusCounts
  /** By action. */
  readonly seconds: Map<string, ObservationBuffer>
}

/** The label of an upstream. Without a name there is none. */
const labelOf = (upstream: string | undefined) => (upstream === undefined ? {} : { upstream })

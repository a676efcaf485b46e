import { Counter, Gauge, type Registry } from 'prom-client'
import type { CircuitBreakers, CircuitState } from '../../../plugins/shared/upstream/circuit-breaker.ts'

const states: readonly CircuitState[] = ['closed', 'open', 'half-open']

/** Adds the circuits of the upstreams to a registry. */
export const observeCircuits = (registry: Registry, circuits: Pick<CircuitBreakers, 'counts'>): void => {
  new Gauge({
    name: 'sluice_upstream_circuits',
    help: 'Upstreams and actions by the state of their circuit. Calls to an open one fail at once.',
    labelNames: ['state'],
    aggregator: 'max',
    registers: [registry],
    collect() {
      const counts = circuits.counts()
      for (const state of states) this.set({ state }, counts[state])
    },
  })
  let counted = 0
  new Counter({
    name: 'sluice_upstream_calls_refused_total',
    help: 'Calls that failed at once, because the circuit of their upstream was open.',
    registers: [registry],
    collect() {
      const { refused } = circuits.counts()
      this.inc(refused - counted)
      counted = refused
    },
  })
}

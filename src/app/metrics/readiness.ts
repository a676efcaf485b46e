import { Gauge, type Registry } from 'prom-client'
import { type Health, type PartState, partStates, stateOf } from '../health.ts'

/** Longest wait for a part at a scrape. The metrics of all workers are read within a second. */
const maxWaitMs = 500

/** Adds the states of the database and of the storage, as `/readyz` reports them, to a registry. */
export const observeReadiness = (registry: Registry, { database, storage }: Pick<Health, 'database' | 'storage'>) => {
  new Gauge({
    name: 'sluice_readiness',
    help: 'The state of the database and of the storage: 1 for the state in which a process finds it, otherwise 0.',
    labelNames: ['part', 'state'],
    // Of several processes, each one that finds a part in another state.
    aggregator: 'max',
    registers: [registry],
    async collect() {
      const parts = Object.entries({ database, storage })
      const found = await Promise.all(
        parts.map(async ([part, check]) => [part, check && (await within(check))] as const),
      )
      for (const [part, current] of found)
        if (current) for (const state of partStates) this.set({ part, state }, Number(state === current))
    },
  })
}

const within = (check: () => Promise<void>): Promise<PartState> => {
  const { promise, resolve } = Promise.withResolvers<PartState>()
  const timeout = setTimeout(() => resolve('down'), maxWaitMs)
  void stateOf(check).then(resolve)
  return promise.finally(() => clearTimeout(timeout))
}

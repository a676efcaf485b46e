import { Counter, Gauge, type Registry } from 'prom-client'

/** The metrics of an asset library that is larger than its slots. */
export interface SlotMetrics {
  /**
   * Counts a change of what has a slot. `account`: its name, where there are several; it is a label, and must come from
   * the configuration. For `slots.observeChange` of `asset-library`.
   */
  assetSlotChange(change: 'created' | 'recreated' | 'evicted', account?: string): void
  /** Sets the gauges of the slots of an account. For `slots.observeCounts` of `asset-library`. */
  assetSlots(counts: SlotCounts): void
}

interface SlotCounts {
  readonly used: number
  readonly waiting: number
  readonly limit?: number | undefined
  readonly account?: string | undefined
}

/** Age at which counts are no longer reported, in milliseconds: another process reports them by then. */
const maxAgeMs = 30_000

/** Adds the metrics to registries. */
export const createSlotMetrics = (registers: Registry[]): SlotMetrics => {
  const known = new Map<string | undefined, { readonly at: number; readonly counts: SlotCounts }>()
  const changes = new Counter({
    name: 'sluice_asset_slot_changes_total',
    help: 'Assets that were created at the upstream for the first time or again, and that have lost their slot to another one.',
    labelNames: ['upstream', 'change'],
    registers,
  })
  new Gauge({
    name: 'sluice_asset_slots',
    help: 'Slots of the asset library that are used, their limit, and video tasks and requests that wait for one. One process reports them.',
    labelNames: ['upstream', 'state'],
    aggregator: 'max',
    registers,
    collect() {
      this.reset()
      for (const [account, { at, counts }] of known) {
        if (performance.now() - at > maxAgeMs) continue
        const { used, waiting, limit } = counts
        for (const [state, count] of Object.entries({ used, waiting, limit }))
          if (count !== undefined) this.set({ ...labelOf(account), state }, count)
      }
    },
  })
  return {
    assetSlotChange: (change, account) => changes.inc({ ...labelOf(account), change }),
    assetSlots: (counts) => known.set(counts.account, { at: performance.now(), counts }),
  }
}

const labelOf = (upstream: string | undefined) => (upstream === undefined ? {} : { upstream })

import { Counter, Gauge, type Registry } from 'prom-client'

/** The metrics of an asset library that is larger than its slots. */
export interface SlotMetrics {
  /** Counts a change of what has a slot. For `slots.observeChange` of `asset-library`. */
  assetSlotChange(change: 'created' | 'recreated' | 'evicted'): void
  /** Sets the gauges of the slots. For `slots.observeCounts` of `asset-library`. */
  assetSlots(counts: { readonly used: number; readonly waiting: number; readonly limit?: number | undefined }): void
}

/** Age at which counts are no longer reported, in milliseconds: another process reports them by then. */
const maxAgeMs = 30_000

/** Adds the metrics to registries. */
export const createSlotMetrics = (registers: Registry[]): SlotMetrics => {
  let known: { readonly at: number; readonly counts: Parameters<SlotMetrics['assetSlots']>[0] } | undefined
  const changes = new Counter({
    name: 'sluice_asset_slot_changes_total',
    help: 'Assets that were created at the upstream for the first time or again, and that have lost their slot to another one.',
    labelNames: ['change'],
    registers,
  })
  new Gauge({
    name: 'sluice_asset_slots',
    help: 'Slots of the asset library that are used, their limit, and video tasks and requests that wait for one. One process reports them.',
    labelNames: ['state'],
    aggregator: 'max',
    registers,
    collect() {
      this.reset()
      if (!known || performance.now() - known.at > maxAgeMs) return
      const { used, waiting, limit } = known.counts
      for (const [state, count] of Object.entries({ used, waiting, limit }))
        if (count !== undefined) this.set({ state }, count)
    },
  })
  return {
    assetSlotChange: (change) => changes.inc({ change }),
    assetSlots(counts) {
      known = { at: performance.now(), counts }
    },
  }
}

import type { LeaseStore } from '../../../shared/background/lease-store.ts'
import type { VideoTaskStore } from '../task-store.ts'
import { rowKey, transact } from './transaction.ts'

interface Lease {
  readonly holder: string
  readonly until: number
}

/** A lease that ends later than this many of its lengths from now was taken by a process whose clock was ahead. */
const maxLengths = 10

const keyOf = (name: string): string => rowKey('lease', name)

/** Named leases. */
export const leasesOn = (store: VideoTaskStore): LeaseStore => ({
  takeLease: (name, holder, now, until) =>
    transact(store, async (transaction) => {
      const value = await transaction.read(keyOf(name))
      const held: Lease | undefined = value === undefined ? undefined : JSON.parse(value)
      const isHeld = held && held.until > now && held.until <= now + maxLengths * (until - now)
      if (isHeld && held.holder !== holder) return false
      const lease: Lease = { holder, until }
      transaction.write(keyOf(name), JSON.stringify(lease), [])
      return true
    }),

  releaseLease: (name, holder) =>
    transact(store, async (transaction) => {
      const value = await transaction.read(keyOf(name))
      if (value !== undefined && (JSON.parse(value) as Lease).holder === holder) transaction.remove(keyOf(name))
    }),
})

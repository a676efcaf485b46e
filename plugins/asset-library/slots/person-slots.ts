import type { Clock } from '../../shared/clock.ts'
import { type Log, Problem } from '../../shared/problem.ts'
import { storeCall } from '../../shared/store-call.ts'
import { mayHaveCreated, type PersonSlots } from '../routes/library.ts'
import type { SlotOptions } from './options.ts'
import type { SlottedAsset } from './store.ts'

/** Assets that lose their slots for one creation. More than one: the upstream counts other objects too. */
export const maxEvictions = 4

interface PersonSlotsOptions extends Required<Pick<SlotOptions, 'store' | 'floor' | 'cap'>> {
  readonly claimMs: number
  readonly clock: Pick<Clock, 'now'>
  readonly log: Log
  readonly slotCount: () => Promise<number>
  readonly evict: (victim: SlottedAsset) => Promise<void>
}

export const createPersonSlots = (options: PersonSlotsOptions): PersonSlots => {
  const { store, floor, cap, claimMs, clock, log, slotCount, evict } = options
  const inStore = <Value>(call: Promise<Value>): Promise<Value> => storeCall(call, 'the slot could not be recorded')

  const claim = async (id: string, user: string): Promise<void> => {
    for (let evictions = 0; ; evictions++) {
      const slots = await slotCount()
      const now = clock.now()
      const claimed = await inStore(
        store.claimPersonSlot({ ...{ id, user, slots, floor, cap, now }, leaseUntil: now + claimMs }),
      )
      if (claimed.outcome === 'claimed') return
      if (claimed.outcome !== 'evict') throw noSlot(claimed.outcome)
      if (evictions === maxEvictions) throw noSlot('full')
      await evict(claimed.victim)
    }
  }

  return {
    async take(user, create) {
      const id = crypto.randomUUID()
      await claim(id, user)
      let isOver = true
      try {
        return await create()
      } catch (error) {
        // The asset may exist: the claim lasts until the call must have ended.
        isOver = !mayHaveCreated(error)
        throw error
      } finally {
        if (isOver)
          await store
            .releasePersonSlot(id)
            .catch((err: unknown) => log.warn({ err, user }, 'a slot could not be given back; it ends with its lease'))
      }
    },
  }
}

const noSlot = (outcome: 'full' | 'capped'): Problem =>
  new Problem(
    429,
    outcome === 'capped'
      ? 'you have the maximum number of assets in slots: delete an asset of a person'
      : 'the account has no slot for another asset of a person',
  )

import type { Clock } from '../../shared/clock.ts'
import { type Log, Problem } from '../../shared/problem.ts'
import { storeCall } from '../../shared/store-call.ts'
import { mayHaveCreated } from '../routes/library.ts'
import type { SlotOptions } from './options.ts'
import type { SlotAccount, SlottedAsset } from './store.ts'

/** Assets that lose their slots for one creation. More than one: the upstream counts other objects too. */
export const maxEvictions = 4

/** The slots of assets of persons on one account. */
export interface PersonSlotsOfAccount {
  /** As `PersonSlots` has it. */
  take<Created>(user: string, create: (slot: string) => Promise<Created>): Promise<Created>
}

interface PersonSlotsOptions extends Pick<SlotOptions, 'store' | 'floor' | 'cap'> {
  readonly account: SlotAccount
  readonly claimMs: number
  readonly clock: Pick<Clock, 'now'>
  readonly log: Log
  readonly slotCount: () => Promise<number>
  readonly evict: (victim: SlottedAsset) => Promise<void>
}

export const createPersonSlots = (options: PersonSlotsOptions): PersonSlotsOfAccount => {
  const { store, account, floor = 0, cap, claimMs, clock, log, slotCount, evict } = options
  const inStore = <Value>(call: Promise<Value>): Promise<Value> => storeCall(call, 'the slot could not be recorded')

  const claim = async (id: string, user: string): Promise<void> => {
    for (let evictions = 0; ; evictions++) {
      const slots = await slotCount()
      const now = clock.now()
      const claimed = await inStore(
        store.claimPersonSlot({
          ...{ id, user, account, slots, floor, now, leaseUntil: now + claimMs },
          cap: cap ?? Number.MAX_SAFE_INTEGER,
          maxPersons: maxPersonsOf(slots, { floor, cap }),
        }),
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
        return await create(id)
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

/** Without a floor and a cap, nothing else would keep one user from all slots of the account for good. */
const maxPersonsOf = (slots: number, { floor, cap }: { readonly floor: number; readonly cap: number | undefined }) =>
  cap ?? (floor > 0 ? Number.MAX_SAFE_INTEGER : Math.max(1, Math.floor(slots / 2)))

const noSlot = (outcome: 'full' | 'capped'): Problem =>
  new Problem(
    429,
    outcome === 'capped'
      ? 'you have the maximum number of assets in slots: delete an asset of a person'
      : 'the account has no slot for another asset of a person',
  )

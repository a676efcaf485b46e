import {
  maxBlockMs,
  maxServedAgeMs,
  type PermitRequest,
  type RateLimitPermit,
  type RateLimitStore,
  reservationMs,
} from './store.ts'

interface Slot {
  readonly number: number
  freeAt: number
  leaseUntil: number
}

interface Turn {
  servedAt: number
  waitsUntil: number
}

interface Action {
  readonly slots: Slot[]
  readonly turns: Map<string, Turn>
}

/**
 * A rate limit store in memory. It does not coordinate with other processes. Gateways in one process can share an
 * instance.
 */
export const memoryRateLimitStore = (): RateLimitStore => {
  const actions = new Map<string, Action>()

  const open = (name: string, count = 0): Action => {
    const action: Action = actions.get(name) ?? { slots: [], turns: new Map() }
    actions.set(name, action)
    const freeAt = Math.min(...action.slots.map((slot) => slot.freeAt))
    while (action.slots.length < count) {
      action.slots.push({ number: action.slots.length, freeAt: Number.isFinite(freeAt) ? freeAt : 0, leaseUntil: 0 })
    }
    return action
  }

  const freeFrom = ({ freeAt, leaseUntil }: Slot, { now, periodMs }: PermitRequest): number =>
    Math.max(freeAt, Math.min(leaseUntil, now + periodMs))

  const findFree = (slots: readonly Slot[], wanted: PermitRequest): Slot | undefined =>
    slots.find((slot) => slot.freeAt <= wanted.now && slot.leaseUntil <= wanted.now)

  const takeSlot = (slot: Slot, { action, leaseUntil }: PermitRequest): RateLimitPermit => {
    slot.leaseUntil = leaseUntil
    return { action, number: slot.number, leaseUntil }
  }

  return {
    async take(wanted) {
      const { slots, turns } = open(wanted.action, wanted.count)
      for (const turn of turns.values()) if (turn.waitsUntil > wanted.now) return undefined
      const slot = findFree(slots.slice(0, wanted.count), wanted)
      return slot && takeSlot(slot, wanted)
    },

    async takeInTurn(wanted) {
      const { user, now, count, periodMs } = wanted
      const { slots, turns } = open(wanted.action, count)
      for (const slot of slots) if (slot.freeAt > now + maxBlockMs(wanted)) slot.freeAt = now
      const turn = turns.get(user) ?? { servedAt: 0, waitsUntil: 0 }
      const usable = slots.slice(0, count).sort((a, b) => a.freeAt - b.freeAt)
      const slot = findFree(usable, wanted)
      const othersFirst = [...turns.entries()].some(
        ([name, other]) => name !== user && other.waitsUntil > now && other.servedAt < turn.servedAt,
      )
      if (slot && (!othersFirst || slot.freeAt <= now - reservationMs)) {
        // Moves the user to the end of the map, so that `deleteOldTurns` finds the oldest turns first.
        turns.delete(user)
        turns.set(user, { servedAt: now, waitsUntil: 0 })
        deleteOldTurns(turns, now - maxServedAgeMs)
        return takeSlot(slot, wanted)
      }
      turn.waitsUntil = now + 2 * periodMs
      turns.set(user, turn)
      const nextAt = slot ? slot.freeAt + reservationMs : Math.min(...usable.map((each) => freeFrom(each, wanted)))
      return { nextAt, servedAt: turn.servedAt }
    },

    async release(permit, at, spreadMs = 0) {
      const { slots } = open(permit.action)
      const slot = slots[permit.number]
      if (slot?.leaseUntil !== permit.leaseUntil) return
      const spread = spreadMs > 0 ? Math.max(...slots.map((each) => each.freeAt)) + spreadMs : 0
      slot.freeAt = Math.max(slot.freeAt, at, spread)
      slot.leaseUntil = 0
    },

    async delayUntil(name, until, spreadMs) {
      for (const slot of open(name).slots) slot.freeAt = Math.max(slot.freeAt, until + slot.number * spreadMs)
    },
  }
}

const deleteOldTurns = (turns: Map<string, Turn>, before: number): void => {
  for (const [user, turn] of turns) {
    if (turn.servedAt >= before) return
    if (turn.waitsUntil <= before + maxServedAgeMs) turns.delete(user)
  }
}

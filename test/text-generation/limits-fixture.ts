import {
  type Amounts,
  type LimitedCall,
  LimitProblem,
  type UsageLimits,
  type UsageReservation,
} from '../../plugins/usage-limits/index.ts'

/** Limits of one user in memory, without windows and waits. */
export interface MemoryLimits extends UsageLimits {
  /** The calls that asked, with what they asked for. */
  readonly asked: (Omit<LimitedCall, 'uses' | 'atLeast'> & { readonly uses: Amounts; readonly atLeast: Amounts })[]
  readonly used: Record<string, number>
  readonly held: Record<string, number>
  readonly extensions: Amounts[]
  /** Calls whose reservation has not ended. */
  readonly reserved: () => number
}

type Unit = keyof Amounts

const unitsOf = (amounts: Amounts) => Object.entries(amounts) as [Unit, number][]

/** @param amounts of the units that have a limit. Without any, no limit applies */
export const memoryLimits = (amounts: Amounts): MemoryLimits => {
  const used: Record<string, number> = {}
  const held: Record<string, number> = {}
  const asked: MemoryLimits['asked'] = []
  const extensions: Amounts[] = []
  const open = new Set<object>()
  /** The unit that has no room. */
  const fullUnit = (uses: Amounts) =>
    unitsOf(uses).find(([unit, amount]) => {
      const limit = amounts[unit]
      return limit !== undefined && (used[unit] ?? 0) + (held[unit] ?? 0) + amount > limit
    })
  const add = (to: Record<string, number>, unit: Unit, amount: number) => {
    if (amounts[unit] !== undefined) to[unit] = (to[unit] ?? 0) + amount
  }
  return {
    asked,
    used,
    held,
    extensions,
    reserved: () => open.size,
    reserve(call) {
      const uses = typeof call.uses === 'function' ? call.uses() : call.uses
      const atLeast = (typeof call.atLeast === 'function' ? call.atLeast() : call.atLeast) ?? uses
      asked.push({ ...call, uses, atLeast })
      if (Object.keys(amounts).length === 0) return undefined
      const [full] = fullUnit({ ...uses, ...atLeast }) ?? []
      if (full) {
        const subject = { type: 'user', id: call.user, name: 'ann' } as const
        throw new LimitProblem({ limit: { unit: full, amount: amounts[full] ?? 0, window: 'day' }, subject }, 0)
      }
      const own: Record<string, number> = {}
      const take = (more: Amounts) => {
        for (const [unit, amount] of unitsOf(more)) {
          add(held, unit, amount)
          own[unit] = (own[unit] ?? 0) + amount
        }
      }
      const giveBack = (unit: Unit) => {
        add(held, unit, -(own[unit] ?? 0))
        delete own[unit]
      }
      /** What is left of it, at most. */
      const attainable = (wanted: Amounts): Amounts =>
        Object.fromEntries(
          unitsOf(wanted).map(([unit, amount]) => {
            const left = (amounts[unit] ?? Number.POSITIVE_INFINITY) - (used[unit] ?? 0) - (held[unit] ?? 0)
            return [unit, Math.min(amount, left)]
          }),
        )
      take(attainable(uses))
      open.add(own)
      const reservation: UsageReservation = {
        get reserved() {
          return Object.fromEntries(Object.entries(own).filter(([unit]) => amounts[unit as Unit] !== undefined))
        },
        extend(more, least = more) {
          extensions.push(more)
          if (fullUnit(least)) return false
          take(attainable(more))
          return true
        },
        settle(amounts) {
          for (const [unit, amount] of unitsOf(amounts)) {
            giveBack(unit)
            add(used, unit, amount)
          }
        },
        release() {
          open.delete(own)
          for (const unit of Object.keys(own) as Unit[]) giveBack(unit)
        },
        hold: async () => {},
        headers: () => ({ 'x-ratelimit-remaining-tokens': String((amounts.tokens ?? 0) - (held.tokens ?? 0)) }),
      }
      return reservation
    },
    report: async () => [],
    usedRatios: () => [],
    stop: async () => {},
  }
}

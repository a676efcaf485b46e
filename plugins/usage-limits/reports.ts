import type { UsageCounter } from './ledger/counter.ts'
import type { LimitUnit } from './limit.ts'
import type { LimitUse } from './store.ts'
import type { LimitReport, LimitUsedRatio } from './usage-limits.ts'

/** A limit as callers see it. The counts of this process are newer than those of the store. */
export const reportOf = (counter: UsageCounter, use: LimitUse, now: number): LimitReport => {
  const { limit, block, amount } = counter
  const { type, id, name } = counter.subject
  const { unit, window = null, model = null } = limit
  const unsent = block.used + block.sentUsed
  const used = use.used + unsent
  const reserved = Math.max(0, use.allHeld - block.free - unsent)
  const { endsAt, slides } = block.counter
  const emptyAt = slides && (use.lastStep === undefined ? now : use.lastStep + slides.stepMs + slides.lengthMs)
  const resetsAt = endsAt ?? emptyAt
  return {
    subject: { type, id, name },
    ...{ unit, window, model },
    amount: limit.amount,
    used: shown(unit, used),
    reserved: shown(unit, reserved),
    remaining: shown(unit, Math.max(0, amount - used - reserved)),
    resets_at: resetsAt === undefined ? null : new Date(resetsAt).toISOString(),
  }
}

const shown = (unit: LimitUnit, amount: number): number => (unit === 'cost' ? amount / 1e9 : amount)

/** The highest ratios of the counters whose use in the present window is known. */
export const usedRatiosOf = (counters: Iterable<UsageCounter>): readonly LimitUsedRatio[] => {
  const highest = new Map<string, LimitUsedRatio>()
  for (const { subject, limit, amount, counts, block } of counters) {
    if (!counts || amount === 0) continue
    const ratio = (counts.used + block.used + block.sentUsed) / amount
    const key = `${subject.type} ${limit.unit} ${limit.window}`
    if (ratio > (highest.get(key)?.ratio ?? -1)) {
      highest.set(key, { subjectType: subject.type, unit: limit.unit, window: limit.window, ratio })
    }
  }
  return [...highest.values()]
}

import { type CalendarWindow, createCalendar } from '../../../plugins/usage-limits/calendar.ts'
import type { Limit } from '../../../plugins/usage-limits/limit.ts'

/** A call as the upstream knows it: the upstream knows nothing of limits. */
export interface UpstreamCall {
  readonly user: string
  readonly token: string
  readonly model: string
  /** Continues as a task, without a stream. */
  readonly isTask?: boolean
  /** When the gateway has let tokens through, and how many. */
  readonly grants: { readonly at: number; readonly tokens: number }[]
  /** Tokens that it has generated so far. */
  tokens: number
  /** Undefined: it is running. */
  endedAt?: number
  /** When its process was cut off from the store for longer than a lease. What it had by then counts from that time on. */
  lostAt?: number
}

/** A limit, and whose calls it counts. */
export interface JudgedLimit {
  readonly name: string
  readonly limit: Limit
  readonly covers: (call: UpstreamCall) => boolean
}

const slidingMs: Readonly<Record<string, number>> = { minute: 60_000, hour: 3_600_000 }

/** Says what calls have used, and may still use, of a limit in the window of a time. */
export const createJudge = (timeZone: string) => {
  const calendar = createCalendar(timeZone)

  /** A call that runs from one window into the next has tokens in each, in the order in which they were let through. */
  const tokensIn = ({ grants, tokens, endedAt }: UpstreamCall, start: number, end: number): number => {
    let left = endedAt === undefined ? Number.POSITIVE_INFINITY : tokens
    let inside = 0
    for (const [index, grant] of grants.entries()) {
      const isLast = index === grants.length - 1
      const part = isLast && endedAt !== undefined ? left : Math.min(left, grant.tokens)
      left -= part
      if (grant.at >= start && grant.at < end) inside += part
    }
    return inside
  }

  return (calls: readonly UpstreamCall[], { limit, covers }: JudgedLimit, at: number): number => {
    const { unit, window } = limit
    let sum = 0
    const length = slidingMs[window ?? '']
    const { start, end } =
      window === undefined || length !== undefined
        ? { start: Number.NEGATIVE_INFINITY, end: Number.POSITIVE_INFINITY }
        : calendar.periodAt(window as CalendarWindow, at)
    for (const call of calls) {
      if (!covers(call) || !call.model.startsWith((limit.model ?? '').replace('*', ''))) continue
      const { endedAt, grants, tokens } = call
      const isRunning = endedAt === undefined
      if (unit === 'streams') sum += Number(isRunning && !call.isTask)
      else if (length !== undefined && !isRunning && endedAt <= at - length) continue
      else if (unit === 'requests') {
        const startedAt = grants[0]?.at ?? 0
        if (startedAt >= start && startedAt < end) sum++
      } else if (length !== undefined) {
        const lost = call.lostAt === undefined ? 0 : tokensIn(call, start, Math.min(call.lostAt, at - length))
        sum += (isRunning ? tokensIn(call, start, end) : tokens) - lost
      } else sum += tokensIn(call, start, end)
    }
    return sum
  }
}

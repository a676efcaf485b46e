import { type Json, readJson, repeatsKey } from '../../plugins/shared/json/json.ts'
import { type Limit, parseLimits } from '../../plugins/usage-limits/index.ts'
import type { Read } from './environment/reader.ts'

/** Limits of everybody together, and of each user without a list of their own. */
export interface UsageLimitsConfig {
  readonly accountLimits: readonly Limit[]
  readonly userLimits: readonly Limit[]
  /** IANA name of the time zone in which days, weeks and months begin. */
  readonly timeZone: string
}

/** Reads `ACCOUNT_LIMITS`, `USER_LIMITS` and `LIMITS_TIME_ZONE`. */
export const readUsageLimits = (read: Read, addProblem: (problem: string) => void): UsageLimitsConfig => {
  const limitsOf = (name: string): readonly Limit[] => {
    const json = read(name, 'must be a list of limits, as JSON', parsedJson)
    if (!json) return []
    const limits = repeatsKey(json.json) ? { problem: 'a field stands twice in an entry' } : parseLimits(json.value)
    if (!('problem' in limits)) return limits
    addProblem(`${name}: ${limits.problem}`)
    return []
  }
  return {
    accountLimits: limitsOf('ACCOUNT_LIMITS'),
    userLimits: limitsOf('USER_LIMITS'),
    timeZone:
      read('LIMITS_TIME_ZONE', 'must be the IANA name of a time zone, such as Asia/Shanghai', timeZone) ?? 'UTC',
  }
}

const parsedJson = (text: string): { readonly json: Json; readonly value: unknown } | undefined => {
  try {
    const json = readJson(text)
    return { json, value: json.value() }
  } catch {
    return undefined
  }
}

/** Intl also accepts offsets such as `+08:00`, which have no rules for the change of clock. */
const timeZone = (text: string): string | undefined => {
  try {
    return /^[A-Za-z]/.test(text)
      ? new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone
      : undefined
  } catch {
    return undefined
  }
}

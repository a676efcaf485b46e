export { type InvalidLimits, type Limit, type LimitUnit, type LimitWindow, parseLimits } from './limit.ts'
export { LimitProblem, type ReachedLimit } from './limit-problem.ts'
export type {
  Amounts,
  LimitedCall,
  LimitReport,
  LimitSubject,
  LimitUsedRatio,
  UsageLimits,
  UsageReservation,
} from './usage-limits.ts'

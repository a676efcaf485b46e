export { type UsageLimitsOptions, usageLimits } from './create.ts'
export { type InvalidLimits, type Limit, type LimitUnit, type LimitWindow, parseLimits } from './limit.ts'
export { LimitProblem, type ReachedLimit } from './limit-problem.ts'
export {
  firstStep,
  grantOf,
  type HeldMove,
  type LimitChange,
  type LimitCounter,
  type LimitCounts,
  type LimitExchange,
  type LimitStore,
  type LimitSubjects,
  type LimitUse,
  type SlidingWindow,
  type SubjectLimits,
  stepOf,
} from './store.ts'
export type {
  Amounts,
  LimitedCall,
  LimitReport,
  LimitSubject,
  LimitUsedRatio,
  UsageLimits,
  UsageReservation,
} from './usage-limits.ts'

import type { LimitReport } from '../../usage-limits/index.ts'
import type { RuleViolation } from './request/model-rules.ts'

/** What a request refers to. */
export interface TaskReference {
  /** Path of the item in `content`. */
  readonly param: string
  readonly kind: 'asset' | 'address' | 'data' | 'draft'
  /** Of the asset or the draft, which are the caller's own. Null: it has none. */
  readonly id: string | null
}

/** A limit that a task would use, as `GET /api/limits` shows it, and what the task needs of it. */
export interface NeededLimit extends LimitReport {
  readonly needed: number
}

/** What a task would use, cost and wait for, if it were created now. */
export interface TaskEstimate {
  readonly dry_run: true
  readonly model: string
  readonly usage: {
    readonly completion_tokens: number
    /** Of the video. */
    readonly seconds: number
    /** Whether the upstream will report exactly that. False: it is the most. */
    readonly exact: boolean
  }
  /** In currency units. Null: the model has no price. */
  readonly cost: number | null
  readonly limits: readonly NeededLimit[]
  readonly references: readonly TaskReference[]
  /** What the vendor's published rules for the model do not allow. Empty also where the model is not known. */
  readonly violations: readonly RuleViolation[]
  /** Null: it would start at once, or the gateway has no queue for the model. */
  readonly queue: { readonly position: number; readonly seconds: number | null } | null
}

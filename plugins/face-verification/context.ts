import type { Audit } from '../shared/audit.ts'
import type { Clock } from '../shared/clock.ts'
import { type Log, Problem } from '../shared/problem.ts'
import type { Upstream } from '../upstream-proxy/index.ts'
import type { FaceGroupStore, VerificationStore } from './store.ts'

/** What both kinds work with. Times are milliseconds. */
export interface FaceContext {
  readonly upstream: Upstream
  readonly store: VerificationStore & FaceGroupStore
  readonly clock: Clock
  readonly log: Log
  readonly audit: Audit
  /** Life of a task. */
  readonly taskMs: number
  /** How long one who looks at a task keeps others from it. */
  readonly leaseMs: number
  /** Open tasks of one user. */
  readonly maxOpen: number
  /** Largest request body in bytes. */
  readonly maxBodyBytes: number
}

/** Throws Problem 500 for what a store throws. */
export const fromStore = async <Answer>(
  answer: Promise<Answer>,
  message = 'face verification could not be checked',
): Promise<Answer> => {
  try {
    return await answer
  } catch (cause) {
    throw cause instanceof Problem ? cause : new Problem(500, message, { cause })
  }
}

export const unrecorded = 'failed to record face verification'

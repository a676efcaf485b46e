import type { Audit } from '../shared/audit.ts'
import type { Clock } from '../shared/clock.ts'
import type { ConsentStore } from '../shared/consent/store.ts'
import type { Log } from '../shared/problem.ts'
import type { Upstream } from '../upstream-proxy/index.ts'
import type { UsageLimits } from '../usage-limits/index.ts'
import type { FaceGroupStore, VerificationStore } from './store.ts'

/** What every driver needs. Times are milliseconds. */
export interface FaceContext {
  readonly upstream: Upstream
  readonly store: VerificationStore & FaceGroupStore
  readonly clock: Clock
  readonly log: Log
  readonly audit: Audit
  /** Lifetime of a task. */
  readonly taskMs: number
  /** How long the lease of a task lasts. */
  readonly leaseMs: number
  /** Open tasks that one user may have. */
  readonly maxOpen: number
  /** Largest request body in bytes. */
  readonly maxBodyBytes: number
  /** The account that gets the group of a user. */
  readonly accountFor: (user: string) => Promise<string | undefined>
  /** Limits on the groups that users have. Undefined: none. */
  readonly usageLimits: UsageLimits | undefined
  /** Where consents are recorded. Undefined: nowhere. */
  readonly consents?: Pick<ConsentStore, 'recordConsent'> | undefined
}

/** The message when the store cannot be read. */
export const faceNotChecked = 'face verification could not be checked'

/** The message when a task cannot be stored. */
export const faceNotRecorded = 'failed to record face verification'

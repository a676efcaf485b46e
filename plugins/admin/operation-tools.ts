import type { Clock } from '../shared/clock.ts'
import type { InvalidLimits, Limit } from '../usage-limits/index.ts'

/**
 * What operations need besides the store: the clock, and functions of other plugins, whose routes a command line must
 * not load.
 */
export interface OperationTools {
  readonly clock: Pick<Clock, 'now'>
  /** `hashPassword` of `web-session`. */
  readonly hashPassword: (password: string) => Promise<string>
  /** `createToken` of `api-token`. */
  readonly createToken: () => string
  /** `hashToken` of `api-token`. */
  readonly hashToken: (token: string) => string
  /** `tokenStart` of `api-token`. */
  readonly tokenStart: (token: string) => string
  /** `parseLimits` of `usage-limits`. */
  readonly parseLimits: (value: unknown) => readonly Limit[] | InvalidLimits
}

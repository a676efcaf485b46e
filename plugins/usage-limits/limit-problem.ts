import { FieldProblem } from '../shared/field-problem.ts'
import { isConsumed, type Limit } from './limit.ts'
import type { LimitSubject } from './usage-limits.ts'

/** A limit that has no room for a call. */
export interface ReachedLimit {
  readonly limit: Limit
  readonly subject: LimitSubject
  /** When the call may succeed, milliseconds since 1970. Undefined: no time helps, or none is known. */
  readonly returnsAt?: number | undefined
  /** The call needs more than the whole amount. */
  readonly isTooLarge?: boolean | undefined
}

/**
 * Problem 429: a limit has no room for a call. The message names the limit, whose it is, and when it returns; or that
 * the call is larger than the limit, so that no time helps.
 *
 * `code` and `type` are `insufficient_quota` for tokens, cost and videos of a day or longer, and `rate_limit_exceeded`
 * otherwise.
 */
export class LimitProblem extends FieldProblem {
  readonly reached: ReachedLimit

  /** @param now milliseconds since 1970, for `Retry-After` */
  constructor(reached: ReachedLimit, now: number) {
    const { limit, returnsAt } = reached
    const code = isQuota(limit) ? 'insufficient_quota' : 'rate_limit_exceeded'
    super(429, messageOf(reached), {
      ...{ code, type: code },
      ...(returnsAt !== undefined && { headers: { 'retry-after': String(secondsUntil(returnsAt, now)) } }),
      event: { action: 'limit.reach', target: { kind: limit.unit } },
    })
    this.name = 'LimitProblem'
    this.reached = reached
  }
}

const quotaUnits: readonly string[] = ['tokens', 'cost', 'videos', 'video_seconds']

/** Whether a client that tries again soon would try in vain. */
const isQuota = ({ unit, window }: Limit): boolean =>
  quotaUnits.includes(unit) && window !== 'minute' && window !== 'hour'

const secondsUntil = (time: number, now: number): number => Math.max(1, Math.ceil((time - now) / 1_000))

const messageOf = ({ limit, subject, returnsAt, isTooLarge }: ReachedLimit): string => {
  const { unit, amount, window, model } = limit
  const what = `${amount} ${unit.replaceAll('_', ' ')}${model === undefined ? '' : ` of ${model}`}`
  const per = window === undefined ? (isConsumed(unit) ? '' : ' at once') : ` a ${window}`
  const whole = `the limit of ${what}${per} of the ${subject.type}`
  if (isTooLarge) return `the call may use more than ${whole} allows`
  const returns = returnsAt === undefined ? '' : `; it returns at ${new Date(returnsAt).toISOString()}`
  return `${whole} is reached${returns}`
}

/** Problem 403: a limit of the unit `cost` covers a model that has no price. */
export const modelWithoutPrice = (): FieldProblem =>
  new FieldProblem(403, 'a limit of cost covers this model, and it has no price', {
    code: 'model_without_price',
    param: 'model',
  })

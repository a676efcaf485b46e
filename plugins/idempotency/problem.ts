import { Problem } from '../shared/problem.ts'

/** What is wrong with the key of a request. */
export type IdempotencyCode =
  | 'idempotency_key_invalid'
  | 'idempotency_key_reused'
  | 'idempotency_key_in_use'
  | 'idempotency_keys_exhausted'
  | 'create_outcome_unknown'

/** A problem with an `Idempotency-Key`. `code` is for error bodies that have a machine-readable code. */
export class IdempotencyProblem extends Problem {
  readonly code: IdempotencyCode

  constructor(status: number, message: string, code: IdempotencyCode, retryAfterSeconds?: number) {
    super(status, message, {
      headers:
        retryAfterSeconds === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(retryAfterSeconds))) },
    })
    this.code = code
  }
}

export const keyInvalid = (): IdempotencyProblem =>
  new IdempotencyProblem(400, 'Idempotency-Key must have 1 to 255 visible ASCII characters', 'idempotency_key_invalid')

export const keyReused = (): IdempotencyProblem =>
  new IdempotencyProblem(409, 'this Idempotency-Key was used for a request with another body', 'idempotency_key_reused')

export const keyInUse = (): IdempotencyProblem =>
  new IdempotencyProblem(
    409,
    'an earlier request with this Idempotency-Key is still in progress',
    'idempotency_key_in_use',
    1,
  )

export const tooManyKeys = (retryAfterSeconds: number): IdempotencyProblem =>
  new IdempotencyProblem(
    429,
    'you have used too many Idempotency-Keys; they are kept for a day',
    'idempotency_keys_exhausted',
    retryAfterSeconds,
  )

export const responseTooLarge = (): IdempotencyProblem =>
  new IdempotencyProblem(
    409,
    'an earlier request with this Idempotency-Key has succeeded, but its response was too large to be kept',
    'idempotency_key_reused',
  )

/** @param retryAfterSeconds undefined: the outcome stays unknown */
export const outcomeUnknown = (retryAfterSeconds: number | undefined): IdempotencyProblem =>
  new IdempotencyProblem(
    503,
    retryAfterSeconds === undefined
      ? 'it is not known whether an earlier request with this Idempotency-Key has created something; look before you use another key'
      : 'the outcome of an earlier request with this Idempotency-Key is not known yet; try again shortly',
    'create_outcome_unknown',
    retryAfterSeconds ?? unsettledSeconds,
  )

/** Nothing will change by itself. The pause keeps clients that repeat every 503 from repeating it often. */
const unsettledSeconds = 60

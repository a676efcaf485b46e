import { FieldProblem } from '../shared/field-problem.ts'

/** What is wrong with the key of a request. */
export type IdempotencyCode =
  | 'idempotency_key_invalid'
  | 'idempotency_key_reused'
  | 'idempotency_key_in_use'
  | 'idempotency_keys_exhausted'
  | 'create_outcome_unknown'

/** A problem with an `Idempotency-Key`. Its `code` is an `IdempotencyCode`. */
export class IdempotencyProblem extends FieldProblem {}

const problem = (
  status: number,
  code: IdempotencyCode,
  message: string,
  retryAfterSeconds?: number,
): IdempotencyProblem =>
  new IdempotencyProblem(status, message, {
    code,
    ...(retryAfterSeconds !== undefined && {
      headers: { 'retry-after': String(Math.max(1, Math.ceil(retryAfterSeconds))) },
    }),
  })

export const keyInvalid = (): IdempotencyProblem =>
  problem(400, 'idempotency_key_invalid', 'Idempotency-Key must have 1 to 255 visible ASCII characters')

export const keyReused = (): IdempotencyProblem =>
  problem(409, 'idempotency_key_reused', 'this Idempotency-Key was used for a request with another body')

export const keyInUse = (): IdempotencyProblem =>
  problem(409, 'idempotency_key_in_use', 'an earlier request with this Idempotency-Key is still in progress', 1)

export const tooManyKeys = (retryAfterSeconds: number): IdempotencyProblem =>
  problem(
    429,
    'idempotency_keys_exhausted',
    'you have used too many Idempotency-Keys; they are kept for a day',
    retryAfterSeconds,
  )

export const responseTooLarge = (): IdempotencyProblem =>
  problem(
    409,
    'idempotency_key_reused',
    'an earlier request with this Idempotency-Key has succeeded, but its response was too large to be kept',
  )

/** @param retryAfterSeconds undefined: the outcome stays unknown */
export const outcomeUnknown = (retryAfterSeconds: number | undefined): IdempotencyProblem =>
  problem(
    503,
    'create_outcome_unknown',
    retryAfterSeconds === undefined
      ? 'it is not known whether an earlier request with this Idempotency-Key has created something; look before you use another key'
      : 'the outcome of an earlier request with this Idempotency-Key is not known yet; try again shortly',
    retryAfterSeconds ?? unsettledSeconds,
  )

/** Nothing will change by itself. The pause keeps clients that repeat every 503 from repeating it often. */
const unsettledSeconds = 60

export {
  type CreationAttempt,
  createIdempotency,
  type Idempotency,
  type IdempotencyOptions,
  type IdempotentRequest,
  type Settlement,
} from './idempotency.ts'
export { replayedHeader } from './kept-response.ts'
export { type IdempotencyCode, IdempotencyProblem } from './problem.ts'
export type {
  AttemptRecord,
  ClaimedKey,
  HeldKey,
  IdempotencyKey,
  IdempotencyStore,
  KeptResponse,
  KeyClaim,
} from './store.ts'

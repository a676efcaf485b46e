/** What hosts and stores share with all plugins. Loads no plugin, no Elysia and no gateway. */
export { type Audit, type AuditAction, type AuditEvent, noAudit } from './audit.ts'
export { Background, type BackgroundOption, type Job, type RunningJob } from './background/background.ts'
export { type Clock, systemClock } from './clock.ts'
export { type SigningKeyView, verifyDocument } from './consent/signature.ts'
export type * from './consent/store.ts'
export type { ErrorsOption } from './http/error-handler.ts'
export { type PublicUrl, type RequireSameOrigin, requireSameOrigin } from './http/origin.ts'
export { type Identify, type Identity, requireIdentity } from './identity/identify.ts'
export { type ReadRevision, type Revision, type RevisionChange, RevisionClock } from './identity/revision-clock.ts'
export { type Log, noLog, Problem, type ProblemBody, problemBody, renderProblems } from './problem.ts'
export {
  type CircuitBreakerOptions,
  type CircuitBreakers,
  type CircuitState,
  createCircuitBreakers,
} from './upstream/circuit-breaker.ts'
export { CircuitOpenError, type Fetch } from './upstream/upstream-error.ts'

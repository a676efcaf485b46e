/** What hosts and stores share with all plugins. Loads no plugin, no Elysia and no gateway. */
export { type Audit, type AuditAction, type AuditEvent, noAudit } from './audit.ts'
export { Background, type BackgroundOption, type Job, type RunningJob } from './background.ts'
export { type Clock, systemClock } from './clock.ts'
export type { ErrorsOption } from './error-handler.ts'
export { type Identify, type Identity, requireIdentity } from './identify.ts'
export { type PublicUrl, type RequireSameOrigin, requireSameOrigin } from './origin.ts'
export { type Log, noLog, Problem, type ProblemBody, problemBody, renderProblems } from './problem.ts'
export { type ReadRevision, type Revision, type RevisionChange, RevisionClock } from './revision-cache.ts'

export * from '../plugins/asset-library/index.ts'
export type { Audit, AuditAction, AuditEvent } from '../plugins/shared/audit.ts'
export { currentRequestId } from '../plugins/shared/http/current-request.ts'
export type { Identify, Identity } from '../plugins/shared/identity/identify.ts'
export { type Log, Problem, type ProblemBody, problemBody, renderProblems } from '../plugins/shared/problem.ts'
export { withRequestIds } from './app/request/id.ts'
export { type AuditOptions, type AuditTrail, createAudit } from './audit/index.ts'
export type { StopOptions } from './node-server/drain.ts'
export type { NodeServerTimeouts } from './node-server/timeouts.ts'
export type { OnUpgrade } from './node-server/upgrade.ts'
export {
  createNodeServer,
  type ListeningServer,
  type ListenOptions,
  type NodeServer,
  type NodeServerApp,
  type NodeServerOptions,
} from './node-server.ts'

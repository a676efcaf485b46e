import type { AuditEvent } from '../../shared/audit.ts'
import { Problem } from '../../shared/problem.ts'
import { grantableScopes } from '../fields.ts'
import type { ChangeConditions, TokenConditions } from '../store.ts'

/** Who performs an operation. */
export interface AdminActor {
  /**
   * - `admin`: a session of an admin, or a token with the scope `admin`.
   * - `provision`: a token with the scope `provision`. It neither makes nor changes admins, and gives neither of these
   *   two scopes.
   * - `operator`: the command line. It may also disable or demote the last admin.
   */
  readonly kind: 'admin' | 'provision' | 'operator'
  /**
   * Resolves when the event is in the audit trail.
   *
   * @param affected id of the user whom it affects
   */
  record(event: AuditEvent, affected?: string): Promise<void>
  /** Notes that the actor has read data of others. */
  read(kind: string, id?: string): void
}

/** Resolves with what the actor has read, and notes it. @param id of the only object or user that it is about */
export const readBy = async <Found>(
  actor: AdminActor,
  kind: string,
  found: Promise<Found>,
  id?: string,
): Promise<Found> => {
  const result = await found
  actor.read(kind, id)
  return result
}

/** What users and tokens must be for this actor to change them. */
export const conditionsOf = ({ kind }: AdminActor): ChangeConditions & TokenConditions =>
  kind === 'provision' ? { ifRole: 'user', ifScopes: grantableScopes } : {}

/** Problem 403: a provisioning token would make or change an admin, or give a scope of admins. */
export const onlyAdmins = (): Problem =>
  new Problem(403, 'a token with the scope provision may not do this', {
    event: { action: 'access.refuse', target: { kind: 'admin' } },
  })

import type { Role } from '../../shared/identity/scopes.ts'

/** Conditions of a change of a user or of the user's tokens. They hold in the transaction of the change. */
export interface ChangeConditions {
  /** The user must have this role (`other-role`). For callers who may not touch admins. Default: any role. */
  readonly ifRole?: Role | undefined
}

import type { Role } from '../../shared/identity/scopes.ts'
import type { AddUserFailure, Team } from '../store.ts'

/** A user of an import. */
export interface ImportedUser {
  /** Unique without regard to case. */
  readonly name: string
  readonly role: Role
  /** Id of a team. */
  readonly team?: string | undefined
  /** Unique. */
  readonly externalId?: string | undefined
}

/** A user who cannot be added. */
export interface RejectedUser {
  /** Position in the list of users. */
  readonly index: number
  readonly reason: AddUserFailure
}

/** The store port of imports of users. */
export interface UserImportStore {
  /** The team of that name, without regard to case. */
  teamByName(name: string): Promise<Pick<Team, 'id'> | undefined>
  /** Which users of a list cannot be added, because of those that exist; for each reason, in the order of the list. */
  rejectedUsers(users: readonly ImportedUser[]): Promise<readonly RejectedUser[]>
  /**
   * Adds all users in one transaction, or none: then it returns those that cannot be added. Otherwise it returns the
   * ids of the new users, in the order of the list. The list has no name and no external id twice. Takes minutes for
   * 100,000 users.
   *
   * @param createdAt milliseconds since 1970
   */
  importUsers(
    users: readonly ImportedUser[],
    createdAt: number,
  ): Promise<{ readonly ids: readonly string[] } | { readonly rejected: readonly RejectedUser[] }>
}

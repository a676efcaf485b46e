import type { Role } from '../../shared/identity/scopes.ts'

/**
 * The store port of `ownAccount`. Every method rejects when the store does not respond within its own deadline. Times
 * are milliseconds since 1970.
 */
export interface OwnAccountStore {
  /**
   * What a user may know about the own account. Undefined: there is no such user, or the user belongs to a host app.
   */
  account(user: string): Promise<Account | undefined>
  /**
   * Replaces the password, ends the user's other sessions and the invitation. The session with the id `keep` stays.
   *
   * Returns false, and changes nothing, when the user's password hash is not `before` any more, or the user is
   * disabled.
   */
  changeOwnPassword(
    user: string,
    change: { readonly before: string; readonly password: string; readonly keep: string | undefined },
  ): Promise<boolean>
  /** The user's sessions that are valid at `now`, newest first. At most the maximum of sessions of one user. */
  listSessions(user: string, now: number): Promise<readonly OwnSession[]>
  /** Ends all sessions of the user but the one with the id `keep`. */
  endOtherSessions(user: string, keep: string | undefined): Promise<void>
  /** Ends a session of the user. False when the user has no session with that id. */
  endSessionOf(user: string, id: string): Promise<boolean>
  /** The user of an invitation that is valid at `now`, by the hex SHA-256 of its secret. */
  invitedUser(hash: string, now: number): Promise<InvitedUser | undefined>
  /**
   * Sets the password hash of the invited user, ends the invitation and the user's sessions. Of two concurrent calls
   * one succeeds. Undefined, and nothing changes, when the invitation is not valid at `now`.
   */
  redeemInvitation(
    hash: string,
    password: string,
    now: number,
  ): Promise<{ readonly user: string; readonly name: string } | undefined>
}

/** The user of a valid invitation. */
export interface InvitedUser {
  readonly user: string
  readonly name: string
  readonly expiresAt: number
}

/** A user's own account. */
export interface Account {
  readonly id: string
  readonly name: string
  readonly role: Role
  /** Name of the team. Undefined: in none. */
  readonly team?: string
  /** How the user logs in. */
  readonly login: 'password' | 'oidc' | 'none'
  /** Hash of the password. */
  readonly password?: string
}

/** A session, as its user sees it. */
export interface OwnSession {
  readonly id: string
  readonly createdAt: number
  /** A minute late at most. */
  readonly lastUsedAt: number
  /** When it ends unless it is used. */
  readonly idleUntil: number
  /** When it ends, used or not. */
  readonly endsAt: number
  /** The browser, as it calls itself. */
  readonly userAgent?: string
}

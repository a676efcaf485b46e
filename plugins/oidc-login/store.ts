/** Who has logged in at an identity provider, and what its claims say. */
export interface OidcLogin {
  /** The claim `iss`: the identity provider. */
  readonly issuer: string
  /** The claim `sub`: the person at that provider. With `issuer`, it identifies one user for ever. */
  readonly subject: string
  /** The name of a new user: 1 to 128 characters, no control characters. Undefined: the claims have none. */
  readonly name: string | undefined
  /** The role that the claims give. Undefined: roles do not follow claims. */
  readonly role: 'user' | 'admin' | undefined
  /** Hex SHA-256 of the secret of an invitation, which the person has opened before. */
  readonly invitation: string | undefined
  /** Milliseconds since 1970. */
  readonly now: number
}

/** The user of a login. */
export interface OidcUser {
  readonly id: string
  readonly name: string
  /** Hash of the password, where the user has one: a session ends when it changes. */
  readonly password?: string
}

/** A login of a user. */
export interface AcceptedLogin {
  readonly user: OidcUser
  /**
   * How the user was found: `known` by issuer and subject, `added` as a new user, or `invited`: the invitation has
   * given an existing user this identity.
   */
  readonly found: 'known' | 'added' | 'invited'
  /** The user's new role, where the login has changed it. */
  readonly newRole?: 'user' | 'admin'
  /** The claims demote the last enabled admin, who therefore stays admin. */
  readonly isLastAdmin?: boolean
}

/**
 * Why nobody is logged in. Nothing has changed.
 *
 * - `disabled`: the user is disabled
 * - `name-taken`: a new user would have the name of another one, in any case
 * - `no-name`: there is no such user, and no name for a new one
 * - `invitation`: there is no such user, and the invitation is unknown, has ended, or is that of a disabled user
 * - `known`: the invitation is valid, and that of another user than the one with this identity
 */
export type RejectedLogin = 'disabled' | 'name-taken' | 'no-name' | 'invitation' | 'known'

/**
 * The store port of `oidc-login`: finds and adds the users of an identity provider. It rejects when the store does not
 * respond within its own deadline; it never hangs.
 */
export interface OidcUserStore {
  /**
   * The user with this issuer and subject. Adds one if there is none: a user of that name, without a password; never
   * takes over a user of that name, whose owner may be somebody else.
   *
   * An invitation gives its user this identity instead, ends the invitation, the user's sessions and the password.
   *
   * Sets the role if `role` is given, but the last enabled admin stays admin.
   *
   * One transaction, atomic across processes: two first logins of one person add one user.
   */
  logInOidcUser(login: OidcLogin): Promise<AcceptedLogin | RejectedLogin>
}

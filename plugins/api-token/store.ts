import type { CredentialUse } from '../shared/identity/credential-use.ts'
import type { ReadRevision } from '../shared/identity/revision-clock.ts'
import type { Role, Scope } from '../shared/identity/scopes.ts'

/** The user and the id of a valid token. */
export interface TokenOwner {
  readonly user: string
  /** Id of the token, for logs and usage. */
  readonly token: string
  /** Milliseconds since 1970. Undefined if the token does not expire. */
  readonly expiresAt?: number
  /** What its holder may do. Undefined: everything. */
  readonly scopes?: readonly Scope[]
  /** The models that it may use; `*` at the end of one stands for any rest. Undefined: all. */
  readonly models?: readonly string[]
  /** Role of the user. Undefined: the users have no roles. */
  readonly role?: Role
}

/** The store port of `api-token`. It receives only hashes of tokens. */
export interface TokenStore {
  /**
   * Returns the owner of a token; undefined for an unknown or revoked token, or a disabled user. It may return expired
   * tokens.
   *
   * @param hash hex SHA-256 of the complete token
   */
  ownerOf(hash: string): Promise<TokenOwner | undefined>
  /**
   * Reads the revision, which must rise with each revocation, and should rise when a token becomes valid: see
   * `OwnershipStore.revision`.
   *
   * A change of kind `token` has the token's hash as key. If the revision does not rise for a new token, and the token
   * was rejected shortly before, it is rejected for up to two more seconds.
   */
  revision: ReadRevision
  /**
   * Notes that a valid token was used. It is called at most once a minute for each token, and must return at once.
   * Optional: without it nobody learns when a token was used last.
   */
  noteUse?(use: CredentialUse): void
}

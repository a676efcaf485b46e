import type { ReadRevision } from '../shared/revision-cache.ts'

/** What a token says about who is calling. */
export interface TokenOwner {
  readonly user: string
  /** Id of the token, for logs and usage. */
  readonly token: string
  /** Milliseconds since 1970; undefined: never. */
  readonly expiresAt?: number
}

/** The port: what `api-token` asks of a store. Only hashes are ever given to it. */
export interface TokenStore {
  /** @param hash hex SHA-256 of the whole token. Undefined: unknown or revoked token, or disabled user. Expired ones may be returned. */
  ownerOf(hash: string): Promise<TokenOwner | undefined>
  /**
   * Rises with every revocation, and whenever a token begins to work: see `OwnershipStore.revision`. A change of kind `token` names a token by its hash. Where it does not
   * rise for a token that begins to work, one that was refused shortly before is refused for up to two seconds more.
   */
  revision: ReadRevision
}

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
  /** Rises with every revocation: see `OwnershipStore.revision`. */
  revision(): Promise<number>
}

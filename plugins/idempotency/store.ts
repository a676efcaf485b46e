/** A key of a user for one route. */
export interface IdempotencyKey {
  readonly user: string
  readonly route: string
  readonly key: string
}

/** A key that a request holds: `holder` is an id of that request. */
export interface HeldKey extends IdempotencyKey {
  readonly holder: string
}

/** What a request wants to claim. */
export interface KeyClaim extends HeldKey {
  /** SHA-256 of the request body, in hexadecimal. */
  readonly fingerprint: string
  /** All times are milliseconds since 1970. */
  readonly now: number
  /** Until then no other request may take the key over. */
  readonly leaseUntil: number
  readonly expiresAt: number
}

/** An attempt to handle a request. */
export interface AttemptRecord {
  /** Unique. It is the `holder` of the request that made the attempt. */
  readonly id: string
  readonly startedAt: number
}

/** A response that is kept. */
export interface KeptResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Undefined: it was too large to be kept. */
  readonly body: Uint8Array<ArrayBuffer> | undefined
}

/**
 * The result of a claim.
 *
 * - `claimed`: the request holds the key, and no attempt was made before.
 * - `resumed`: the request holds the key. An earlier attempt has ended or its lease is over, and its outcome is not
 *   known.
 * - `running`: another request holds the key.
 * - `answered`: an earlier request was handled, with this response.
 * - `mismatch`: the key belongs to a request with another body.
 * - `full`: the user has the maximum number of keys. The oldest expires at `freeAt`.
 */
export type ClaimedKey =
  | { readonly state: 'claimed' | 'running' | 'mismatch' }
  | { readonly state: 'resumed'; readonly earlier: AttemptRecord }
  | { readonly state: 'answered'; readonly response: KeptResponse }
  | { readonly state: 'full'; readonly freeAt: number }

/**
 * The store port of this plugin. `sluice/store` implements it on PostgreSQL and SQLite.
 *
 * Each method must resolve or reject within a deadline. A method with a `HeldKey` changes nothing, and resolves with
 * false, when the request no longer holds the key.
 */
export interface IdempotencyStore {
  /**
   * Claims a key. Of any number of concurrent claims of one key, one gets `claimed` or `resumed`. An expired key counts
   * as absent.
   */
  claim(wanted: KeyClaim, maxKeys: number): Promise<ClaimedKey>
  /** Starts a new attempt, with the id `holder`, in place of an earlier one that has created nothing. */
  restart(held: HeldKey, startedAt: number, leaseUntil: number): Promise<boolean>
  /** Keeps the response until `expiresAt`. */
  keep(held: HeldKey, response: KeptResponse, expiresAt: number): Promise<boolean>
  /** Ends an attempt whose outcome is not known: the next request with the key resumes it. */
  end(held: HeldKey, now: number, expiresAt: number): Promise<boolean>
  /** Deletes a key: the attempt has created nothing. */
  release(held: HeldKey): Promise<boolean>
  /** Deletes at most `max` expired keys. Resolves with their number. */
  sweep(now: number, max: number): Promise<number>
}

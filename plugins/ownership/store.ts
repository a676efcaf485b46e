/**
 * The port: the few questions that ownership asks of a store. Any store that answers them will do; `sluice/store` does for PostgreSQL and
 * SQLite. Every method rejects when the store cannot be asked within its own deadline; none ever hangs.
 */

/** A group and its owner. */
export interface Group {
  /** Id that the upstream gave. Never owned by two users. */
  readonly id: string
  readonly user: string
  /** For the asset library `AIGC` or `LivenessFace`. */
  readonly type: string
  readonly name: string
  readonly description?: string
  /** Milliseconds since 1970: the upstream's `CreateTime` once it is known, until then when the gateway recorded it. */
  readonly createdAt: number
  /** 1 once `createdAt` is the upstream's. */
  readonly dated?: number
}

export interface OwnershipStore {
  /** The groups of a user, of one type or of all, oldest first, then by id. */
  groupsOf(user: string, type?: string): Promise<readonly Group[]>
  /** The group with that id, whoever owns it. */
  group(id: string): Promise<Group | undefined>
  /** Group of an asset that was created through the gateway. */
  groupOfAsset(asset: string): Promise<string | undefined>
  recordAsset(asset: string, group: string): Promise<void>
  /** Forgets a group and its assets: nobody owns them any more. Raises the revision. */
  removeGroup(id: string): Promise<void>
  /** Replaces the description of a group's record. Raises the revision. */
  describeGroup(id: string, description: string): Promise<void>
  /** Keeps the upstream's `CreateTime` of groups: with it, a page of them can be chosen from the records. */
  dateGroups(groups: readonly Pick<Group, 'id' | 'createdAt'>[]): Promise<void>
  /** Rises with every change that makes remembered answers wrong: a token revoked, a user disabled, a group removed, adopted, renamed or described. */
  revision(): Promise<number>
}

/**
 * A name taken before the upstream is asked to create or rename a group, so that a crash at any point leaves a trace (readings 14 to 16).
 *
 * `pending`: holds its name; the call may be under way until `dueAt`, after which anybody may settle the claim.
 * `unresolved`: no longer holds its name, but the upstream may have made a group for it; listed by `admin group pending`.
 */
export interface Claim {
  readonly id: string
  readonly user: string
  readonly type: string
  readonly name: string
  readonly description?: string
  /** Set when the claim is for a new name of this group, rather than for a new group. */
  readonly renames?: string
  /** When the claim was made: no group older than this, give or take a clock, can be its own. Milliseconds since 1970. */
  readonly createdAt: number
  /** From when on it may be settled by anybody. Milliseconds since 1970. */
  readonly dueAt: number
  readonly state: 'pending' | 'unresolved'
}

export interface ClaimStore {
  /** Takes the name. Undefined when the user has a group, or a pending claim, of that type and name. */
  claim(wanted: Omit<Claim, 'id' | 'state'>): Promise<Claim | undefined>
  /**
   * Ends a claim well: the group is the user's, with `id` and `createdAt`; or, for a rename, its record carries the new name and, where the
   * claim has one, the new description.
   *
   * Also when the claim was released meanwhile. False when the name or the group's id belongs to somebody by now; then the claim is kept
   * as unresolved together with the group's id.
   */
  confirm(claim: Claim, group: { id: string; createdAt: number }): Promise<boolean>
  /** Ends a claim without a group. The name is free at once. */
  release(claim: Claim): Promise<void>
  /** Frees the name but keeps the claim as unresolved, to be looked at again from `dueAt` on. */
  doubt(claim: Claim, dueAt: number): Promise<void>
  /** Claims that are due at `now`, moved to `until` so that of several processes one looks at each. Oldest first, at most 100. */
  lease(now: number, until: number): Promise<readonly Claim[]>
  /**
   * `confirm`, if no other open claim could have made the same group: none of the same type and name, whosever. Answers `adopted`, `rival` (another
   * claim is open), or `taken` (the group has an owner, or the name went to another group of the user). Changes nothing unless `adopted`.
   */
  adopt(claim: Claim, group: { id: string; createdAt: number }): Promise<'adopted' | 'rival' | 'taken'>
  /** When the next claim falls due; undefined when none is open. */
  nextDue(): Promise<number | undefined>
}

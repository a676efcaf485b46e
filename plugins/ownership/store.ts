import type { ReadRevision } from '../shared/identity/revision-clock.ts'

/*
 * The store ports of this plugin. `sluice/store` implements them on PostgreSQL and SQLite.
 *
 * Each method must resolve or reject within a deadline of the store: it rejects if the database does not respond in
 * time.
 */

/** A group and its owner. */
export interface Group {
  /** The upstream's id. At most one user owns it. */
  readonly id: string
  readonly user: string
  /** In the asset library: `AIGC` or `LivenessFace`. */
  readonly type: string
  readonly name: string
  readonly description?: string
  /** The account of the upstream that has it. Undefined: the first, or the only one. */
  readonly account?: string
  /**
   * Milliseconds since 1970: the upstream's `CreateTime`, or the time of recording until that is known (see `dated`).
   */
  readonly createdAt: number
  /** 1 if `createdAt` is the upstream's `CreateTime`. */
  readonly dated?: number
}

/** Store port: the groups and assets of the users. */
export interface OwnershipStore {
  /** The groups of a user, of one type or of all types. Sorted by `createdAt`, then by id. */
  groupsOf(user: string, type?: string): Promise<readonly Group[]>
  /** The group with this id. With `user`, only if this user owns it. */
  group(id: string, user?: string): Promise<Group | undefined>
  /** The id of the group in which an asset was recorded. With `user`, only if this user owns the group. */
  groupOfAsset(asset: string, user?: string): Promise<string | undefined>
  /**
   * Records that an asset was created in a group.
   *
   * @param slot id of the claim of its slot (`claimPersonSlot` of `asset-library`), which ends in the same transaction:
   * from then on the record counts
   */
  recordAsset(asset: string, group: string, slot?: string): Promise<void>
  /**
   * Notes that an asset was deleted. Its record stays, so that the answer for it stays the same, but counts for no
   * limit.
   * Absent: limits on assets count deleted ones too.
   */
  markAssetDeleted?(asset: string, at: number): Promise<void>
  /** Deletes the records of a group and of its assets, so that they have no owner. Raises the revision. */
  removeGroup(group: Pick<Group, 'id' | 'user'>): Promise<void>
  /** Changes the description in a group's record. Raises the revision. */
  describeGroup(group: Pick<Group, 'id' | 'user'>, description: string): Promise<void>
  /**
   * Stores the upstream's `CreateTime` of groups. Once it is stored, the gateway can sort and page groups without the
   * upstream.
   */
  dateGroups(groups: readonly Pick<Group, 'id' | 'createdAt'>[]): Promise<void>
  /**
   * A number that rises with every change that invalidates cached results. Such a change revokes a token, disables a
   * user, or creates, removes, adopts, renames or describes a group.
   *
   * A store may also return the changes since an earlier revision: kind `group` with the id of a changed group, and
   * kind `groups` with the user whose list of groups changed. Then only those entries are invalidated, otherwise all.
   */
  revision: ReadRevision
  /**
   * Registers a listener that runs whenever this store object raises the revision.
   *
   * With it, a process sees its own changes at once. Without it, a process sees them as late as those of other
   * processes.
   */
  onRaise?(listener: () => void): void
}

/**
 * A claim on a name. The gateway stores it before the upstream call that creates or renames a group, so that a crash at
 * any point leaves a record.
 *
 * `pending`: the claim reserves its name. The call may be in progress until `dueAt`; then any process may reconcile the
 * claim. `unresolved`: the claim no longer reserves its name, but the upstream may have created a group for it. `admin
 * group pending` lists it.
 */
export interface Claim {
  readonly id: string
  readonly user: string
  readonly type: string
  readonly name: string
  readonly description?: string
  /** The id of the group to rename. Absent if the claim is for a new group. */
  readonly renames?: string
  /** The account of the upstream that the call goes to: its group is there. Undefined: the first, or the only one. */
  readonly account?: string | undefined
  /**
   * Time of the claim, in milliseconds since 1970. A group that is older than this, apart from clock skew, does not
   * result from the claim.
   */
  readonly createdAt: number
  /** From this time on any process may reconcile the claim. Milliseconds since 1970. */
  readonly dueAt: number
  /**
   * When the upstream call ended with an unknown outcome, in milliseconds since 1970. Undefined while the call may be
   * in progress.
   */
  readonly endedAt?: number
  readonly state: 'pending' | 'unresolved'
}

/** What `ClaimStore.claim` takes. The id, if given, must be unique. */
export type WantedClaim = Omit<Claim, 'id' | 'state' | 'endedAt'> & { readonly id?: string }

/** Store port: claims on group names. */
export interface ClaimStore {
  /**
   * Claims a name. Undefined if the user already has a group or a pending claim with this type and name, or if another
   * open claim renames the same group, unless its call has renamed it (`confirm` has returned false). So a group is
   * renamed by one call at a time. Default id: a random one.
   *
   * A claim for the name that the group already has is unresolved from the start: the group's record reserves the name.
   */
  claim(wanted: WantedClaim): Promise<Claim | undefined>
  /**
   * What has become of a claim: it is `open`, or its group has an owner. Undefined: it was released, or its group was
   * deleted.
   */
  claimOutcome(id: string): Promise<'open' | { readonly group: string } | undefined>
  /**
   * Whether a pending claim whose call ended with an unknown outcome reserves this name, or another open claim renames
   * the same group.
   */
  hasUnresolved(wanted: Pick<Claim, 'user' | 'type' | 'name' | 'renames'>): Promise<boolean>
  /**
   * Ends a claim with success. Records the new group for the user, or the new name and description of a renamed group.
   *
   * Succeeds even if the claim was released before. Returns false if another group has the name, or if the group id
   * already has an owner. Then the claim becomes unresolved and stores the group id.
   */
  confirm(claim: Claim, group: { id: string; createdAt: number }): Promise<boolean>
  /** Deletes a claim. Its name is free at once. */
  release(claim: Claim): Promise<void>
  /**
   * Postpones the reconciliation of a claim to `dueAt`. Its call ended at `endedAt` with an unknown outcome. The name
   * stays reserved.
   */
  postpone(claim: Claim, endedAt: number, dueAt: number): Promise<void>
  /** Frees the name and marks the claim as unresolved. Reconciliation checks it again from `dueAt` on. */
  markUnresolved(claim: Claim, dueAt: number): Promise<void>
  /**
   * Leases the claims that are due at `now`: sets their `dueAt` to `until`, so that only one process reconciles each.
   * Oldest first, at most 100.
   */
  lease(now: number, until: number): Promise<readonly Claim[]>
  /**
   * Confirms a claim only if no other open claim has the same type and name, because that claim could have created the
   * same group. Claims of the same user whose call has ended do not count: the group belongs to this user either way.
   *
   * Returns `adopted`, `rival` (another such claim is open) or `taken` (the group has an owner, or had one until
   * shortly before, or another group of the user has the name). Changes nothing unless `adopted`.
   *
   * A group that its owner has deleted may still be in a list that the upstream has sent before. It must not become
   * that of another user.
   */
  adopt(claim: Claim, group: { id: string; createdAt: number }): Promise<'adopted' | 'rival' | 'taken'>
  /** When the next claim is due, in milliseconds since 1970; undefined if there is no open claim. */
  nextDue(): Promise<number | undefined>
}

import type { Group } from './store.ts'

/**
 * What a borrower may do with a lent group and the assets in it.
 *
 * - `read`: see them, in details and lists.
 * - `use`: also refer to its assets in video tasks.
 */
export type ShareAccess = 'read' | 'use'

/** To whom a group is lent: a user by id, or the team of its owner by name. */
export type Borrower = { readonly user: string } | { readonly team: string }

/** A group that its owner lends to a user or a team. Times are milliseconds since 1970. */
export interface Share {
  readonly id: string
  /** The id of the borrowing user. Undefined: a team borrows. */
  readonly user?: string
  /** The name of the borrowing team. Undefined: a user borrows. */
  readonly team?: string
  readonly access: ShareAccess
  readonly createdAt: number
  /** From then on the share has ended. Undefined: it lasts until it is revoked. */
  readonly expiresAt?: number
  /** When an asset of the group was last sent in a task of a borrower. */
  readonly usedAt?: number
}

/** What `ShareStore.lendGroup` takes. */
export interface WantedShare {
  /** The group, and its owner. */
  readonly group: Pick<Group, 'id' | 'user'>
  readonly borrower: Borrower
  readonly access: ShareAccess
  readonly expiresAt?: number | undefined
  readonly now: number
  /** Whether the host app has found a borrowing user itself, so that the store need not know the id. Default false. */
  readonly isKnown?: boolean
}

/**
 * Outcome of `ShareStore.lendGroup`. `no-group`: the user no longer owns the group, or is disabled. `no-borrower`: no
 * such user, a disabled one, the owner, or not the owner's team. `full`: the group, its owner or the borrower has the
 * maximum of shares. Nothing has changed then.
 */
export type LendOutcome = Share | 'no-group' | 'no-borrower' | 'full'

/** A lent group as its borrower has it. `user` is its owner. */
export interface LentGroupRecord extends Group {
  readonly access: ShareAccess
  /** The name of its owner. Undefined: a user of a host app. */
  readonly ownerName?: string
  /** From then on it is not lent any more. Milliseconds since 1970. */
  readonly until?: number
}

/** The use of an asset of a lent group by a borrower: a video task that was sent. */
export interface SharedUse {
  /** The id of the borrower, if the group is lent to that user by id. Undefined: the owner does not know it. */
  readonly user?: string
  /** The name of the borrower. Undefined: a user of a host app. */
  readonly userName?: string
  readonly asset: string
  /** When it was sent. Milliseconds since 1970. */
  readonly at: number
}

/**
 * Store port: which groups are lent to whom. `sluice/store` implements it on PostgreSQL and SQLite.
 *
 * A share ends with its group, when its owner or its borrowing user is disabled, and when its owner leaves the team
 * that borrows. Who leaves a team borrows nothing with it. Every end raises the revision of the `OwnershipStore`: with
 * a change of the kind `shares`, `group`, or `user` with the id of the one user who borrows something else.
 */
export interface ShareStore {
  /** Lends a group, or changes what is lent: a group has one share for each borrower. Raises the revision. */
  lendGroup(wanted: WantedShare): Promise<LendOutcome>
  /** Ends a share of a group. False: the group has no such share. Raises the revision. */
  revokeShare(group: Pick<Group, 'id' | 'user'>, share: string): Promise<boolean>
  /**
   * Ends the shares of a group with a user, because the user returns it. `team`: there is none with the user, but the
   * group is lent to the user's team. Raises the revision.
   */
  returnGroup(group: Pick<Group, 'id' | 'user'>, user: string): Promise<'returned' | 'team'>
  /** Uses of the group's assets by others than the owner, the newest first. Only of tasks that are still there. */
  sharedUses(group: Pick<Group, 'id' | 'user'>, max: number): Promise<readonly SharedUse[]>
  /** The shares of a group that have not ended at `now`. The oldest first. */
  sharesOf(group: Pick<Group, 'id' | 'user'>, now: number): Promise<readonly Share[]>
  /**
   * The groups that are lent to a user at `now`, also by the user's team. A group may be in it twice. Never the user's
   * own groups.
   */
  groupsLentTo(user: string, now: number): Promise<readonly LentGroupRecord[]>
  /**
   * Records that a user uses a group now, if it is lent to the user for that at `now`: false if not. The record and a
   * revocation exclude each other: a use that is recorded comes before the end of the share, and no other does.
   */
  recordGroupUse(user: string, group: string, now: number): Promise<boolean>
}

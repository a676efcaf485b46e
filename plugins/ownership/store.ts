import type { ReadRevision } from '../shared/revision-cache.ts'

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
  /** The group with that id, whoever owns it; where a user is given, only if it is theirs. */
  group(id: string, user?: string): Promise<Group | undefined>
  /** Group of an asset that was created through the gateway; where a user is given, only if that group is theirs. */
  groupOfAsset(asset: string, user?: string): Promise<string | undefined>
  recordAsset(asset: string, group: string): Promise<void>
  /** Forgets a group and its assets: nobody owns them any more. Raises the revision. */
  removeGroup(group: Pick<Group, 'id' | 'user'>): Promise<void>
  /** Replaces the description of a group's record. Raises the revision. */
  describeGroup(group: Pick<Group, 'id' | 'user'>, description: string): Promise<void>
  /** Keeps the upstream's `CreateTime` of groups: with it, a page of them can be chosen from the records. */
  dateGroups(groups: readonly Pick<Group, 'id' | 'createdAt'>[]): Promise<void>
  /**
   * Rises with every change that makes remembered answers wrong: a token revoked, a user disabled, a group made, removed, adopted, renamed or described. The
   * number is enough; a store that can also say what has changed since an earlier one (a group by its id, as a change of kind `group`; a user whose groups are
   * other ones, as one of kind `groups`) spares everybody the rest.
   */
  revision: ReadRevision
  /**
   * Tells whenever the revision was raised through this very store: so a process sees at once what it has changed itself. Without it, as late as what others
   * have changed.
   */
  onRaise?(raised: () => void): void
}

/**
 * A name taken before the upstream is asked to create or rename a group, so that a crash at any point leaves a trace.
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
  /** When its call ended without an answer that says what became of it; undefined while it may be under way. Milliseconds since 1970. */
  readonly endedAt?: number
  readonly state: 'pending' | 'unresolved'
}

export interface ClaimStore {
  /** Takes the name. Undefined when the user has a group, or a pending claim, of that type and name. */
  claim(wanted: Omit<Claim, 'id' | 'state' | 'endedAt'>): Promise<Claim | undefined>
  /** Whether a claim whose call ended without an answer holds that name. */
  hasUnresolved(wanted: Pick<Claim, 'user' | 'type' | 'name'>): Promise<boolean>
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
  /** Keeps an open claim as it is, name and all: its call ended at `endedAt` without an answer, and it is to be looked at from `dueAt` on. */
  keep(claim: Claim, endedAt: number, dueAt: number): Promise<void>
  /** Frees the name but keeps the claim as unresolved, to be looked at again from `dueAt` on. */
  markUnresolved(claim: Claim, dueAt: number): Promise<void>
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

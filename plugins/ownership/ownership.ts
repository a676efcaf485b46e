import type { Awaitable } from '../shared/awaitable.ts'
import type { Clock } from '../shared/clock.ts'
import type { RevisionClock } from '../shared/identity/revision-clock.ts'
import type { OwnedId } from '../shared/owned-id.ts'
import type { OwnedGroup } from './group-list.ts'
import type { LentGroup } from './lent-groups.ts'
import type { ShareStore } from './share-store.ts'
import type { Group, OwnershipStore } from './store.ts'

/** The result of `locate`: the group of an asset, according to the upstream. */
export interface AssetLocation<Evidence> {
  /** The id of its group; undefined if the asset does not exist. */
  readonly group: string | undefined
  /** The account of the upstream that has said so: only a group of that account counts. */
  readonly account?: string | undefined
  /** Further data from the lookup, for example the upstream's response. The rules pass it on with the asset. */
  readonly evidence: Evidence
}

/** The caller for whom `locate` looks up an asset. */
export interface AssetCaller {
  readonly user: string
  /** The lookup should stop when its signal aborts. Undefined if the rules were called without a request. */
  readonly request?: Request
}

/** Options of the ownership rules. */
export interface OwnershipOptions<Evidence = unknown> {
  readonly store: OwnershipStore
  /** Looks up an asset upstream. Default: only assets that the store knows exist. */
  readonly locate?: (asset: string, caller: AssetCaller) => Promise<AssetLocation<Evidence>>
  /** Decides when cached results are valid. Default: reads the store's revision at most twice a second. */
  readonly revisionClock?: RevisionClock
  /** Which groups are lent to whom. Default: no group is lent. */
  readonly shares?: ShareStore | undefined
  /** Decides when shares have expired. Default: the system clock. */
  readonly clock?: Pick<Clock, 'now'>
  /** The account of groups whose records name none. Default: none, for an upstream with one account. */
  readonly defaultAccount?: string | undefined
}

/** A group that the caller may see. */
export type ReadableGroup = OwnedGroup | LentGroup

/**
 * Which groups a list takes: the caller's own (`own`), those that are lent to the caller (`shared`), or both (`all`).
 */
export type GroupScope = 'own' | 'shared' | 'all'

/** An asset in a group that is lent to the caller. */
export interface LentAsset<Evidence> extends OwnedId<'lent asset'> {
  readonly group: LentGroup
  readonly evidence: Evidence | undefined
}

/** An asset that the caller may see. */
export type ReadableAsset<Evidence> = OwnedAsset<Evidence> | LentAsset<Evidence>

/** An asset that the caller owns. */
export interface OwnedAsset<Evidence> extends OwnedId<'asset'> {
  readonly group: OwnedGroup
  /** Undefined if `locate` was not called. */
  readonly evidence: Evidence | undefined
}

/** The rules of ownership. See `createOwnership`. */
export interface Ownership<Evidence = unknown> {
  /** The groups of a user with this type, or all of them. Oldest first. */
  groupsOf(user: string, type?: string): Awaitable<readonly OwnedGroup[]>
  /** The groups of a user with these ids, or all of them. Throws 403 if the user does not own one of the ids. */
  select(user: string, type: string | undefined, ids: readonly string[] | undefined): Awaitable<readonly OwnedGroup[]>
  /** A group of the user, of this type or of any type. */
  group(user: string, id: unknown, type?: string): Promise<OwnedGroup>
  /** An asset in a group of the user. Calls `locate` only if neither the cache nor the store knows the asset. */
  asset(user: string, id: unknown, request?: Request): Promise<OwnedAsset<Evidence>>
  /**
   * An asset in a group of the user. Always calls `locate`, for a route that needs its evidence.
   *
   * The user still owns an asset that was deleted upstream, if the cache or the store knows its group. The evidence
   * then shows the deletion.
   */
  locateAsset(user: string, id: unknown, request?: Request): Promise<OwnedAsset<Evidence>>
  /**
   * The groups with these ids that a user may see, or all of them. Throws 403 if one of the ids is not among the groups
   * that the scope takes.
   */
  selectReadable(
    user: string,
    type: string | undefined,
    ids: readonly string[] | undefined,
    scope: GroupScope,
  ): Awaitable<readonly ReadableGroup[]>
  /** A group that the user owns, or that is lent to the user. */
  readableGroup(user: string, id: unknown): Promise<ReadableGroup>
  /** An asset in such a group. Always calls `locate`, as `locateAsset` does. */
  readableAsset(user: string, id: unknown, request?: Request): Promise<ReadableAsset<Evidence>>
  /**
   * An asset in a group of the user, or in one that is lent to the user for use. Calls `locate` for those of others,
   * and for own ones as `asset` does. A use of a lent one begins with `recordUse`.
   */
  usableAsset(user: string, id: unknown, request?: Request): Promise<ReadableAsset<Evidence>>
  /** Whether all these groups are lent to the user for use. As cached results are: up to 900 ms ago. */
  areLent(user: string, groups: readonly string[]): Promise<boolean>
  /**
   * Records that the user uses lent groups now, when they are sent to an upstream. False: one of them is not lent to
   * the user any more, and nothing may be sent. It asks the store: a share that has been revoked is not used any more.
   */
  recordUse(user: string, groups: readonly string[]): Promise<boolean>
  /** Caches the group of an asset. Use it for the results of a list. Does nothing for a lent group. */
  cacheGroup(asset: string, group: ReadableGroup): void
  /** Stores that an asset was created in a group. @param slot as `recordAsset` of the store has it */
  record(asset: string, group: OwnedGroup, slot?: string): Promise<void>
  /** Notes that an asset was deleted at a time, in milliseconds since 1970. Rejects as the store does. */
  deleted(asset: OwnedId<'asset'>, at: number): Promise<void>
  /** Removes the group of an asset from the cache. Call it when the asset may have moved. */
  moved(asset: OwnedId<'asset'>): void
  /** Deletes the record of a group that no longer exists upstream. Its name is free afterwards. */
  remove(group: OwnedGroup): Promise<void>
  /** Stores a new description in a group's record. */
  describe(group: OwnedGroup, description: string): Promise<void>
  /** Stores the upstream's `CreateTime` of groups that a user may see. */
  date(user: string, dated: readonly Pick<ReadableGroup, 'id' | 'createdAt'>[]): Promise<void>
  /**
   * Removes a group and its user's list from the cache. Call it when the group was created or its record has changed.
   */
  changed(group: Pick<Group, 'id' | 'user'>): void
}

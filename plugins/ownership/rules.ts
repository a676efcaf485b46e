import { accessDenied } from '../shared/audit.ts'
import { type Awaitable, andThen, isPromise, orFail } from '../shared/awaitable.ts'
import { readId } from '../shared/id.ts'
import { isUserId } from '../shared/identity/identify.ts'
import { RevisionCache, RevisionClock } from '../shared/identity/revision-cache.ts'
import { declareOwned, type OwnedId, requireOwned } from '../shared/owned-id.ts'
import { checkCollaborator } from '../shared/plugin/options.ts'
import { Problem } from '../shared/problem.ts'
import { GroupList, type OwnedGroup } from './group-list.ts'
import type { Group, OwnershipStore } from './store.ts'

/** The result of `locate`: the group of an asset, according to the upstream. */
export interface AssetLocation<Evidence> {
  /** The id of its group; undefined if the asset does not exist. */
  readonly group: string | undefined
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
}

/** An asset that the caller owns. */
export interface OwnedAsset<Evidence> extends OwnedId<'asset'> {
  readonly group: OwnedGroup
  /** Undefined if `locate` was not called. */
  readonly evidence: Evidence | undefined
}

/** The id and the owner of a group. */
type GroupOwner = Pick<Group, 'id' | 'user'>

/** A group type; undefined: any type. */
type Type = string | undefined

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
  /** Caches the group of an asset. Use it for the results of a list within owned groups. */
  cacheGroup(asset: string, group: OwnedGroup): void
  /** Stores that an asset was created in a group. */
  record(asset: string, group: OwnedGroup): Promise<void>
  /** Notes that an asset was deleted at a time, in milliseconds since 1970. Rejects as the store does. */
  deleted(asset: OwnedId<'asset'>, at: number): Promise<void>
  /** Removes the group of an asset from the cache. Call it when the asset may have moved. */
  moved(asset: OwnedId<'asset'>): void
  /** Deletes the record of a group that no longer exists upstream. Its name is free afterwards. */
  remove(group: OwnedGroup): Promise<void>
  /** Stores a new description in a group's record. */
  describe(group: OwnedGroup, description: string): Promise<void>
  /** Stores the upstream's `CreateTime` of groups of a user. */
  date(user: string, dated: readonly Pick<OwnedGroup, 'id' | 'createdAt'>[]): Promise<void>
  /** Reads a group's record without the cache. Undefined if it does not exist. */
  current(group: OwnedGroup): Promise<Group | undefined>
  /**
   * Removes a group and its user's list from the cache. Call it when the group was created or its record has changed.
   */
  changed(group: Pick<Group, 'id' | 'user'>): void
}

/**
 * Creates the ownership rules: which user owns which groups and assets. Only this function creates owned ids.
 *
 * Its methods throw Problem 403 if the user does not own the group or asset, and Problem 500 if the store fails. A user
 * that is not a text, or is empty, owns nothing. They throw TypeError for a group that they have not returned. Throws
 * TypeError without a store.
 *
 * @example
 * const rules = createOwnership({ store, locate: async (asset) => ({ group: 'group-1', evidence: asset }) })
 * const group = await rules.group('ann', 'group-1')
 */
export const createOwnership = <Evidence>(options: OwnershipOptions<Evidence>): Ownership<Evidence> => {
  const { store, locate } = options
  checkCollaborator('store', store)
  const revisionClock = options.revisionClock ?? new RevisionClock((since) => store.revision(since))
  store.onRaise?.(() => revisionClock.notifyRaised())
  const groups = new RevisionCache<OwnedGroup>(revisionClock, { kind: 'group' })
  /** Group lists by user. The size limit counts groups, not lists. */
  const lists = new RevisionCache<GroupList>(revisionClock, { kind: 'groups', sizeOf: ({ all }) => all.length })
  /** The group of each asset. An entry stays valid until its group changes: a group never changes its owner. */
  const assetGroups = new RevisionCache<GroupOwner>(revisionClock, { kind: 'group', namedBy: ({ id }) => id })

  const evict = ({ id, user }: GroupOwner): void => {
    groups.delete(id)
    lists.delete(user)
  }

  /**
   * The group with this id if the user owns it, otherwise undefined.
   *
   * A foreign and an unknown id take one store call each, so that the response time does not reveal whether a group
   * exists.
   */
  const groupOf = (user: string, id: string, type?: Type): Awaitable<OwnedGroup | undefined> => {
    if (!isUserId(user)) return undefined
    const found = groups.get(
      id,
      async () => {
        const group = await store.group(id, user)
        // Another process may have just created the group. Then the cached list is out of date.
        if (group) lists.delete(user, ({ all }) => all.some((listed) => listed.id === id))
        return group && declareOwned('group', { ...group })
      },
      (group) => group.user === user,
    )
    return andThen(orFail(found, failCheck), (group) =>
      group?.user === user && (type === undefined || group.type === type) ? group : undefined,
    )
  }

  /**
   * The group in which an asset was recorded, if the user owns it. A foreign and an unknown asset take the same store
   * calls.
   */
  const recordedGroup = (user: string, asset: string): Awaitable<OwnedGroup | undefined> => {
    if (!isUserId(user)) return undefined
    const found = assetGroups.get(
      asset,
      async () => {
        const group = await store.groupOfAsset(asset, user)
        return group === undefined ? undefined : { id: group, user }
      },
      (group) => group.user === user,
    )
    return andThen(orFail(found, failCheck), (group) => group && groupOf(user, group.id))
  }

  /** All groups of the user; undefined if there are none. */
  const listOf = (user: string): Awaitable<GroupList | undefined> => {
    if (!isUserId(user)) return undefined
    const found = lists.get(user, async () => {
      const own = (await store.groupsOf(user)).filter((group) => group.user === user)
      return own.length === 0 ? undefined : new GroupList(own.map((group) => declareOwned('group', { ...group })))
    })
    return orFail(found, failCheck)
  }

  const ofType = (user: string, type?: Type): Awaitable<readonly OwnedGroup[]> =>
    andThen(listOf(user), (list) => list?.of(type) ?? [])

  const selectByIds = async (user: string, type: Type, ids: readonly string[]): Promise<readonly OwnedGroup[]> => {
    const wanted = new Set(ids)
    const select = async () => (await ofType(user, type)).filter((group) => wanted.has(group.id))
    const known = await select()
    if (known.length === wanted.size) return known
    // Another process may have just created one of them.
    lists.delete(user)
    const found = await select()
    if (found.length === wanted.size) return found
    const foreign = ids.find((id) => !found.some((group) => group.id === id))
    throw new Problem(403, 'GroupIds contain asset groups not belonging to you', {
      event: accessDenied('group', foreign),
    })
  }

  return {
    groupsOf: ofType,

    select(user: string, type: Type, ids: readonly string[] | undefined): Awaitable<readonly OwnedGroup[]> {
      if (ids === undefined) return ofType(user, type)
      if (!Array.isArray(ids)) throw new TypeError('ids must be an array; undefined: all groups of the user')
      return selectByIds(user, type, ids)
    },

    async group(user: string, id: unknown, type?: Type): Promise<OwnedGroup> {
      const readable = readId(id)
      const group = readable === undefined ? undefined : await groupOf(user, readable, type)
      if (group) return group
      throw new Problem(403, 'group_id does not belong to your asset groups', {
        event: accessDenied('group', readable),
      })
    },

    async asset(user: string, id: unknown, request?: Request): Promise<OwnedAsset<Evidence>> {
      const asset = readId(id)
      if (asset === undefined) throw foreignAsset()
      const group = await recordedGroup(user, asset)
      if (group) return declareOwned('asset', { id: asset, group, evidence: undefined })
      return this.locateAsset(user, asset, request)
    },

    async locateAsset(user: string, id: unknown, request?: Request): Promise<OwnedAsset<Evidence>> {
      const asset = readId(id)
      if (asset === undefined) throw foreignAsset()
      const located = await locate?.(asset, { user, request })
      const found = located?.group === undefined ? recordedGroup(user, asset) : groupOf(user, located.group)
      const group = isPromise(found) ? await found : found
      if (!group) throw foreignAsset(asset)
      this.cacheGroup(asset, group)
      return declareOwned('asset', { id: asset, group, evidence: located?.evidence })
    },

    cacheGroup(asset: string, group: OwnedGroup): void {
      requireOwned('group', group)
      assetGroups.set(asset, group)
    },

    async record(asset: string, group: OwnedGroup): Promise<void> {
      requireOwned('group', group)
      assetGroups.set(asset, group)
      await store.recordAsset(asset, group.id)
    },

    async deleted(asset: OwnedId<'asset'>, at: number): Promise<void> {
      requireOwned('asset', asset)
      await store.markAssetDeleted?.(asset.id, at)
    },

    moved(asset: OwnedId<'asset'>): void {
      assetGroups.delete(asset.id)
    },

    async remove(group: OwnedGroup): Promise<void> {
      requireOwned('group', group)
      await store.removeGroup(group).catch(failCheck)
      evict(group)
    },

    async describe(group: OwnedGroup, description: string): Promise<void> {
      requireOwned('group', group)
      await store.describeGroup(group, description).catch(failCheck)
    },

    async date(user: string, dated: readonly Pick<OwnedGroup, 'id' | 'createdAt'>[]): Promise<void> {
      if (dated.length === 0) return
      await store.dateGroups(dated).catch(failCheck)
      for (const { id } of dated) evict({ id, user })
    },

    async current(group: OwnedGroup): Promise<Group | undefined> {
      requireOwned('group', group)
      return store.group(group.id, group.user).catch(failCheck)
    },

    changed(group: Pick<Group, 'id' | 'user'>): void {
      evict(group)
    },
  }
}

const foreignAsset = (id?: string) =>
  new Problem(403, 'asset not found in your asset group', { event: accessDenied('asset', id) })

/** If the store fails, every check fails: the rules never grant access without it. */
const failCheck = (cause: unknown): never => {
  throw new Problem(500, 'ownership could not be checked', { cause })
}

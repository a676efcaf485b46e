import { accessDenied } from '../shared/audit.ts'
import { type Awaitable, isPromise, orFail } from '../shared/awaitable.ts'
import { systemClock } from '../shared/clock.ts'
import { readId } from '../shared/id.ts'
import { RevisionClock } from '../shared/identity/revision-clock.ts'
import { declareOwned, type OwnedId, requireOwned } from '../shared/owned-id.ts'
import { checkCollaborator } from '../shared/plugin/options.ts'
import { Problem } from '../shared/problem.ts'
import type { OwnedGroup } from './group-list.ts'
import { type LentGroup, LentGroups } from './lent-groups.ts'
import { OwnGroups } from './own-groups.ts'
import type {
  AssetLocation,
  GroupScope,
  OwnedAsset,
  Ownership,
  OwnershipOptions,
  ReadableAsset,
  ReadableGroup,
} from './ownership.ts'
import type { ShareAccess } from './share-store.ts'
import type { Group } from './store.ts'

/** A group type; undefined: any type. */
type Type = string | undefined

/**
 * Creates the ownership rules: which user owns which groups and assets.
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
  const { store, locate, shares, clock = systemClock, defaultAccount } = options
  checkCollaborator('store', store)
  const revisionClock = options.revisionClock ?? new RevisionClock((since) => store.revision(since))
  store.onRaise?.(() => revisionClock.notifyRaised())

  /** A copy of a record, with the account that it has. */
  const withAccount = <Record extends Group>(group: Record): Record =>
    defaultAccount === undefined || group.account !== undefined ? { ...group } : { ...group, account: defaultAccount }

  const own = new OwnGroups({ store, revisionClock, withAccount })
  const lent = shares && new LentGroups({ store: shares, revisionClock, clock, withAccount })

  const ofType = (user: string, type?: Type): Awaitable<readonly OwnedGroup[]> => orFail(own.of(user, type), failCheck)

  const groupOf = (user: string, id: string, type?: Type): Awaitable<OwnedGroup | undefined> =>
    orFail(own.find(user, id, type), failCheck)

  const recordedGroup = (user: string, asset: string): Awaitable<OwnedGroup | undefined> =>
    orFail(own.ofAsset(user, asset), failCheck)

  /** Those of some groups of a user that have these ids. */
  const selectByIds = async <Selected extends ReadableGroup>(
    ids: readonly string[],
    all: () => Awaitable<readonly Selected[]>,
    forget: () => void,
  ): Promise<readonly Selected[]> => {
    const wanted = new Set(ids)
    const select = async () => (await all()).filter((group) => wanted.has(group.id))
    const known = await select()
    if (known.length === wanted.size) return known
    // Another process may have just created one of them.
    forget()
    const found = await select()
    if (found.length === wanted.size) return found
    const foreign = ids.find((id) => !found.some((group) => group.id === id))
    throw new Problem(403, 'GroupIds contain asset groups not belonging to you', {
      event: accessDenied('group', foreign),
    })
  }

  const lentOf = (user: string, type: Type): Awaitable<readonly LentGroup[]> =>
    lent ? orFail(lent.of(user, type), failCheck) : []

  const lentGroup = (user: string, id: string, access: ShareAccess): Awaitable<LentGroup | undefined> =>
    lent && orFail(lent.find(user, id, access), failCheck)

  /** The groups that a user may see. */
  const readableOf = async (user: string, type: Type, scope: GroupScope): Promise<readonly ReadableGroup[]> => [
    ...(scope === 'all' ? await ofType(user, type) : []),
    ...(await lentOf(user, type)),
  ]

  /**
   * An asset in a group of the user or, with an access, in one that is lent to the user. `locate` says where it is: the
   * store's record of a lent asset may be older than its move to another group.
   */
  const locateFor = async (
    user: string,
    id: unknown,
    request: Request | undefined,
    access: ShareAccess | undefined,
  ): Promise<ReadableAsset<Evidence>> => {
    const asset = readId(id)
    if (asset === undefined) throw foreignAsset()
    const located = await locate?.(asset, { user, request })
    const evidence = located?.evidence
    const found = located?.group === undefined ? recordedGroup(user, asset) : groupOf(user, located.group)
    const group = isPromise(found) ? await found : found
    if (group && isOnAccount(group, located)) {
      own.place(asset, group)
      return ownedAsset(asset, group, evidence)
    }
    if (access && lent) {
      const place = located?.group ?? (locate ? undefined : await store.groupOfAsset(asset).catch(failCheck))
      // The same work for an asset that does not exist.
      const borrowed = await lentGroup(user, place ?? '', access)
      if (borrowed && isOnAccount(borrowed, located))
        return declareOwned('lent asset', { id: asset, account: borrowed.account, group: borrowed, evidence })
    }
    throw foreignAsset(asset)
  }

  return {
    groupsOf: ofType,

    select(user: string, type: Type, ids: readonly string[] | undefined): Awaitable<readonly OwnedGroup[]> {
      if (ids === undefined) return ofType(user, type)
      if (!Array.isArray(ids)) throw new TypeError('ids must be an array; undefined: all groups of the user')
      return selectByIds(
        ids,
        () => ofType(user, type),
        () => own.forgetList(user),
      )
    },

    selectReadable(
      user: string,
      type: Type,
      ids: readonly string[] | undefined,
      scope: GroupScope,
    ): Awaitable<readonly ReadableGroup[]> {
      if (scope === 'own') return this.select(user, type, ids)
      const all = () => readableOf(user, type, scope)
      const forget = () => {
        own.forgetList(user)
        lent?.forget(user)
      }
      return ids === undefined ? all() : selectByIds(ids, all, forget)
    },

    async readableGroup(user: string, id: unknown): Promise<ReadableGroup> {
      const readable = readId(id)
      const owned = readable === undefined ? undefined : await groupOf(user, readable)
      const group = owned ?? (readable === undefined ? undefined : await lentGroup(user, readable, 'read'))
      if (group) return group
      throw foreignGroup(readable)
    },

    readableAsset: (user: string, id: unknown, request?: Request) => locateFor(user, id, request, 'read'),

    async usableAsset(user: string, id: unknown, request?: Request): Promise<ReadableAsset<Evidence>> {
      const asset = readId(id)
      const group = asset === undefined ? undefined : await recordedGroup(user, asset)
      if (asset !== undefined && group) return ownedAsset(asset, group)
      return locateFor(user, id, request, 'use')
    },

    async areLent(user: string, groups: readonly string[]): Promise<boolean> {
      for (const group of groups) if (!(await lentGroup(user, group, 'use'))) return false
      return true
    },

    async recordUse(user: string, groups: readonly string[]): Promise<boolean> {
      return lent ? lent.recordUse(user, groups).catch(failCheck) : groups.length === 0
    },

    async group(user: string, id: unknown, type?: Type): Promise<OwnedGroup> {
      const readable = readId(id)
      const group = readable === undefined ? undefined : await groupOf(user, readable, type)
      if (group) return group
      throw foreignGroup(readable)
    },

    async asset(user: string, id: unknown, request?: Request): Promise<OwnedAsset<Evidence>> {
      const asset = readId(id)
      if (asset === undefined) throw foreignAsset()
      const group = await recordedGroup(user, asset)
      if (group) return ownedAsset(asset, group)
      return this.locateAsset(user, asset, request)
    },

    async locateAsset(user: string, id: unknown, request?: Request): Promise<OwnedAsset<Evidence>> {
      // Without an access it finds own assets only.
      return (await locateFor(user, id, request, undefined)) as OwnedAsset<Evidence>
    },

    cacheGroup(asset: string, group: ReadableGroup): void {
      if (isLent(group)) return
      requireOwned('group', group)
      own.place(asset, group)
    },

    async record(asset: string, group: OwnedGroup, slot?: string): Promise<void> {
      requireOwned('group', group)
      own.place(asset, group)
      await store.recordAsset(asset, group.id, slot)
    },

    async deleted(asset: OwnedId<'asset'>, at: number): Promise<void> {
      requireOwned('asset', asset)
      await store.markAssetDeleted?.(asset.id, at)
    },

    moved(asset: OwnedId<'asset'>): void {
      own.forgetPlace(asset.id)
    },

    async remove(group: OwnedGroup): Promise<void> {
      requireOwned('group', group)
      await store.removeGroup(group).catch(failCheck)
      own.forgetGroup(group)
    },

    async describe(group: OwnedGroup, description: string): Promise<void> {
      requireOwned('group', group)
      await store.describeGroup(group, description).catch(failCheck)
    },

    async date(user: string, dated: readonly Pick<ReadableGroup, 'id' | 'createdAt'>[]): Promise<void> {
      if (dated.length === 0) return
      await store.dateGroups(dated).catch(failCheck)
      for (const { id } of dated) own.forgetGroup({ id, user })
      lent?.forget(user)
    },

    changed(group: Pick<Group, 'id' | 'user'>): void {
      own.forgetGroup(group)
    },
  }
}

/** An asset is on the account of its group. */
const ownedAsset = <Evidence>(id: string, group: OwnedGroup, evidence?: Evidence): OwnedAsset<Evidence> =>
  declareOwned('asset', { id, account: group.account, group, evidence })

/** Whether the account that has named a group has it. Two accounts may have objects with the same id. */
const isOnAccount = (group: ReadableGroup, located: AssetLocation<unknown> | undefined): boolean =>
  located?.group === undefined || located.account === group.account

/** Whether a group is lent to the caller, and not the caller's own. */
export const isLent = (group: ReadableGroup): group is LentGroup => 'access' in group

const foreignGroup = (id: string | undefined) =>
  new Problem(403, 'group_id does not belong to your asset groups', { event: accessDenied('group', id) })

const foreignAsset = (id?: string) =>
  new Problem(403, 'asset not found in your asset group', { event: accessDenied('asset', id) })

/** If the store fails, every check fails: the rules never grant access without it. */
const failCheck = (cause: unknown): never => {
  throw new Problem(500, 'ownership could not be checked', { cause })
}

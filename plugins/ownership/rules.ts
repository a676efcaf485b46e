import { accessRefused } from '../shared/audit.ts'
import { type Awaitable, andThen, isPromise, orFail } from '../shared/awaitable.ts'
import { readId } from '../shared/id.ts'
import type { OwnedId } from '../shared/owned-id.ts'
import { Problem } from '../shared/problem.ts'
import { RevisionCache, RevisionClock } from '../shared/revision-cache.ts'
import { GroupList } from './group-list.ts'
import type { Group, OwnershipStore } from './store.ts'

/** What somebody who knows more than the store says of an asset. */
export interface AssetLocation<Evidence> {
  /** The group it lies in; undefined when there is no such asset. */
  readonly group: string | undefined
  /** Whatever was learned on the way, for example the upstream's answer; handed on with the asset. */
  readonly evidence: Evidence
}

export interface OwnershipOptions<Evidence = unknown> {
  readonly store: OwnershipStore
  /** Asks about an asset. Without it only assets known to the store exist. `request` ends the question when its caller goes away. */
  readonly locate?: (asset: string, request?: Request) => Promise<AssetLocation<Evidence>>
  /** When remembered answers are used. Default: checked against the store's revision twice a second. */
  readonly revisionClock?: RevisionClock
}

/** An asset of the caller's. */
export interface OwnedAsset<Evidence> extends OwnedId<'asset'> {
  /** Undefined when nobody had to be asked. */
  readonly evidence: Evidence | undefined
}

/** A group of the caller's, with its record. */
export type OwnedGroup = Group & OwnedId<'group'>

/** The group that an asset lies in, and whose that is. */
type Place = Pick<Group, 'id' | 'user'>

/** Group types that a caller may have; undefined: any. */
type Type = string | undefined

/**
 * Who owns what. All rules live here, and only here is anything declared owned.
 *
 * Throws Problem 403 for what is not the caller's, and 500 when the store cannot be asked.
 */
export const createOwnership = <Evidence>(options: OwnershipOptions<Evidence>) => {
  type Examined = { readonly id: string; readonly evidence: Evidence | undefined }
  const { store, locate } = options
  const revisionClock = options.revisionClock ?? new RevisionClock((since) => store.revision(since))
  store.onRaise?.(() => revisionClock.raised())
  const groups = new RevisionCache<OwnedGroup>(revisionClock, { kind: 'group' })
  /** By user. As many groups as anything else that is remembered, whoever's they are. */
  const lists = new RevisionCache<GroupList>(revisionClock, { kind: 'groups', sizeOf: ({ all }) => all.length })
  /** Asset to group. Assets never change hands: a group has one owner for life. */
  const places = new RevisionCache<Place>(revisionClock, { kind: 'group', namedBy: ({ id }) => id })

  const forget = ({ id, user }: Place): void => {
    groups.forget(id)
    lists.forget(user)
  }

  /** The user's group with that id; undefined when it is not, whatever the reason: it takes one question to the store whether it is a stranger's or nobody's. */
  const groupOf = (user: string, id: string, type?: Type): Awaitable<OwnedGroup | undefined> => {
    const found = groups.get(
      id,
      async () => {
        const group = await store.group(id, user)
        // Another process may have made it a moment ago.
        if (group) lists.forget(user, ({ all }) => all.some((listed) => listed.id === id))
        return group && declareOwned<'group', Group>(group)
      },
      (group) => group.user === user,
    )
    return andThen(orFail(found, unchecked), (group) =>
      group?.user === user && (type === undefined || group.type === type) ? group : undefined,
    )
  }

  /** The user's group that an asset was recorded in; the same of it. */
  const recorded = (user: string, asset: string): Awaitable<OwnedGroup | undefined> => {
    const found = places.get(
      asset,
      async () => {
        const group = await store.groupOfAsset(asset, user)
        return group === undefined ? undefined : { id: group, user }
      },
      (place) => place.user === user,
    )
    return andThen(orFail(found, unchecked), (place) => place && groupOf(user, place.id))
  }

  /** The user's groups; undefined when there are none. */
  const listOf = (user: string): Awaitable<GroupList | undefined> => {
    const found = lists.get(user, async () => {
      const own = (await store.groupsOf(user)).filter((group) => group.user === user)
      return own.length === 0 ? undefined : new GroupList(own.map((group) => declareOwned<'group', Group>(group)))
    })
    return orFail(found, unchecked)
  }

  const ofType = (user: string, type?: Type): Awaitable<readonly OwnedGroup[]> =>
    andThen(listOf(user), (list) => list?.of(type) ?? [])

  const selected = async (user: string, type: Type, ids: readonly string[]): Promise<readonly OwnedGroup[]> => {
    const wanted = new Set(ids)
    const select = async () => (await ofType(user, type)).filter((group) => wanted.has(group.id))
    const known = await select()
    if (known.length === wanted.size) return known
    // Another process may have made one a moment ago.
    lists.forget(user)
    const found = await select()
    if (found.length === wanted.size) return found
    const foreign = ids.find((id) => !found.some((group) => group.id === id))
    throw new Problem(403, 'GroupIds contain asset groups not belonging to you', {
      event: accessRefused('group', foreign),
    })
  }

  return {
    /** All groups of a user that are of a type, oldest first. */
    groupsOf: ofType,

    /** The same; of those, where ids are given, the ones that have them: every id has to be among them. */
    select(user: string, type: Type, ids: readonly string[] | undefined): Awaitable<readonly OwnedGroup[]> {
      return ids ? selected(user, type, ids) : ofType(user, type)
    },

    /** One group of the user's, of that type or of any. */
    async group(user: string, id: unknown, type?: Type): Promise<OwnedGroup> {
      const readable = readId(id)
      const group = readable === undefined ? undefined : await groupOf(user, readable, type)
      if (group) return group
      throw new Problem(403, 'group_id does not belong to your asset groups', {
        event: accessRefused('group', readable),
      })
    },

    /** An asset in one of the user's groups, of any type. Asks `locate` only where neither memory nor store knows it. */
    async asset(user: string, id: unknown, request?: Request): Promise<OwnedAsset<Evidence>> {
      const asset = readId(id)
      if (asset === undefined) throw foreignAsset()
      if (await recorded(user, asset)) return declareOwned<'asset', Examined>({ id: asset, evidence: undefined })
      return this.examine(user, asset, request)
    },

    /**
     * The same, but `locate` is asked in any case: for a route that needs its evidence. An asset that is gone is still the user's if it is known to
     * have been; the evidence says that it is gone.
     */
    async examine(user: string, id: unknown, request?: Request): Promise<OwnedAsset<Evidence>> {
      const asset = readId(id)
      if (asset === undefined) throw foreignAsset()
      const located = await locate?.(asset, request)
      const found = located?.group === undefined ? recorded(user, asset) : groupOf(user, located.group)
      const group = isPromise(found) ? await found : found
      if (!group) throw foreignAsset(asset)
      this.learn(asset, group)
      return declareOwned<'asset', Examined>({ id: asset, evidence: located?.evidence })
    },

    /** Remembers where an asset lies: known from a list that was asked for within owned groups. */
    learn(asset: string, group: OwnedGroup): void {
      places.learn(asset, group)
    },

    /** Keeps, for good, that an asset was created in a group. */
    async record(asset: string, group: OwnedGroup): Promise<void> {
      places.learn(asset, group)
      await store.recordAsset(asset, group.id)
    },

    /** Forgets where an asset lies, after it may have moved. */
    moved(asset: OwnedId<'asset'>): void {
      places.forget(asset.id)
    },

    /** Gives up a group that is gone, and with it its name. */
    async remove(group: OwnedGroup): Promise<void> {
      await store.removeGroup(group).catch(unchecked)
      forget(group)
    },

    /** Keeps a new description in a group's record. */
    async describe(group: OwnedGroup, description: string): Promise<void> {
      await store.describeGroup(group, description).catch(unchecked)
    },

    /** Keeps when the upstream says that groups of a user were created. */
    async date(user: string, dated: readonly Pick<OwnedGroup, 'id' | 'createdAt'>[]): Promise<void> {
      if (dated.length === 0) return
      await store.dateGroups(dated).catch(unchecked)
      for (const { id } of dated) forget({ id, user })
    },

    /** A group as its record stands: what is remembered may be a moment old. Undefined when it is gone. */
    current({ id, user }: OwnedGroup): Promise<Group | undefined> {
      return store.group(id, user).catch(unchecked)
    },

    /** Forgets what is remembered of a group and its user's others, after it was made or its record changed. */
    changed(group: Pick<Group, 'id' | 'user'>): void {
      forget(group)
    },
  }
}

export type Ownership<Evidence = unknown> = ReturnType<typeof createOwnership<Evidence>>

/** The only place where something becomes owned. */
const declareOwned = <Kind extends string, Checked extends { readonly id: string }>(checked: Checked) =>
  checked as Checked & OwnedId<Kind>

const foreignAsset = (id?: string) =>
  new Problem(403, 'asset not found in your asset group', { event: accessRefused('asset', id) })

/** Without an answer from the store nobody owns anything. */
const unchecked = (cause: unknown): never => {
  throw new Problem(500, 'ownership could not be checked', { cause })
}

import { readId } from '../shared/id.ts'
import type { Owned } from '../shared/owned.ts'
import { Problem } from '../shared/problem.ts'
import { Freshness, Remembered } from '../shared/remembered.ts'
import type { Group, OwnershipStore } from './store.ts'

/** What somebody who knows more than the store says of an asset. */
export interface Located<Evidence> {
  /** The group it lies in; undefined when there is no such asset. */
  readonly group: string | undefined
  /** Whatever was learned on the way, for example the upstream's answer; handed on with the asset. */
  readonly evidence: Evidence
}

export interface OwnershipOptions<Evidence = unknown> {
  readonly store: OwnershipStore
  /** Asks about an asset. Without it only assets known to the store exist. `request` ends the question when its caller goes away. */
  readonly locate?: (asset: string, request?: Request) => Promise<Located<Evidence>>
  /** When remembered answers are used. Default: checked against the store's revision twice a second. */
  readonly freshness?: Freshness
}

/** An asset of the caller's. */
export interface OwnedAsset<Evidence> extends Owned<'asset'> {
  /** Undefined when nobody had to be asked. */
  readonly evidence: Evidence | undefined
}

/** A group of the caller's, with its record. */
export type OwnedGroup = Group & Owned<'group'>

/** Group types that a caller may have; undefined: any. */
type Type = string | undefined

/**
 * Who owns what. All rules live here, and only here is anything declared owned.
 *
 * Throws Problem 403 for what is not the caller's, and 500 when the store cannot be asked.
 */
export const createOwnership = <Evidence>(options: OwnershipOptions<Evidence>) => {
  const { store, locate } = options
  const freshness = options.freshness ?? new Freshness(() => store.revision())
  const groups = new Remembered<Group>(freshness)
  /** Asset to group. Assets never change hands: a group has one owner for life. */
  const places = new Remembered<string>(freshness)

  /** The user's group with that id; undefined when it is not, whatever the reason. */
  const groupOf = async (user: string, id: string, type?: Type): Promise<OwnedGroup | undefined> => {
    const group = await asked(groups.get(id, () => store.group(id)))
    return group?.user === user && (type === undefined || group.type === type)
      ? { ...group, ...declareOwned(id) }
      : undefined
  }

  return {
    /** All groups of a user that are of a type, oldest first. */
    async groupsOf(user: string, type?: Type): Promise<readonly OwnedGroup[]> {
      const found = await asked(store.groupsOf(user, type))
      return found
        .filter((group) => group.user === user)
        .map((group) => ({ ...group, ...declareOwned<'group'>(group.id) }))
    },

    /** Those of the user's groups that have one of the ids; every id has to be among them. */
    select(own: readonly OwnedGroup[], ids: readonly string[] | undefined): readonly OwnedGroup[] {
      if (!ids) return own
      const wanted = new Set(ids)
      const selected = own.filter((group) => wanted.has(group.id))
      if (selected.length !== wanted.size) throw new Problem(403, 'GroupIds contain asset groups not belonging to you')
      return selected
    },

    /** One group of the user's, of that type or of any. */
    async group(user: string, id: unknown, type?: Type): Promise<OwnedGroup> {
      const readable = readId(id)
      const group = readable === undefined ? undefined : await groupOf(user, readable, type)
      if (!group) throw new Problem(403, 'group_id does not belong to your asset groups')
      return group
    },

    /** An asset in one of the user's groups, of any type. Asks `locate` only where neither memory nor store knows it. */
    async asset(user: string, id: unknown, request?: Request): Promise<OwnedAsset<Evidence>> {
      const asset = readId(id)
      if (asset === undefined) throw foreignAsset()
      const place = await asked(places.get(asset, () => store.groupOfAsset(asset)))
      if (place !== undefined && (await groupOf(user, place)))
        return { ...declareOwned<'asset'>(asset), evidence: undefined }
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
      const place = located?.group ?? (await asked(places.get(asset, () => store.groupOfAsset(asset))))
      if (place === undefined || !(await groupOf(user, place))) throw foreignAsset()
      places.learn(asset, place)
      return { ...declareOwned<'asset'>(asset), evidence: located?.evidence }
    },

    /** Remembers where an asset lies: known from a list that was asked for within owned groups. */
    learn(asset: string, group: Owned<'group'>): void {
      places.learn(asset, group.id)
    },

    /** Keeps, for good, that an asset was created in a group. */
    async record(asset: string, group: Owned<'group'>): Promise<void> {
      places.learn(asset, group.id)
      await store.recordAsset(asset, group.id)
    },

    /** Forgets where an asset lies, after it may have moved. */
    moved(asset: Owned<'asset'>): void {
      places.forget(asset.id)
    },

    /** Gives up a group that is gone, and with it its name. */
    async remove(group: Owned<'group'>): Promise<void> {
      await asked(store.removeGroup(group.id))
      groups.forget(group.id)
    },

    /** Keeps a new description in a group's record. */
    async describe(group: Owned<'group'>, description: string): Promise<void> {
      await asked(store.describeGroup(group.id, description))
    },

    /** Keeps when the upstream says that groups were created. */
    async date(dated: readonly Pick<OwnedGroup, 'id' | 'createdAt'>[]): Promise<void> {
      if (dated.length === 0) return
      await asked(store.dateGroups(dated))
      for (const { id } of dated) groups.forget(id)
    },

    /** Forgets what is remembered of a group, after its record changed. */
    changed(group: Owned<'group'>): void {
      groups.forget(group.id)
    },
  }
}

export type Ownership<Evidence = unknown> = ReturnType<typeof createOwnership<Evidence>>

/** The only place where something becomes owned. */
const declareOwned = <Kind extends string>(id: string): Owned<Kind> => ({ id }) as Owned<Kind>

const foreignAsset = () => new Problem(403, 'asset not found in your asset group')

/** Without an answer from the store nobody owns anything. */
const asked = async <Value>(question: Promise<Value>): Promise<Value> => {
  try {
    return await question
  } catch (cause) {
    throw new Problem(500, 'ownership could not be checked', { cause })
  }
}

import { type Awaitable, andThen } from '../shared/awaitable.ts'
import { isUserId } from '../shared/identity/identify.ts'
import { RevisionCache } from '../shared/identity/revision-cache.ts'
import type { RevisionClock } from '../shared/identity/revision-clock.ts'
import { declareOwned } from '../shared/owned-id.ts'
import { GroupList, type OwnedGroup } from './group-list.ts'
import type { Group, OwnershipStore } from './store.ts'

/** The id and the owner of a group. */
type GroupOwner = Pick<Group, 'id' | 'user'>

interface OwnGroupsOptions {
  readonly store: Pick<OwnershipStore, 'group' | 'groupOfAsset' | 'groupsOf'>
  readonly revisionClock: RevisionClock
  /** Completes a record with its account. */
  readonly withAccount: <Record extends Group>(group: Record) => Record
}

/** The groups that users own, and which assets are in them. Rejects as the store does. */
export class OwnGroups {
  readonly #store: OwnGroupsOptions['store']
  readonly #withAccount: OwnGroupsOptions['withAccount']
  readonly #groups: RevisionCache<OwnedGroup>
  /** By user. The size limit counts groups, not lists. */
  readonly #lists: RevisionCache<GroupList>
  /** The group of each asset. An entry stays valid until its group changes: a group never changes its owner. */
  readonly #assetGroups: RevisionCache<GroupOwner>

  constructor({ store, revisionClock, withAccount }: OwnGroupsOptions) {
    this.#store = store
    this.#withAccount = withAccount
    this.#groups = new RevisionCache(revisionClock, { kind: 'group' })
    this.#lists = new RevisionCache(revisionClock, { kind: 'groups', sizeOf: ({ all }) => all.length })
    this.#assetGroups = new RevisionCache(revisionClock, { kind: 'group', namedBy: ({ id }) => id })
  }

  /** All groups of the user of a type; undefined: of any type. */
  of(user: string, type: string | undefined): Awaitable<readonly OwnedGroup[]> {
    if (!isUserId(user)) return []
    const found = this.#lists.get(user, async () => {
      const own = (await this.#store.groupsOf(user)).filter((group) => group.user === user)
      return own.length === 0
        ? undefined
        : new GroupList(own.map((group) => declareOwned('group', this.#withAccount(group))))
    })
    return andThen(found, (list) => list?.of(type) ?? [])
  }

  /**
   * The group with this id if the user owns it, otherwise undefined.
   *
   * A foreign and an unknown id take one store call each, so that the response time does not reveal whether a group
   * exists.
   */
  find(user: string, id: string, type?: string): Awaitable<OwnedGroup | undefined> {
    if (!isUserId(user)) return undefined
    const found = this.#groups.get(
      id,
      async () => {
        const group = await this.#store.group(id, user)
        // Another process may have just created the group. Then the cached list is out of date.
        if (group) this.#lists.delete(user, ({ all }) => all.some((listed) => listed.id === id))
        return group && declareOwned('group', this.#withAccount(group))
      },
      (group) => group.user === user,
    )
    return andThen(found, (group) =>
      group?.user === user && (type === undefined || group.type === type) ? group : undefined,
    )
  }

  /**
   * The group in which an asset was recorded, if the user owns it. A foreign and an unknown asset take the same store
   * calls.
   */
  ofAsset(user: string, asset: string): Awaitable<OwnedGroup | undefined> {
    if (!isUserId(user)) return undefined
    const found = this.#assetGroups.get(
      asset,
      async () => {
        const group = await this.#store.groupOfAsset(asset, user)
        return group === undefined ? undefined : { id: group, user }
      },
      (group) => group.user === user,
    )
    return andThen(found, (group) => group && this.find(user, group.id))
  }

  /** Takes an asset to be in a group, without asking the store. */
  place(asset: string, group: GroupOwner): void {
    this.#assetGroups.set(asset, group)
  }

  forgetPlace(asset: string): void {
    this.#assetGroups.delete(asset)
  }

  forgetGroup({ id, user }: GroupOwner): void {
    this.#groups.delete(id)
    this.forgetList(user)
  }

  forgetList(user: string): void {
    this.#lists.delete(user)
  }
}

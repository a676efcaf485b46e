import { type Awaitable, andThen } from '../shared/awaitable.ts'
import type { Clock } from '../shared/clock.ts'
import { isUserId } from '../shared/identity/identify.ts'
import { RevisionCache } from '../shared/identity/revision-cache.ts'
import type { RevisionClock } from '../shared/identity/revision-clock.ts'
import { declareOwned, type OwnedId } from '../shared/owned-id.ts'
import type { LentGroupRecord, ShareAccess, ShareStore } from './share-store.ts'
import type { Group } from './store.ts'

/** A group that its owner lends to the caller, with its record. `user` is the owner, whom the caller does not see. */
export type LentGroup = LentGroupRecord & OwnedId<'lent group'>

interface LentGroupsOptions {
  readonly store: ShareStore
  readonly revisionClock: RevisionClock
  readonly clock: Pick<Clock, 'now'>
  /** Completes a record with its account. */
  readonly withAccount: <Record extends Group>(group: Record) => Record
}

/** The groups that are lent to users. Rejects as the store does. */
export class LentGroups {
  readonly #store: ShareStore
  readonly #clock: Pick<Clock, 'now'>
  readonly #withAccount: LentGroupsOptions['withAccount']
  /** By borrower, also without a group: who guesses ids asks the store once. The size limit counts groups. */
  readonly #lent: RevisionCache<readonly LentGroup[]>

  constructor({ store, revisionClock, clock, withAccount }: LentGroupsOptions) {
    this.#store = store
    this.#clock = clock
    this.#withAccount = withAccount
    this.#lent = new RevisionCache(revisionClock, {
      // The team of a user may have changed.
      kind: 'user',
      clearedBy: ['shares', 'group'],
      sizeOf: ({ length }) => length + 1,
    })
  }

  /** The groups of one type, or of all types, that are lent to a user now. */
  of(user: string, type?: string): Awaitable<readonly LentGroup[]> {
    return andThen(this.#all(user), (all) => {
      const now = this.#clock.now()
      const found = new Map<string, LentGroup>()
      for (const group of all) {
        if ((type !== undefined && group.type !== type) || !isLentAt(group, now)) continue
        if (group.access === 'use' || !found.has(group.id)) found.set(group.id, group)
      }
      return [...found.values()]
    })
  }

  /** The group with this id, if it is lent to the user now, for this. */
  find(user: string, id: string, access: ShareAccess): Awaitable<LentGroup | undefined> {
    return andThen(this.#all(user), (all) => {
      const now = this.#clock.now()
      const lent = all.filter((group) => group.id === id && isLentAt(group, now))
      return lent.find((group) => group.access === 'use') ?? (access === 'read' ? lent[0] : undefined)
    })
  }

  /** Records that the user uses these groups now. False: one of them is not lent to the user for that. */
  async recordUse(user: string, ids: readonly string[]): Promise<boolean> {
    // Always in the same order, so that two calls cannot wait for each other.
    for (const id of [...ids].sort()) if (!(await this.#store.recordGroupUse(user, id, this.#clock.now()))) return false
    return true
  }

  /** The record of a group may have changed. */
  forget(user: string): void {
    this.#lent.delete(user)
  }

  #all(user: string): Awaitable<readonly LentGroup[]> {
    if (!isUserId(user)) return []
    const found = this.#lent.get(user, async () => {
      const lent = await this.#store.groupsLentTo(user, this.#clock.now())
      return lent.flatMap((group) =>
        group.user === user ? [] : [declareOwned('lent group', this.#withAccount(group))],
      )
    })
    return andThen(found, (all) => all ?? [])
  }
}

const isLentAt = ({ until }: LentGroupRecord, now: number): boolean => until === undefined || now < until

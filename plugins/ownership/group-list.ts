import type { OwnedId } from '../shared/owned-id.ts'
import type { Group } from './store.ts'

/** A group that the caller owns, with its record. */
export type OwnedGroup = Group & OwnedId<'group'>

/** The groups of one user, indexed by type. */
export class GroupList {
  /** Oldest first. */
  readonly all: readonly OwnedGroup[]
  readonly #byType: ReadonlyMap<string, readonly OwnedGroup[]>

  constructor(all: readonly OwnedGroup[]) {
    this.all = all
    this.#byType = Map.groupBy(all, ({ type }) => type)
  }

  /** The groups of this type; all groups if the type is undefined. */
  of(type: string | undefined): readonly OwnedGroup[] {
    return type === undefined ? this.all : (this.#byType.get(type) ?? [])
  }
}

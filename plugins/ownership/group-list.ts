import type { OwnedGroup } from './rules.ts'

/** The groups of one user, as lists want them. */
export class GroupList {
  /** Oldest first. */
  readonly all: readonly OwnedGroup[]
  readonly #byType: ReadonlyMap<string, readonly OwnedGroup[]>

  constructor(all: readonly OwnedGroup[]) {
    this.all = all
    this.#byType = Map.groupBy(all, ({ type }) => type)
  }

  /** Those of a type, or all of them. */
  of(type: string | undefined): readonly OwnedGroup[] {
    return type === undefined ? this.all : (this.#byType.get(type) ?? [])
  }
}

import type { Group } from '../ownership/index.ts'
import type { PageOf, PageRequest } from './store.ts'

/** The creation or renaming of a group whose outcome is not known. Times are milliseconds since 1970. */
export interface PendingGroup {
  readonly id: string
  /** Id of the user. */
  readonly user: string
  /** Undefined: a user of a host app. */
  readonly userName?: string
  readonly type: string
  readonly name: string
  /**
   * - `pending`: its request may still be running.
   * - `unresolved`: the gateway looks for the group, and its name is free again.
   */
  readonly state: 'pending' | 'unresolved'
  /** Id of the group that is renamed. Undefined: a group is created. */
  readonly renames?: string
  /** The account of the asset library where the group is. Undefined: the first, or the only one. */
  readonly account?: string
  /** Id of the group that the upstream created. Undefined: unknown. */
  readonly group?: string
  readonly createdAt: number
  readonly dueAt: number
}

/** The store port of pending groups. */
export interface PendingGroupStore {
  /** Lists what is pending, oldest first. */
  pendingGroups(page: PageRequest): Promise<PageOf<PendingGroup>>
  pendingGroup(id: string): Promise<PendingGroup | undefined>
  /**
   * Makes a user the owner of the group that stands behind a pending creation. Nothing changes with any other word than
   * `adopted`.
   *
   * - `unknown`: nothing is pending with that id
   * - `renames`: a group is renamed, and none is created
   * - `other-group`: the upstream is known to have created another group
   * - `group-taken`: the group has an owner
   * - `name-taken`: the user has a group of that type and name
   */
  adoptPendingGroup(
    id: string,
    owner: { readonly user: string; readonly group: string },
  ): Promise<'adopted' | 'unknown' | 'renames' | 'other-group' | 'group-taken' | 'name-taken'>
  /**
   * Makes a user the owner of a group. Nothing changes with a result: the group has an owner, or the user has a group
   * of that type and name.
   */
  adoptGroup(group: Omit<Group, 'description' | 'dated'>): Promise<'group taken' | 'name taken' | undefined>
  /** Deletes what is pending. False when there is nothing with that id. */
  dropClaim(id: string): Promise<boolean>
}

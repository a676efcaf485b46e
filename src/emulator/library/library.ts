import type { Member } from '../shared/members.ts'
import type { Asset, AssetStatus, AssetType, Group, GroupType } from './records.ts'

/** A group to add to the library. TimeFormat are in ms since 1970; default now. */
export interface NewGroup {
  readonly name: string
  /** default AIGC; LivenessFace is allowed here */
  readonly type?: GroupType
  readonly description?: string
  /** default: the emulator's project */
  readonly project?: string
  /** any unused id; default a new one in the upstream's format */
  readonly id?: string
  readonly createTime?: number
  /** default `createTime` */
  readonly updateTime?: number
  readonly extra?: readonly Member[]
}

/** An asset to add to the library. TimeFormat are in ms since 1970; default now. */
export interface NewAsset {
  /** id of an existing group */
  readonly groupId: string
  readonly name?: string
  /** default Active; Processing ends `processingMs` after the asset was added */
  readonly status?: AssetStatus
  readonly error?: { readonly code: string; readonly message: string }
  readonly url?: string
  /** default Image */
  readonly type?: AssetType
  readonly moderation?: string
  readonly id?: string
  readonly createTime?: number
  /** default `createTime` */
  readonly updateTime?: number
  readonly extra?: readonly Member[]
}

/** The groups and assets of the account, with direct access: no rate limits, no quota, no delay. */
export interface Library {
  /** all groups of all projects, in the order in which they were added */
  groups(): Group[]
  /** all assets, or those of one group, in the order in which they were added */
  assets(groupId?: string): Asset[]
  group(id: string): Group | undefined
  asset(id: string): Asset | undefined
  /** throws when the id exists already */
  addGroup(group: NewGroup): Group
  /** throws when the id exists already or the group does not exist */
  addAsset(asset: NewAsset): Asset
  /** changes a group and its UpdateTime; false when the group does not exist */
  changeGroup(id: string, change: { readonly name?: string; readonly description?: string }): boolean
  /** renames an asset and changes its UpdateTime; false when the asset does not exist */
  renameAsset(id: string, name: string): boolean
  /** deletes a group of any type with its assets; false when the group does not exist */
  deleteGroup(id: string): boolean
  /** false when the asset does not exist */
  deleteAsset(id: string): boolean
  count(): { readonly groups: number; readonly assets: number }
  /**
   * advances the clock of the library and of video generation by `ms`. This affects processing, new times, video tasks
   * with their limits and links, but not rate limits and signatures of the asset APIs
   */
  advance(ms: number): void
  /** the library's clock in ms since 1970, including `advance` */
  now(): number
  /** increases with every change; derived data is valid while it stays the same */
  revision(): number
}

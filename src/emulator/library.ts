import type { Member } from './members.ts'
import type { Asset, AssetStatus, AssetType, Group, GroupType } from './records.ts'

/** A group to put into the library; times in ms since 1970, default now. */
export interface NewGroup {
  readonly name: string
  /** default AIGC; LivenessFace is fine here */
  readonly type?: GroupType
  readonly description?: string
  /** default the emulator's project */
  readonly project?: string
  /** any unused text; default one of the upstream's form */
  readonly id?: string
  readonly createTime?: number
  /** default `createTime` */
  readonly updateTime?: number
  readonly extra?: readonly Member[]
}

/** An asset to put into the library; times in ms since 1970, default now. */
export interface NewAsset {
  /** an existing group */
  readonly groupId: string
  readonly name?: string
  /** default Active; Processing ends `processingMs` after it was added */
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

/** What the account holds, as somebody at the vendor's console sees and changes it: no limits, no quota, no lag. */
export interface Library {
  /** all groups of all projects, oldest entry first */
  groups(): Group[]
  /** all assets, or those of one group, oldest entry first within a group */
  assets(groupId?: string): Asset[]
  group(id: string): Group | undefined
  asset(id: string): Asset | undefined
  /** throws when the id is taken */
  addGroup(group: NewGroup): Group
  /** throws when the id is taken or the group does not exist */
  addAsset(asset: NewAsset): Asset
  /** changes a group and its UpdateTime; false when there is none */
  changeGroup(id: string, change: { readonly name?: string; readonly description?: string }): boolean
  /** renames an asset and changes its UpdateTime; false when there is none */
  renameAsset(id: string, name: string): boolean
  /** removes a group of any type with its assets; false when there is none */
  deleteGroup(id: string): boolean
  deleteAsset(id: string): boolean
  count(): { readonly groups: number; readonly assets: number }
  /** moves the library's time ahead by so many ms: processing and new times follow, limits and signatures do not */
  advance(ms: number): void
  /** ms since 1970, `advance` included */
  now(): number
  /** grows with every change; what was derived from the library holds as long as it stays */
  revision(): number
}

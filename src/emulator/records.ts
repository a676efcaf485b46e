import type { Member } from './members.ts'

/** The two kinds of group. Only AIGC groups can be created over the API. */
export type GroupType = 'AIGC' | 'LivenessFace'

/** What a file can be. */
export type AssetType = 'Image' | 'Video' | 'Audio'

/** Where an asset stands. */
export type AssetStatus = 'Processing' | 'Active' | 'Failed'

/** A group as it truly is, at the moment it was read; later changes make a new record. */
export interface Group {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly type: GroupType
  readonly project: string
  /** ms since 1970 */
  readonly createTime: number
  /** ms since 1970 */
  readonly updateTime: number
  /** unknown fields of the create call, in their order, byte for byte */
  readonly extra: readonly Member[]
  /** unique; decides between equal sort keys and has nothing to do with ids or time */
  readonly tie: number
}

/** An asset as it truly is, at the moment it was read; later changes make a new record. */
export interface Asset {
  readonly id: string
  readonly groupId: string
  readonly name: string
  /** the address it was created from; answers carry a signed link of the store instead */
  readonly url: string
  readonly type: AssetType
  readonly status: AssetStatus
  /** why it failed; only with status Failed */
  readonly error?: { readonly code: string; readonly message: string }
  /** `Moderation` of the create call as JSON text */
  readonly moderation: string
  readonly project: string
  /** ms since 1970 */
  readonly createTime: number
  /** ms since 1970 */
  readonly updateTime: number
  readonly extra: readonly Member[]
  readonly tie: number
}

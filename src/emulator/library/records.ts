import type { Member } from '../shared/members.ts'

/** The two types of groups. The API can create AIGC groups only. */
export type GroupType = 'AIGC' | 'LivenessFace'

/** The types of assets. */
export type AssetType = 'Image' | 'Video' | 'Audio'

/** The statuses of an asset. */
export type AssetStatus = 'Processing' | 'Active' | 'Failed'

/** An immutable group record. A change creates a new record. */
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
  /** unknown fields of the create request, in their original order and text */
  readonly extra: readonly Member[]
  /** unique number that orders equal sort keys; independent of ids and times */
  readonly tieBreaker: number
}

/** An immutable asset record. A change creates a new record. */
export interface Asset {
  readonly id: string
  readonly groupId: string
  readonly name: string
  /** the URL of the create request; responses contain a signed link to the object store instead */
  readonly url: string
  readonly type: AssetType
  readonly status: AssetStatus
  /** the reason of status Failed */
  readonly error?: { readonly code: string; readonly message: string }
  /** `Moderation` of the create request as JSON text */
  readonly moderation: string
  readonly project: string
  /** ms since 1970 */
  readonly createTime: number
  /** ms since 1970 */
  readonly updateTime: number
  readonly extra: readonly Member[]
  readonly tieBreaker: number
}

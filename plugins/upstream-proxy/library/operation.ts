import type { JsonBody } from '../../shared/body.ts'
import type { OwnedId } from '../../shared/owned-id.ts'

/** What a list asks of an upstream: always within groups that are the caller's, never the whole account. */
export interface ListQuery {
  readonly groupType: string
  /** One to a hundred. */
  readonly groups: readonly [OwnedId<'group'>, ...OwnedId<'group'>[]]
  /** Matched loosely by the upstream: the answer still has to be filtered. */
  readonly name?: string
  readonly statuses?: readonly string[]
  readonly sortBy: string
  readonly sortOrder: 'Asc' | 'Desc'
  readonly paging: PageMode | CursorMode
}

/** Both from 1, the size up to 100, their product up to what the upstream allows. The answer has `TotalCount`. */
export interface PageMode {
  readonly pageNumber: number
  readonly pageSize: number
}

/** Of any depth. The answer has `NextToken` while there is more. */
export interface CursorMode {
  /** 1 to 100. */
  readonly maxResults: number
  readonly nextToken?: string
}

/**
 * Everything that is ever asked of a media asset library, under the names of its actions (docs/ModelArk/2318270 and following). There is
 * no operation that changes or lists something by an id that was not checked.
 */
export type Operation =
  | { readonly action: 'CreateAssetGroup'; readonly body: JsonBody }
  | { readonly action: 'ListAssetGroups'; readonly query: ListQuery }
  /** Groups of the whole account by name: to find what a crash left behind, never for a caller's eyes. */
  | {
      readonly action: 'FindAssetGroups'
      readonly groupType: string
      readonly name: string
      readonly nextToken?: string
    }
  | {
      readonly action: 'UpdateAssetGroup'
      readonly group: OwnedId<'group'>
      readonly method: 'PUT' | 'PATCH'
      readonly body: JsonBody
    }
  | { readonly action: 'DeleteAssetGroup'; readonly group: OwnedId<'group'> }
  | { readonly action: 'CreateAsset'; readonly group: OwnedId<'group'>; readonly body: JsonBody }
  | { readonly action: 'ListAssets'; readonly query: ListQuery }
  /** For `ownership`, which alone decides who may see the answer. */
  | { readonly action: 'GetAsset'; readonly id: string }
  | {
      readonly action: 'UpdateAsset'
      readonly asset: OwnedId<'asset'>
      readonly method: 'PUT' | 'PATCH'
      readonly body: JsonBody
    }
  | { readonly action: 'DeleteAsset'; readonly asset: OwnedId<'asset'> }
  /** Begins a face verification. `callbackUrl`: where the person's browser goes afterwards, for kinds that leave the rest to the gateway. */
  | { readonly action: 'CreateVisualValidateSession'; readonly body: JsonBody; readonly callbackUrl?: string }
  /** How a face verification stands. `id`: what the upstream knows it by. */
  | { readonly action: 'GetVisualValidateResult'; readonly verification: OwnedId<'verification'> }

/** A request as it goes out, but for what every upstream gets alike. */
export interface UpstreamRequest {
  readonly method: string
  readonly url: string
  /** Added to the caller's headers that may pass; credentials belong here. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array | string
}

/**
 * A kind of upstream: how operations look on its wire. Pure but for the clock; called again for every attempt, because signatures age. Further kinds
 * implement just this.
 */
export interface MediaKind {
  outgoing(operation: Operation): UpstreamRequest | Promise<UpstreamRequest>
  /** Texts that must never reach a caller, in whatever an upstream answers. */
  readonly secrets: readonly string[]
  /** Texts that say which account it is. They stand in the signed links of a success, and have no business in an error. Default none. */
  readonly accountIds?: readonly string[]
}

const reads: ReadonlySet<Operation['action']> = new Set([
  'ListAssetGroups',
  'FindAssetGroups',
  'ListAssets',
  'GetAsset',
  'GetVisualValidateResult',
])

/** Whether an operation changes nothing, and so may be sent twice (RFC 9110 section 9.2.2), whatever method carries it. */
export const isReadOnly = (operation: Operation): boolean => reads.has(operation.action)

export interface Paging {
  readonly PageNumber?: number
  readonly PageSize?: number
  readonly MaxResults?: number
  readonly NextToken?: string
}

/** A paging mode in the upstream's words, which never hold both. */
export const pagingOf = (paging: PageMode | CursorMode): Paging =>
  'pageNumber' in paging
    ? { PageNumber: paging.pageNumber, PageSize: paging.pageSize }
    : { MaxResults: paging.maxResults, NextToken: paging.nextToken }

/** The name under which an upstream counts an operation against its limits. */
export const countedAs = ({ action }: Operation): string => (action === 'FindAssetGroups' ? 'ListAssetGroups' : action)

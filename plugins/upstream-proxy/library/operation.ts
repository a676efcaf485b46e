import type { JsonBody } from '../../shared/http/body/body.ts'
import type { OwnedId, ReadableId } from '../../shared/owned-id.ts'

/**
 * The query of a list operation. It always names groups that the caller may see, so it never covers the whole account.
 */
export interface ListQuery {
  readonly groupType: string
  /** 1 to 100 groups, all of one account. */
  readonly groups: readonly [ReadableId<'group'>, ...ReadableId<'group'>[]]
  /** The upstream matches it loosely, so the caller of `send` must filter the result. */
  readonly name?: string
  readonly statuses?: readonly string[]
  readonly sortBy: string
  readonly sortOrder: 'Asc' | 'Desc'
  readonly paging: PageMode | CursorMode
}

/**
 * Page mode. Both numbers start at 1, `pageSize` is at most 100, and the upstream limits their product. The response
 * has `TotalCount`.
 */
export interface PageMode {
  readonly pageNumber: number
  readonly pageSize: number
}

/** Cursor mode. It reaches items at any depth. The response has `NextToken` while more items follow. */
export interface CursorMode {
  /** 1 to 100. */
  readonly maxResults: number
  readonly nextToken?: string
}

/**
 * All operations of a media asset library, under the names of the vendor's actions
 * (https://docs.byteplus.com/en/docs/ModelArk/2318270 and the pages after it).
 *
 * Operations that change or list something take only ids that `ownership` has checked.
 */
export type Operation =
  | {
      readonly action: 'CreateAssetGroup'
      readonly body: JsonBody
      /** The account that gets the group. Default: the only one. */
      readonly account?: string | undefined
    }
  | { readonly action: 'ListAssetGroups'; readonly query: ListQuery }
  /**
   * Groups of the whole account by name. Only for reconciliation and administration: its result must not reach a
   * caller.
   */
  | {
      readonly action: 'FindAssetGroups'
      readonly groupType: string
      readonly name: string
      /** The latest first. Default `CreateTime`. */
      readonly sortBy?: 'CreateTime' | 'UpdateTime'
      readonly nextToken?: string
      /** Default: the only one. */
      readonly account?: string | undefined
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
  /** Its id is not checked before the call: `ownership` uses the response to check it. */
  | { readonly action: 'GetAsset'; readonly id: string; readonly account?: string | undefined }
  | {
      readonly action: 'UpdateAsset'
      readonly asset: OwnedId<'asset'>
      readonly method: 'PUT' | 'PATCH'
      readonly body: JsonBody
    }
  | { readonly action: 'DeleteAsset'; readonly asset: OwnedId<'asset'> }
  /**
   * Starts a face verification. `callbackUrl`: the page that the browser opens afterwards. `ark` uses it, `rest`
   * ignores it.
   */
  | {
      readonly action: 'CreateVisualValidateSession'
      readonly body: JsonBody
      readonly callbackUrl?: string
      /** The account that gets the group of the person. Default: the only one. */
      readonly account?: string | undefined
    }
  /** Whether an account takes more groups. Only for kinds with `hasQuota`. */
  | { readonly action: 'GetAssetQuota'; readonly account?: string | undefined }
  /** Reads the state of a face verification. `verification.id` is the upstream's id. */
  | { readonly action: 'GetVisualValidateResult'; readonly verification: OwnedId<'verification'> }

/** The part of an upstream request that depends on the kind. The client adds the rest. */
export interface UpstreamRequest {
  readonly method: string
  readonly url: string
  /** Sent in addition to the caller's forwarded headers, which they override. Includes the account's credentials. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array | string
}

/**
 * How a kind of upstream verifies faces.
 *
 * `rest`: it serves the gateway's own paths and keeps the status of each verification. `ark`: it serves the vendor's
 * sessions, and the gateway keeps the status. `none`: it has no face verification.
 */
export type VerificationKind = 'rest' | 'ark' | 'none'

/**
 * A kind of upstream: it maps operations to requests. Implement it to support another upstream.
 *
 * `outgoing` has no side effects and depends only on the operation and the clock. The client calls it for each attempt,
 * because signatures expire.
 */
export interface MediaKind {
  outgoing(operation: Operation): UpstreamRequest | Promise<UpstreamRequest>
  /** Credentials. The client rejects every response that contains one. */
  readonly secrets: readonly string[]
  /**
   * Texts that identify the account. A success may contain them, because signed links do. The client rejects an error
   * that contains one. Default none.
   */
  readonly accountIds?: readonly string[]
  /** Whether it serves `GetAssetQuota`. Default false. */
  readonly hasQuota?: boolean
  /** `face-verification` has a driver for each value. */
  readonly faceVerification: VerificationKind
}

const readOnlyActions: ReadonlySet<string> = new Set<Operation['action']>([
  'ListAssetGroups',
  'FindAssetGroups',
  'ListAssets',
  'GetAsset',
  'GetAssetQuota',
  'GetVisualValidateResult',
])

/**
 * Whether an operation changes nothing. The client may then send it twice (RFC 9110 section 9.2.2), even if the kind
 * uses POST.
 */
export const isReadOnly = (operation: Operation): boolean => isReadOnlyAction(operation.action)

/** The same for the name of an action. */
export const isReadOnlyAction = (action: string): boolean => readOnlyActions.has(action)

/** The parameters of a search for groups, under the upstream's names. */
export const searchOf = ({
  groupType,
  name,
  sortBy = 'CreateTime',
  nextToken,
}: Operation & { action: 'FindAssetGroups' }) =>
  ({
    Filter: { GroupType: groupType, Name: name },
    ...{ SortBy: sortBy, SortOrder: 'Desc', MaxResults: 100, NextToken: nextToken },
  }) as const

export interface Paging {
  readonly PageNumber?: number
  readonly PageSize?: number
  readonly MaxResults?: number
  readonly NextToken?: string
}

/** The paging parameters under the upstream's names: those of page mode or those of cursor mode, never both. */
export const pagingOf = (paging: PageMode | CursorMode): Paging =>
  'pageNumber' in paging
    ? { PageNumber: paging.pageNumber, PageSize: paging.pageSize }
    : { MaxResults: paging.maxResults, NextToken: paging.nextToken }

/** The action under which the upstream counts an operation against its rate limits. */
export const rateLimitedAction = ({ action }: Operation): string =>
  action === 'FindAssetGroups' ? 'ListAssetGroups' : action

/**
 * The account whose ids an operation has. They carry it: so no id goes to another account. Undefined: the only account
 * of the upstream.
 */
export const accountOf = (operation: Operation): string | undefined => {
  switch (operation.action) {
    case 'ListAssetGroups':
    case 'ListAssets':
      return operation.query.groups[0].account
    case 'UpdateAssetGroup':
    case 'DeleteAssetGroup':
    case 'CreateAsset':
      return operation.group.account
    case 'UpdateAsset':
    case 'DeleteAsset':
      return operation.asset.account
    case 'GetVisualValidateResult':
      return operation.verification.account
    default:
      return operation.account
  }
}

/** Maximum number of group ids in one list operation of the upstream. */
export const maxGroupsPerCall = 100

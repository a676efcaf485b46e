import type { ConsentUseView, ConsentView, SignedConsent } from '../../shared/consent/schema.ts'
import type { ErrorBody, UpstreamErrorBody } from '../../shared/plugin/openapi.ts'
import type { Responses, Route, RouteParts } from '../../shared/plugin/plugin.ts'
import type { AssetBatchItemView, AssetBatchStateName, AssetBatchView } from '../batches/view.ts'

// The upstream may add fields to all of these.

/** An asset group. */
export interface AssetGroup {
  readonly Id: string
  readonly Name: string
  readonly Description: string
  /** AIGC or LivenessFace. */
  readonly GroupType: string
  /** ISO 8601 with a UTC offset. */
  readonly CreateTime: string
  readonly UpdateTime: string
  /** What the caller may do with a group that another user lends. Absent: it is the caller's own. */
  readonly Access?: 'read' | 'use'
  /** The name of the user who lends it. Absent: it is the caller's own, or that of a user of a host app. */
  readonly Lender?: string
  /** The name of its account. Absent: there is one account. */
  readonly Account?: string
}

/** A group that its owner lends to a user or a team. Times are ISO 8601 with a UTC offset. */
export interface GroupShare {
  readonly Id: string
  /** Id of the borrowing user. Absent: a team borrows. */
  readonly User?: string
  /** Name of the borrowing team. */
  readonly Team?: string
  /** read: to see it. use: also in video tasks. */
  readonly Access: 'read' | 'use'
  readonly CreateTime: string
  /** Absent: until it is revoked. */
  readonly ExpireTime?: string
  /** When a borrower has last sent an asset of it. Absent: never. */
  readonly LastUseTime?: string
}

/** The use of an asset by a borrower of its group: a video task that was sent. */
export interface SharedUseView {
  /** Id of the borrower, if the group is lent to that user by id. */
  readonly User?: string
  /** Absent: a user of a host app. */
  readonly UserName?: string
  readonly AssetId: string
  /** ISO 8601 with a UTC offset. */
  readonly UseTime: string
}

/** A share to create: with `User` or `Team`. */
export interface NewShare {
  /** Id of a user. */
  readonly User?: string
  /** Name of the caller's own team. */
  readonly Team?: string
  /** Default read. */
  readonly Access?: 'read' | 'use'
  /** A time to come, ISO 8601. Default: until it is revoked. */
  readonly ExpireTime?: string
}

/** An asset. */
export interface Asset {
  readonly Id: string
  readonly GroupId: string
  /** Absent if the asset was created without one. */
  readonly Name?: string
  /** Image or Video. */
  readonly AssetType: string
  /** Processing, then Active or Failed. */
  readonly Status: string
  readonly URL: string
  readonly CreateTime: string
  readonly UpdateTime: string
}

/** The id of what was created. */
export interface CreatedId {
  readonly Id: string
}

/** A page of a list. */
export interface ResultPage<Item> {
  readonly Items: readonly Item[]
  /** Cursor of the next page; empty on the last one. */
  readonly NextToken: string
  /** Number of items on all pages. */
  readonly TotalCount: number
}

/** A page of a list whose pages follow one another. */
export interface KeysetPage<Item> {
  readonly Items: readonly Item[]
  /** Cursor of the next page; empty on the last one. */
  readonly NextToken: string
}

/** How many video tasks of the caller use an asset, or an asset of a group. */
export interface UseCounts {
  /** At most 10,000. */
  readonly TotalCount: number
  /** Those of them that have not started: they may need the asset. */
  readonly WaitingCount: number
}

/** A page of the video tasks of the caller that use an asset. */
export interface UsePage extends ResultPage<{ readonly [field: string]: unknown }>, UseCounts {}

/** The body of a response of the asset library. */
export interface LibraryResult<Value> {
  readonly Result: Value
}

/** What an update or a deletion responds: the upstream's object, or undefined for a response without a body. */
export type ForwardedBody = { readonly [field: string]: unknown } | undefined

export interface NewGroup {
  readonly Name: string
  readonly Description?: string
  readonly GroupType?: 'AIGC'
  readonly [field: string]: unknown
}

export interface GroupChange {
  readonly Name?: string
  readonly Description?: string
  readonly [field: string]: unknown
}

export interface NewAsset {
  /** Id of one of the caller's groups. */
  readonly GroupId: string
  /** Type of that group. Default `AIGC`. */
  readonly GroupType?: 'AIGC' | 'LivenessFace'
  /** The HTTPS address from which the upstream fetches the file. */
  readonly URL: string
  /** Image or Video. */
  readonly AssetType: string
  readonly Name?: string
  readonly [field: string]: unknown
}

export interface AssetChange {
  readonly Name?: string
  readonly [field: string]: unknown
}

interface ListQuery<SortBy extends string> {
  /** Own groups (default), those that others lend, or both. Ignored without the option `shares`. */
  readonly scope?: 'own' | 'shared' | 'all'
  readonly GroupType?: 'AIGC' | 'LivenessFace'
  /** Separated by commas. */
  readonly GroupIds?: string
  readonly Name?: string
  /** A part of the name, in any case. */
  readonly NameContains?: string
  readonly SortBy?: SortBy
  readonly SortOrder?: 'Asc' | 'Desc'
  readonly NextToken?: string
  readonly MaxResults?: number
  readonly PageNumber?: number
  readonly PageSize?: number
}

/** Query of `GET /assets/groups`. */
export interface GroupListQuery extends ListQuery<'CreateTime' | 'UpdateTime'> {}

/** Query of `GET /assets`. */
export interface AssetListQuery extends ListQuery<'CreateTime' | 'UpdateTime' | 'GroupId'> {
  /** Any of Active, Processing, Failed, separated by commas. */
  readonly Statuses?: string
  /** Any of Image, Video, Audio, separated by commas. */
  readonly AssetTypes?: string
}

type ErrorStatus = 400 | 401 | 403 | 404 | 408 | 413 | 415 | 429 | 500 | 502 | 503

type LibraryRoute<Success, Parts extends RouteParts, Status extends number = ErrorStatus> = Route<
  Responses<Success, ErrorBody | UpstreamErrorBody, Status>,
  Parts
>

type WithShareId = { params: { group_id: string; share_id: string } }

/** A creation. 409: another request has the same `Idempotency-Key`. */
type CreateRoute<Body, Success = CreatedId, Parts = unknown> = LibraryRoute<
  LibraryResult<Success>,
  { body: Body } & Parts,
  ErrorStatus | 409
>

type WithGroupId = { params: { group_id: string } }
type RetryRoute<Input extends WithBatchId> = Route<
  { 200: LibraryResult<AssetBatchView> } & { [Each in ErrorStatus | 409]: ErrorBody | UpstreamErrorBody },
  Input
>
type WithBatchId = { params: { batch_id: string } }
interface KeysetQuery {
  readonly NextToken?: string
  readonly MaxResults?: number
}
type WithAssetId = { params: { asset_id: string } }

/** The routes of `gateway` below its prefix, for Eden. */
export type LibraryRoutes = {
  assets: {
    get: LibraryRoute<LibraryResult<ResultPage<Asset>>, { query: AssetListQuery }>
    post: CreateRoute<NewAsset>
    groups: {
      get: LibraryRoute<LibraryResult<ResultPage<AssetGroup>>, { query: GroupListQuery }>
      post: CreateRoute<NewGroup>
      ':group_id': {
        get: LibraryRoute<LibraryResult<AssetGroup>, WithGroupId>
        put: LibraryRoute<ForwardedBody, WithGroupId & { body: GroupChange }>
        patch: LibraryRoute<ForwardedBody, WithGroupId & { body: GroupChange }>
        delete: LibraryRoute<ForwardedBody, WithGroupId>
        uses: { get: LibraryRoute<LibraryResult<UseCounts>, WithGroupId> }
        /** With the option `consents`. */
        consent: {
          get: LibraryRoute<LibraryResult<ConsentView>, WithGroupId>
          uses: { get: LibraryRoute<LibraryResult<ResultPage<ConsentUseView>>, WithGroupId & { query: KeysetQuery }> }
          export: { get: LibraryRoute<SignedConsent, WithGroupId> }
          withdraw: { post: LibraryRoute<LibraryResult<ConsentView>, WithGroupId> }
          delete: { post: LibraryRoute<LibraryResult<ConsentView>, WithGroupId> }
          links: {
            post: LibraryRoute<LibraryResult<{ readonly URL: string; readonly CreateTime: string }>, WithGroupId>
          }
        }
        /** With the option `shares`. */
        shares: {
          get: LibraryRoute<LibraryResult<ResultPage<GroupShare>>, WithGroupId>
          post: CreateRoute<NewShare, GroupShare, WithGroupId>
          ':share_id': { delete: LibraryRoute<LibraryResult<CreatedId>, WithShareId> }
          uses: {
            get: LibraryRoute<
              LibraryResult<{ readonly Items: readonly SharedUseView[]; readonly HasMore: boolean }>,
              WithGroupId
            >
          }
        }
        /** With the option `shares`. */
        return: {
          post: Route<
            { 200: LibraryResult<CreatedId> } & { [Each in ErrorStatus | 409]: ErrorBody | UpstreamErrorBody },
            WithGroupId
          >
        }
      }
    }
    batches: {
      get: LibraryRoute<LibraryResult<KeysetPage<AssetBatchView>>, { query: KeysetQuery }>
      post: Route<
        { 202: LibraryResult<AssetBatchView> } & { [Each in ErrorStatus | 409]: ErrorBody | UpstreamErrorBody },
        { query: { readonly GroupId: string; readonly GroupType?: 'AIGC' | 'LivenessFace' } }
      >
      ':batch_id': {
        get: LibraryRoute<LibraryResult<AssetBatchView>, WithBatchId>
        items: {
          get: LibraryRoute<
            LibraryResult<KeysetPage<AssetBatchItemView>>,
            WithBatchId & { query: KeysetQuery & { readonly State?: AssetBatchStateName } }
          >
          ':position': { retry: { post: RetryRoute<WithBatchId & { params: { position: string } }> } }
        }
        cancel: { post: LibraryRoute<LibraryResult<AssetBatchView>, WithBatchId> }
        retry: { post: RetryRoute<WithBatchId> }
      }
    }
    ':asset_id': {
      get: LibraryRoute<LibraryResult<Asset>, WithAssetId>
      put: LibraryRoute<ForwardedBody, WithAssetId & { body: AssetChange }>
      patch: LibraryRoute<ForwardedBody, WithAssetId & { body: AssetChange }>
      delete: LibraryRoute<ForwardedBody, WithAssetId>
      uses: {
        get: LibraryRoute<
          LibraryResult<UsePage>,
          WithAssetId & { query: { readonly NextToken?: string; readonly MaxResults?: number } }
        >
      }
    }
  }
}

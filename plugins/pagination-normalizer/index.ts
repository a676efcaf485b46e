import { Elysia } from 'elysia'
import { hasQueryBody, readQueryBody } from '../shared/body.ts'
import { type Identify, requireIdentity } from '../shared/identify.ts'
import { seedOf } from '../shared/seed.ts'
import { createCursors } from './cursor.ts'
import { listPage } from './list.ts'
import type { Position } from './order.ts'
import { cutPage, type Ordered, type Page } from './page.ts'
import { type ListRequest, type ListRules, readListRequest } from './parameters.ts'
import { queryOf } from './query.ts'
import type { Source } from './source.ts'
import { WalkCache } from './walk-cache.ts'

export { deliverBody } from '../shared/body.ts'
export { type Cursors, createCursors } from './cursor.ts'
export { type ListOptions, listPage } from './list.ts'
export { comparePositions, instantKey, instantKeyOf, instantOf, type Position } from './order.ts'
export { cutPage, Ordered, type Page } from './page.ts'
export {
  type ListRequest,
  type ListRule,
  type ListRules,
  readListRequest,
  type TextRule,
  type WordRule,
} from './parameters.ts'
export type { Query } from './query.ts'
export { type Fingerprint, ListChangedError, type Source, type SourcePage, type SourceSegment } from './source.ts'
export { WalkCache } from './walk-cache.ts'

export interface PaginationOptions {
  /** Sign the tokens: the first signs, all verify. Give the same ones to every process. */
  readonly secrets: readonly [string, ...string[]]
  /** Bytes of a JSON body on GET beyond which it is refused with 413. Default 1 MiB. */
  readonly maxBodyBytes?: number
  /** Who is calling: a body is read only of callers that this knows, whatever else guards a route and in whatever order. Default: of everybody. */
  readonly identify?: Identify
}

/** A list request that was read, and the page that answers it. */
export interface Listing extends ListRequest {
  /** @param caller whose list it is: a token works for nobody else */
  page<Item extends Position>(items: readonly Item[] | Ordered<Item>, caller: string): Page<Item>
  /** The same, out of upstream lists that can only be paged: see `listPage`. */
  pageOf<Row extends Position>(
    sources: readonly Source<Row>[],
    caller: string,
    matches?: (row: Row) => boolean,
  ): Promise<Page<Row>>
}

/**
 * Macro `lists: rules`: reads the parameters from the query, and from a JSON body where the server delivers it (`deliverBody`), into one normal form,
 * `listing`, whose `page` cuts the page out of what matches.
 *
 * Throws Problem 400 for a bad parameter, or a body that is announced and cannot be read; 413 for one that is too large; 401 for one of somebody unknown.
 */
export const paginationNormalizer = (options: PaginationOptions) => {
  const cursors = createCursors(options.secrets)
  const trails = new WalkCache()
  const { identify, maxBodyBytes = 2 ** 20 } = options
  const bodyOf = async (request: Request) => {
    if (identify) await requireIdentity(identify, request)
    return readQueryBody(request, maxBodyBytes)
  }
  return new Elysia({ name: 'sluice/pagination-normalizer', seed: seedOf(options) }).macro({
    lists: (rules: ListRules) => ({
      resolve: async ({ request }) => {
        const body = hasQueryBody(request) ? await bodyOf(request) : undefined
        const read = readListRequest(rules, queryOf(request.url), body)
        const listing: Listing = {
          ...read,
          page: (items, caller) => cutPage(items, read, caller, cursors),
          pageOf: (sources, caller, matches) => listPage({ sources, request: read, caller, cursors, trails, matches }),
        }
        return { listing }
      },
    }),
  })
}

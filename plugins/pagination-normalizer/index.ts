import { type AnyElysia, Elysia } from 'elysia'
import { hasQueryBody, readQueryBody } from '../shared/http/body/body.ts'
import { createErrorHandler, type ErrorsOption } from '../shared/http/error-handler.ts'
import { type Identify, requireIdentity } from '../shared/identity/identify.ts'
import { checkElysia, checkSecrets } from '../shared/plugin/options.ts'
import type { MacroFunctions, MacroPlugin } from '../shared/plugin/plugin.ts'
import { seedOf } from '../shared/plugin/seed.ts'
import type { Log } from '../shared/problem.ts'
import { createCursors } from './cursor.ts'
import { listPage } from './list.ts'
import type { Position } from './order.ts'
import { cutPage, type Ordered, type Page } from './page.ts'
import { type ListRequest, type ListRules, queryOf, readListRequest } from './parameters.ts'
import { type Search, searchPage } from './search.ts'
import type { Source } from './source.ts'
import { SearchCache, WalkCache } from './walk/walk-cache.ts'

export { attachBody } from '../shared/http/body/body.ts'
export { type Cursors, createCursors } from './cursor.ts'
export { type ListOptions, listPage } from './list.ts'
export { comparePositions, instantKey, instantKeyOf, instantOf, type Position } from './order.ts'
export { cutPage, Ordered, type Page } from './page.ts'
export type { Query } from './parameters.ts'
export {
  type ListRequest,
  type ListRule,
  type ListRules,
  readListRequest,
  type TextRule,
  type WordRule,
} from './parameters.ts'
export { type Search, type SearchOptions, searchPage } from './search.ts'
export { type Fingerprint, ListChangedError, type Source, type SourcePage, type SourceSegment } from './source.ts'
export { SearchCache, WalkCache } from './walk/walk-cache.ts'

/** Options of `paginationNormalizer`. */
export interface PaginationOptions {
  /**
   * Keys that sign the page tokens, of at least 16 characters: the first signs, all verify. All processes need the same
   * ones.
   */
  readonly secrets: readonly string[]
  /** Maximum length of a JSON body on GET, in bytes; a longer one is rejected with 413. Default 1 MiB. */
  readonly maxBodyBytes?: number
  /**
   * When set, the plugin reads a body only for callers that this identifies, whatever other guards the route has.
   * Default: for every caller.
   */
  readonly identify?: Identify
  /** The JSON body of errors; `throw`: errors go to the `onError` of the host app. Default: `problemBody()`. */
  readonly errors?: ErrorsOption
  readonly log?: Log
}

/** A list request in normal form, and the functions that build its page. */
export interface Listing extends ListRequest {
  /**
   * Cuts the page out of all matching items.
   *
   * @param caller the user who sees the list; a token is valid only for this caller
   */
  page<Item extends Position>(items: readonly Item[] | Ordered<Item>, caller: string): Page<Item>
  /** Reads the page of the rows that match a filter which the upstream does not know: see `searchPage`. */
  searchOf<Row extends Position>(
    sources: readonly Source<Row>[],
    caller: string,
    search: Search<Row>,
  ): Promise<Page<Row>>
  /** Reads the page from upstream lists that have their own paging: see `listPage`. */
  pageOf<Row extends Position>(
    sources: readonly Source<Row>[],
    caller: string,
    matches?: (row: Row) => boolean,
  ): Promise<Page<Row>>
}

/** The macro of `paginationNormalizer`: its parameter, and what it adds to the context. */
export type PaginationMacros = {
  lists: { parameter: ListRules; context: { listing: Listing } }
}

/**
 * The plugin with the macro `lists: rules`, which parses the list parameters and adds `listing` to the context.
 *
 * Parameters come from the query, and from a JSON body on GET where the server delivers it (`attachBody`). A request
 * that it rejects gets its response whatever `onError` hooks the app has: 400 for an invalid parameter or an unreadable
 * body, 413 for a body that is too long, and 401 for a body from an unknown caller when `identify` is set. Throws
 * TypeError without secrets, or with a short one.
 */
export const paginationNormalizer = (options: PaginationOptions): MacroPlugin<PaginationMacros> => {
  checkElysia(Elysia)
  checkSecrets(options.secrets)
  const { stop } = createErrorHandler(options)
  const cursors = createCursors(options.secrets)
  const walkCache = new WalkCache()
  const searchCache = new SearchCache()
  const { identify, maxBodyBytes = 2 ** 20 } = options
  const bodyOf = async (request: Request) => {
    if (identify) await requireIdentity(identify, request)
    return readQueryBody(request, maxBodyBytes)
  }
  const plugin: AnyElysia = new Elysia({ name: 'sluice/pagination-normalizer', seed: seedOf(options) }).macro({
    lists: (rules: ListRules) => ({
      resolve: async ({ request, set, status }) => {
        try {
          const body = hasQueryBody(request) ? await bodyOf(request) : undefined
          const parsed = readListRequest(rules, queryOf(request.url), body)
          const listing: Listing = {
            ...parsed,
            page: (items, caller) => cutPage(items, parsed, caller, cursors),
            pageOf: (sources, caller, matches) =>
              listPage({ sources, request: parsed, caller, cursors, walkCache, matches }),
            searchOf: (sources, caller, search) =>
              searchPage({ sources, request: parsed, caller, cursors, searchCache, search }),
          }
          return { listing }
        } catch (error) {
          return stop(error, { request, set, status })
        }
      },
    }),
  } satisfies MacroFunctions<PaginationMacros>)
  return plugin
}

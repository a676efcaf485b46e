import type { AdminToken, PageOf, PagePlace, PageRequest, TokenFilter } from '../../../plugins/admin/store.ts'
import type { Database } from '../database/database.ts'
import { matchingTokens, type TokenRow, toAdminToken, tokenOrder, tokenPlaceAt } from './token-queries.ts'

/**
 * Tokens that one query examines. SQLite runs synchronously, so a filter that few tokens match must not keep other
 * requests waiting.
 */
const maxExamined = 1_000
/** Queries for one page: a page costs the same with any number of tokens, and may have fewer than it could. */
const maxQueries = 10

/** Reads one page of the tokens of all users. See `AdminStore.listAdminTokens`. */
export const listTokenPage = async (
  database: Database,
  filter: TokenFilter,
  { limit, after }: PageRequest,
): Promise<PageOf<AdminToken>> => {
  const order = tokenOrder(filter)
  const { now: _, user: __, ...filters } = filter
  // Without a filter the tokens of the page are the next ones.
  const isFiltered = Object.values(filters).some((value) => value !== undefined)
  const found: AdminToken[] = []
  let place = after
  for (let queries = 1; ; queries++) {
    const [until] = isFiltered ? await database.query<PagePlace>(tokenPlaceAt(order, place, filter, maxExamined)) : []
    const range = { after: place, until }
    const rows = await database.query<TokenRow>(matchingTokens(order, range, filter, limit + 1 - found.length))
    found.push(...rows.map(toAdminToken))
    const last = found[limit - 1]
    if (found.length > limit && last) return { items: found.slice(0, limit), next: placeOf(last) }
    if (!until) return { items: found }
    if (queries === maxQueries) return { items: found, next: until }
    place = until
  }
}

const placeOf = ({ createdAt, id }: AdminToken): PagePlace => ({ key: createdAt, id })

import type { AdminToken, PageOf, PagePlace, PageRequest, TokenFilter } from '../../../plugins/admin/store.ts'
import { nameKey } from '../../../plugins/shared/identity/name-key.ts'
import type { Database } from '../database/database.ts'
import { clause, fragment, type Statement, sql } from '../database/statement.ts'
import { modelsOf, scopesOf, type TokenListColumns } from '../users/token-rows.ts'
import { timeOf } from './page.ts'

/** A token as the lists read one. */
export type TokenRow = Omit<AdminToken, 'scopes' | 'models'> & TokenListColumns

export const toAdminToken = ({ scopes, models, ...token }: TokenRow): AdminToken => ({
  ...token,
  scopes: scopesOf(scopes),
  ...(models !== undefined && { models: modelsOf(models) }),
})

/** The index in whose order tokens are examined, by age: those of a user, the revoked ones, or all. */
export type TokenOrder = 'user' | 'revoked' | 'all'

/** The order that has the fewest tokens to examine. */
const tokenOrder = ({ user, state }: TokenFilter): TokenOrder => {
  if (user !== undefined) return 'user'
  return state === 'revoked' ? 'revoked' : 'all'
}

/** What the tokens of an order have in common. */
const inOrder = (order: TokenOrder, user: string | undefined): Statement => {
  if (order === 'user') return clause`tokens.user_id = ${user} and `
  return order === 'revoked' ? clause`tokens.revoked_at is not null and ` : clause``
}

/** The place of the `count`th token after a place, with the columns `key` and `id`. No row: there are fewer. */
export const tokenPlaceAt = (
  order: TokenOrder,
  after: PagePlace | undefined,
  { user }: TokenFilter,
  count: number,
): Statement => clause`
  select created_at as key, id
  from tokens
  where ${inOrder(order, user)} (created_at, id) > (${timeOf(after)}, ${after?.id ?? ''})
  order by created_at, id
  limit 1
  offset ${count - 1}`

const columns = fragment`
  tokens.id, tokens.user_id as "user", coalesce(users.name, tokens.user_id) as "userName", tokens.start,
  tokens.label, tokens.scopes, tokens.models, tokens.limits, tokens.created_at as "createdAt",
  tokens.expires_at as "expiresAt", tokens.revoked_at as "revokedAt", tokens.last_used_at as "lastUsedAt",
  tokens.old_until as "oldUntil"`

/** Of older versions that run at the same time, tokens may have no `label_key`. */
const matches = fragment`
  (
    wanted.part is null
    or coalesce(tokens.label_key, lower(tokens.label)) like wanted.part escape '!'
    or lower(tokens.start) like wanted.start escape '!'
  )
  and (
    wanted.state is null
    or wanted.state = case
      when tokens.revoked_at is not null then 'revoked'
      when tokens.expires_at <= wanted.now then 'expired'
      else 'valid'
    end
  )
  and (wanted.used_since is null or tokens.last_used_at >= wanted.used_since)
  and (wanted.unused_since is null or tokens.last_used_at is null or tokens.last_used_at < wanted.unused_since)`

/** Of the tokens after a place, up to `until`, those that match a filter; at most `limit`. */
export const matchingTokens = (
  order: TokenOrder,
  { after, until }: { readonly after: PagePlace | undefined; readonly until?: PagePlace | undefined },
  { search, user, state, usedSince, unusedSince, now }: TokenFilter,
  limit: number,
): Statement => {
  const text = search === undefined ? undefined : nameKey(search).replaceAll(/[!%_]/g, '!$&')
  const [part, start] = text === undefined ? [] : [`%${text}%`, `${text}%`]
  const end = until === undefined ? Number.MAX_SAFE_INTEGER : timeOf(until)
  return clause`
    with wanted as (
      select cast(${part} as text) as part, cast(${start} as text) as start, cast(${state} as text) as state,
        cast(${usedSince} as bigint) as used_since, cast(${unusedSince} as bigint) as unused_since,
        cast(${now} as bigint) as now
    )
    select ${columns}
    from tokens
    cross join wanted
    left join users on users.id = tokens.user_id
    where ${inOrder(order, user)} (tokens.created_at, tokens.id) > (${timeOf(after)}, ${after?.id ?? ''})
    and (tokens.created_at, tokens.id) <= (${end}, ${until?.id ?? ''})
    and ${matches}
    order by tokens.created_at, tokens.id
    limit ${limit}`
}

/** The token of an id. */
export const tokenOfId = (id: string): Statement => sql`
  select ${columns}
  from tokens
  left join users on users.id = tokens.user_id
  where tokens.id = ${id}`

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

import { nameKey } from '../../../plugins/shared/identity/name-key.ts'
import { isScope, type Scope } from '../../../plugins/shared/identity/scopes.ts'
import { clause, fragment, limitTo, type Statement, sql } from '../database/statement.ts'

/** Revoked and expired tokens stay in the list for this time. */
const endedKeptMs = 30 * 86_400_000
/** Each new token deletes at most this many revoked and as many expired ones: more than are created. */
const maxRowsPerSweep = 100

/** Null if a token has no usage. Without the order, that of the index, PostgreSQL may read the usage of all tokens. */
const usageOfToken = fragment`
  (
    select 1
    from text_usage
    where text_usage.token_id = tokens.id
    order by text_usage.day
    limit 1
  )`

/** A concurrent sweep may have deleted the tokens before: then this one deletes others, which it has not named. */
const nameOfToken = fragment`
  (
    select 1
    from deleted_names
    where deleted_names.kind = 'token'
    and deleted_names.id = tokens.id
  )`

/**
 * Deletes some of the tokens that were revoked or have expired long ago. Those with usage leave their names to the
 * reports.
 */
export const sweepTokens = (now: number): readonly Statement[] => {
  const before = now - endedKeptMs
  return [
    ...sweep(clause`revoked_at < ${before} order by revoked_at`),
    ...sweep(clause`expires_at < ${before} order by expires_at`),
  ]
}

/** @param ended which tokens, in the order of an index */
const sweep = (ended: Statement): readonly Statement[] => [
  clause`
    insert into deleted_names (kind, id, name, start)
    select 'token', id, label, start
    from tokens
    where id in (select id from tokens where ${ended} ${limitTo(maxRowsPerSweep)})
    and ${usageOfToken} is not null
    on conflict (kind, id) do nothing`,
  clause`
    delete from tokens
    where id in (select id from tokens where ${ended} ${limitTo(maxRowsPerSweep)})
    and (${nameOfToken} is not null or ${usageOfToken} is null)`,
]

/** The columns of a token that hold a list. */
export interface TokenListColumns {
  /** Separated by spaces. */
  readonly scopes: string
  /** A JSON list. Undefined: all models. */
  readonly models?: string
}

/** The form of a label by which labels are compared. */
export const labelKey = (label: string | null | undefined): string | null | undefined => label && nameKey(label)

export const scopesColumn = (scopes: readonly Scope[]): string => scopes.join(' ')

export const modelsColumn = (models: readonly string[] | null | undefined): string | null | undefined =>
  models && JSON.stringify(models)

/** One list for all tokens of the same scopes: many tokens are cached. */
const scopeLists = new Map<string, readonly Scope[]>()

/** Throws TypeError for a word that is no scope: such a token must not work at all. */
export const scopesOf = (column: string): readonly Scope[] => {
  const known = scopeLists.get(column)
  if (known) return known
  const list = column.split(' ').filter((word) => word !== '')
  if (!list.every(isScope)) throw new TypeError('the scopes of a token are unknown to this program')
  scopeLists.set(column, list)
  return list
}

export const modelsOf = (column: string | undefined): readonly string[] | undefined =>
  column === undefined ? undefined : (JSON.parse(column) as readonly string[])

/** A new secret of a token. Times are milliseconds since 1970. */
export interface NewSecret {
  readonly hash: string
  /** First characters of the secret. */
  readonly start: string
  readonly now: number
  /** Until when the old secret works. Up to `now`: no longer. */
  readonly oldUntil: number
}

/** The hash on the right is the one before the update. */
export const updateSecret = (id: string, { hash, start, now, oldUntil }: NewSecret): Statement => sql`
  update tokens
  set old_hash = case when ${oldUntil > now ? 1 : 0} = 1 then hash end,
    old_until = case when ${oldUntil > now ? 1 : 0} = 1 then cast(${oldUntil} as bigint) end,
    hash = ${hash}, start = ${start}
  where id = ${id}`

import type { Revision, RevisionChange } from '../../../plugins/shared/identity/revision-clock.ts'
import type { Database } from './database.ts'
import { StoreError } from './error.ts'
import { type Statement, sql } from './statement.ts'

/** Number of revisions whose changes are kept. A process that is further behind clears its whole cache. */
const maxRevisions = 1_000
/** Number of changes that one query reads: two for each revision, one for a group and one for its user. */
const maxChanges = 2 * maxRevisions

/**
 * The update locks the row until the end of the batch: so revisions are committed in the order of their numbers, each
 * with its changes.
 */
const raise = sql`update revision set value = value + 1`

const sweep = sql`
  delete from changes
  where revision <= (
    select value
    from revision
  ) - ${maxRevisions}`

const change = (kind: RevisionChange['kind'], key: string): Statement => sql`
  insert into changes (revision, kind, key)
  select value, cast(${kind} as text), cast(${key} as text)
  from revision`

/**
 * The last statements of a batch that gives a group to a user. All processes then drop the user's list of groups from
 * their caches.
 */
export const groupsChanged = (user: string): readonly Statement[] => [raise, change('groups', user), sweep]

/**
 * The last statements of a batch that removes a group or changes its record. All processes drop the group, and the
 * user's list of groups.
 */
export const groupChanged = (id: string | undefined, user: string): readonly Statement[] => [
  raise,
  change('group', id ?? ''),
  change('groups', user),
  sweep,
]

/** The statement after one that raises the revision: all processes drop what they know of lent groups. */
export const sharesChange: Statement = change('shares', '')

/** The last statements of a batch that lends a group, or ends that. */
export const sharesChanged: readonly Statement[] = [raise, sharesChange, sweep]

/** Whether a transaction has raised the revision. */
export const raisesRevision = (statements: readonly Statement[]): boolean =>
  statements.some(({ strings: [text = ''] }) => /^\s*update revision/.test(text))

/**
 * The last statements of a batch that disables or changes a user, of the store or of a host app. All processes drop the
 * user and the user's tokens.
 */
export const userChanged = (id: string): readonly Statement[] => [
  raise,
  change('user', id),
  // A reader that finds more than `maxChanges` clears its whole cache, so one more is enough.
  sql`
    insert into changes (revision, kind, key)
    select revision.value, 'token', tokens.hash
    from revision, tokens
    where tokens.revoked_at is null
    and tokens.user_id = ${id}
    limit ${maxChanges + 1}`,
  // The secrets before a rotation.
  sql`
    insert into changes (revision, kind, key)
    select revision.value, 'token', tokens.old_hash
    from revision, tokens
    where tokens.revoked_at is null
    and tokens.user_id = ${id}
    and tokens.old_until is not null
    limit ${maxChanges + 1}`,
  sweep,
]

/** The last statements of a batch that changes a team. All processes drop the team. */
export const teamChanged = (id: string): readonly Statement[] => [raise, change('team', id), sweep]

/** The last statements of a batch that changes a token, or gives it another secret. All processes drop the token. */
export const tokenChanged = (...hashes: readonly string[]): readonly Statement[] => [
  raise,
  ...hashes.map((hash) => change('token', hash)),
  sweep,
]

/**
 * The last statements of a batch that may add a token. If it did, all processes drop the token's hash: they may have
 * cached it as unknown.
 */
export const tokenAdded = (hash: string): readonly Statement[] => [
  sql`
    update revision
    set value = value + 1
    where exists (
      select 1
      from tokens
      where hash = ${hash}
    )`,
  sql`
    insert into changes (revision, kind, key)
    select revision.value, 'token', tokens.hash
    from revision, tokens
    where tokens.hash = ${hash}`,
  sweep,
]

/**
 * The last statements of a batch that may revoke a token at `now`. If it did, all processes drop the token. Otherwise
 * nothing changes: a caller who revokes unknown tokens cannot keep other processes busy.
 */
export const tokenRevoked = (id: string, now: number): readonly Statement[] => [
  sql`
    update revision
    set value = value + 1
    where exists (
      select 1
      from tokens
      where id = ${id}
      and revoked_at = ${now}
    )`,
  sql`
    insert into changes (revision, kind, key)
    select revision.value, 'token', tokens.hash
    from revision, tokens
    where tokens.id = ${id}
    and tokens.revoked_at = ${now}`,
  sql`
    insert into changes (revision, kind, key)
    select revision.value, 'token', tokens.old_hash
    from revision, tokens
    where tokens.id = ${id}
    and tokens.revoked_at = ${now}
    and tokens.old_until is not null`,
  sweep,
]

/** Reads the revision; with `since`, also the changes since then, if the database still has all of them. */
export const readRevision = async (database: Database, since?: number): Promise<number | Revision> => {
  if (since === undefined) {
    const [row] = await database.query<{ value: number }>(sql`select value from revision`)
    return valueIn(row)
  }
  const rows = await database.query<{ value: number; revision?: number } & RevisionChange>(sql`
    select revision.value, changes.revision, changes.kind, changes.key
    from revision
    left join changes on changes.revision > ${since}
    order by changes.revision
    limit ${maxChanges + 1}`)
  const value = valueIn(rows[0])
  const changes = rows.filter(({ revision }) => revision !== undefined)
  const revisionsWithChanges = new Set(changes.map(({ revision }) => revision)).size
  // Changes of a missing revision were swept, or a program that records no changes has raised it.
  return rows.length > maxChanges || revisionsWithChanges !== value - since ? { value } : { value, changes }
}

/** All that is cached depends on it, so no other value counts as one. */
const valueIn = (row: { readonly value: number } | undefined): number => {
  if (!Number.isSafeInteger(row?.value)) throw new StoreError('the revision of the database could not be read')
  return Number(row?.value)
}

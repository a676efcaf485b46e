import type { Change, Revision } from '../../plugins/shared/remembered.ts'
import { type Database, type Statement, sql } from './database.ts'

/** Revisions whose changes are kept. Who is further behind forgets everything. */
const most = 1_000
/** Changes that are read at once: as many as those revisions have that tell of a group and its user. */
const mostChanges = 2 * most

/** Whoever raises it holds the row until the end of the batch: so revisions come to be in the order of their numbers, each with its changes. */
const raise = sql`update revision set value = value + 1`

const sweep = sql`
  delete from changes
  where revision <= (
    select value
    from revision
  ) - ${most}`

const groupsOtherOnes = (user: string): Statement => sql`
  insert into changes (revision, kind, key)
  select value, 'groups', cast(${user} as text)
  from revision`

/** Belong, as the last ones, into a batch that gives a group to a user: what processes remember of that user's groups is forgotten. */
export const groupsChanged = (user: string): readonly Statement[] => [raise, groupsOtherOnes(user), sweep]

/** The same, for one that takes a group away or changes its record: what they remember of that group, too. */
export const groupChanged = (id: string | undefined, user: string): readonly Statement[] => [
  raise,
  sql`
    insert into changes (revision, kind, key)
    select value, 'group', coalesce(cast(${id} as text), '')
    from revision`,
  groupsOtherOnes(user),
  sweep,
]

/** The same database; `raised` is called after every batch that has raised the revision. */
export const tellingRaises = (database: Database, raised: () => void): Database => ({
  ...database,
  async batch(statements) {
    const rows = await database.batch(statements)
    if (statements.some(({ strings: [text = ''] }) => /^\s*update revision/.test(text))) raised()
    return rows
  },
})

/** The same, for all tokens of the user of that name. */
export const userChanged = (name: string): readonly Statement[] => [
  raise,
  sql`
    insert into changes (revision, kind, key)
    select value, 'user', cast(${name} as text)
    from revision`,
  // One more than is read says as much as all of them.
  sql`
    insert into changes (revision, kind, key)
    select revision.value, 'token', tokens.hash
    from revision, tokens
    where tokens.revoked_at is null
    and tokens.user_id = (
      select id
      from users
      where name = ${name}
    )
    limit ${mostChanges + 1}`,
  sweep,
]

/** The same, for a token of that hash, if it was added: other processes may have refused it a moment ago. */
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

/** The same, for a token that was revoked at `now`; nothing for any other, so that nobody can keep processes busy with revoking what is not there. */
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
  sweep,
]

export const readRevision = async (database: Database, since?: number): Promise<number | Revision> => {
  if (since === undefined) {
    const [row] = await database.query(sql`select value from revision`)
    return Number(row?.value)
  }
  const rows = await database.query<{ value: number; revision?: number } & Change>(sql`
    select revision.value, changes.revision, changes.kind, changes.key
    from revision
    left join changes on changes.revision > ${since}
    order by changes.revision
    limit ${mostChanges + 1}`)
  const value = Number(rows[0]?.value)
  const changes = rows.filter(({ revision }) => revision !== undefined)
  const named = new Set(changes.map(({ revision }) => revision)).size
  // A revision without a change was swept away, or raised by a program that does not say what it changed.
  return rows.length > mostChanges || named !== value - since ? { value } : { value, changes }
}

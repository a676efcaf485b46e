import type { AdminConsent, ConsentRecords } from '../../../plugins/admin/consents.ts'
import type { Database } from '../database/database.ts'
import { clause, limitTo, type Statement } from '../database/statement.ts'
import { type ConsentRow, consentColumns, consentFrom } from './consent-rows.ts'

/** The list of consents, for operators. */
export const consentPages = (database: Database): Pick<ConsentRecords, 'consentPage'> => ({
  async consentPage({ state }, { limit, after }) {
    const from = after?.id ?? ''
    const rows = await database.query<ListedRow>(
      state === 'withdrawn' ? selectWithdrawn(from, limit + 1) : selectAll(from, limit + 1),
    )
    const items = rows.slice(0, limit).map(listedFrom)
    const last = items.at(-1)?.group
    return rows.length > limit && last !== undefined ? { items, next: { key: last, id: last } } : { items }
  },
})

type ListedRow = Partial<ConsentRow> & {
  readonly id: string
  /** Id of the present owner. */
  readonly user?: string
  readonly ownerName?: string
}

/** A group whose consent nobody has recorded has an owner. */
const listedFrom = ({ id, user, ownerName, ...row }: ListedRow): AdminConsent => ({
  ...(row.group === undefined ? { group: id, owner: user ?? '' } : consentFrom(row as ConsentRow)),
  ...(ownerName !== undefined && { ownerName }),
})

/**
 * The ledger, and the groups of persons that it does not have yet. Each part is read up to the limit, so that a page
 * costs the same wherever it begins.
 */
export const selectAll = (after: string, limit: number): Statement => clause`
  with recorded as (
    select *
    from consents
    where group_id > ${after}
    order by group_id
    ${limitTo(limit)}
  )
  select found.id, groups.user_id as "user", users.name as "ownerName", ${consentColumns}
  from (
    select id
    from (
      select group_id as id
      from recorded
      union
      select owned.id
      from (
        select group_id as id
        from groups
        where group_id > ${after}
        and state = 'owned'
        and type = 'LivenessFace'
        order by group_id
        ${limitTo(limit)}
      ) owned
    ) either
    order by id
    ${limitTo(limit)}
  ) found
  left join recorded consents on consents.group_id = found.id
  left join groups on groups.group_id = found.id and groups.state = 'owned'
  left join users on users.id = coalesce(groups.user_id, consents.owner_id)
  order by found.id`

export const selectWithdrawn = (after: string, limit: number): Statement => clause`
  select consents.group_id as id, groups.user_id as "user", users.name as "ownerName", ${consentColumns}
  from (
    select *
    from consents
    where group_id > ${after}
    and withdrawn_at is not null
    order by group_id
    ${limitTo(limit)}
  ) consents
  left join groups on groups.group_id = consents.group_id and groups.state = 'owned'
  left join users on users.id = coalesce(groups.user_id, consents.owner_id)
  order by consents.group_id`

import { clause, joinClauses, limitTo, type Statement } from './database.ts'

/** Old rows of a table. */
export interface OldRows {
  readonly table: Statement
  /** The column by whose index they are found. */
  readonly time: Statement
  /** The columns of the primary key. */
  readonly key: Statement
  /** Which rows are old. */
  readonly where: Statement
}

/**
 * Deletes the oldest rows of those that are old: at most `max`, which is one of a few numbers. It returns a row for
 * each.
 *
 * The keys alone would do. The range of the times is for PostgreSQL, which expects that it has few rows, whatever the
 * values are, and uses the index. For the keys of a subquery it would read the whole table.
 */
export const deleteOldest = ({ table, time, key, where }: OldRows, max: number): Statement =>
  joinClauses(
    clause`
    with oldest as (
      select `,
    time,
    clause` as time, `,
    key,
    clause`
      from `,
    table,
    clause`
      where `,
    where,
    clause`
      order by `,
    time,
    clause`, `,
    key,
    clause`
      `,
    limitTo(max),
    clause`
    )
    delete from `,
    table,
    clause`
    where `,
    where,
    clause`
    and `,
    time,
    clause` >= (select min(time) from oldest)
    and `,
    time,
    clause` <= (select max(time) from oldest)
    and (`,
    key,
    clause`) in (select `,
    key,
    clause` from oldest)
    returning 1 as deleted`,
  )

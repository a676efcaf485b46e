import { clause, limitTo, type Statement } from './statement.ts'

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
export const deleteOldest = ({ table, time, key, where }: OldRows, max: number): Statement => clause`
  with oldest as (
    select ${time} as time, ${key}
    from ${table}
    where ${where}
    order by ${time}, ${key}
    ${limitTo(max)}
  )
  delete from ${table}
  where ${where}
  and ${time} >= (select min(time) from oldest)
  and ${time} <= (select max(time) from oldest)
  and (${key}) in (select ${key} from oldest)
  returning 1 as deleted`

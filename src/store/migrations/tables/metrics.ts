import { type Statement, sql } from '../../database/statement.ts'

/** A migration: what all processes have counted, by minute and by hour, for operators. Never change it. */
export const metricTables: readonly Statement[] = [
  // `series` is a name with its labels, as a JSON list.
  sql`
    create table metric_counts (
      span text not null check (span in ('minute', 'hour')),
      at bigint not null,
      series text not null,
      value bigint not null,
      primary key (span, at, series)
    )`,
]

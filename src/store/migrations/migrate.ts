import type { Steps } from '../database/database.ts'
import { StoreError } from '../database/error.ts'
import { sql } from '../database/statement.ts'
import { type Migration, migrations } from './migrations.ts'

/**
 * The number of migrations that the database does not have yet. Throws StoreError when the database is newer than the
 * program.
 */
export function* countMissing(allMigrations: readonly Migration[] = migrations): Steps<number> {
  yield sql`create table if not exists sluice_migrations (id integer primary key, applied_at bigint not null)`
  const [newest] = yield sql`select max(id) as id from sluice_migrations`
  const applied = Number(newest?.id ?? 0)
  if (applied > allMigrations.length) {
    throw new StoreError(
      `the database is newer than this program: it has migration ${applied}, this program knows ${allMigrations.length}`,
    )
  }
  return allMigrations.length - applied
}

/**
 * Applies the migrations that the database does not have yet. Throws StoreError, and changes nothing, when the database
 * is newer than the program.
 */
export function* migrate(now: number, allMigrations: readonly Migration[] = migrations): Steps {
  const applied = allMigrations.length - (yield* countMissing(allMigrations))
  for (const [index, migration] of allMigrations.entries()) {
    if (index < applied) continue
    if (typeof migration === 'function') yield* migration()
    else for (const statement of migration) yield statement
    yield sql`insert into sluice_migrations (id, applied_at) values (${index + 1}, ${now})`
  }
}

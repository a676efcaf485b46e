import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { openStore } from '../../src/store/index.ts'

/**
 * A database in memory with all tables, as `migrate` of the store makes it. Each database in memory that a test opens begins as a copy of it: a tenth of the
 * time, and there are thousands. `migrate` then finds nothing to do. Tests of
 * migrations use files.
 */
export const memoryTemplate = await (async (): Promise<Uint8Array> => {
  const { close } = DatabaseSync.prototype
  let made: Uint8Array | undefined
  DatabaseSync.prototype.close = function () {
    made ??= this.serialize()
    close.call(this)
  }
  const store = openStore('sqlite::memory:')
  await store.migrate()
  await store.close()
  DatabaseSync.prototype.close = close
  if (!made) throw new Error('the template was not made')
  return made
})()

const known = new WeakSet<DatabaseSync>()
const { prepare } = DatabaseSync.prototype

DatabaseSync.prototype.prepare = function (text: string): StatementSync {
  if (!known.has(this) && this.location() === null && isEmpty(this)) this.deserialize(memoryTemplate)
  known.add(this)
  return prepare.call(this, text)
}

/** Whether a database has no tables: else they are those of an example. */
const isEmpty = (database: DatabaseSync): boolean =>
  prepare.call(database, 'select 1 from sqlite_master limit 1').get() === undefined

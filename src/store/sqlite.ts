import { chmodSync, closeSync, existsSync, mkdirSync, openSync, realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { type Database, numbered, type Row, type Statement, toRow } from './database.ts'
import { StoreError, storeError } from './error.ts'

const textOf = numbered('?')

// https://www.sqlite.org/rescode.html: SQLITE_CONSTRAINT_PRIMARYKEY and SQLITE_CONSTRAINT_UNIQUE.
const uniqueViolations: readonly unknown[] = [1555, 2067]

/**
 * A file, or `:memory:`. Several processes may share a file: one writes at a time, the others wait up to two seconds, which is the deadline here.
 * Everything happens at once, within the call: no request ever sees another's transaction.
 */
export const openSqlite = (path: string): Database => {
  let connection: DatabaseSync | undefined
  let closed = false
  const prepared = new Map<TemplateStringsArray, StatementSync>()

  const connected = (): DatabaseSync => {
    if (closed) throw new StoreError('the database is closed')
    connection ??= connect(path)
    return connection
  }

  const ask = (statement: Statement): Row[] => {
    let ready = prepared.get(statement.strings)
    if (!ready) {
      ready = connected().prepare(textOf(statement))
      prepared.set(statement.strings, ready)
    }
    return ready.all(...statement.values).map(toRow)
  }

  const transaction = <Result>(work: () => Result): Result => {
    const database = connected()
    database.exec('begin immediate')
    try {
      const result = work()
      database.exec('commit')
      return result
    } catch (error) {
      rollBack(database)
      throw error
    }
  }

  const run = async <Result>(work: () => Result): Promise<Result> => {
    try {
      return work()
    } catch (cause) {
      throw storeError(cause, (code) => uniqueViolations.includes(code))
    }
  }

  return {
    query: <Result>(statement: Statement) => run(() => ask(statement) as Result[]),
    batch: (statements) => run(() => transaction(() => statements.map(ask))),
    exclusively: (makeSteps) =>
      run(() =>
        transaction(() => {
          const steps = makeSteps()
          for (let step = steps.next(); !step.done; ) step = steps.next(ask(step.value))
        }),
      ),
    close: async () => {
      closed = true
      prepared.clear()
      connection?.close()
      connection = undefined
    },
  }
}

const connect = (path: string): DatabaseSync => {
  if (path !== ':memory:') makePrivate(path)
  const database = new DatabaseSync(path)
  try {
    database.exec('pragma busy_timeout = 2000')
    database.exec('pragma journal_mode = wal')
    database.exec('pragma synchronous = full')
    database.exec('pragma foreign_keys = on')
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/**
 * Makes the file, and the folders that are missing, for the owner alone; files from before are closed to all others. SQLite gives the files that it puts beside
 * (`-wal`, `-shm`) the permissions of the file itself.
 */
const makePrivate = (path: string): void => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  closeSync(openSync(path, 'a', 0o600))
  // SQLite puts them beside the file itself, where a link leads to it.
  const file = realpathSync(path)
  for (const each of [file, `${file}-wal`, `${file}-shm`]) {
    try {
      if (existsSync(each)) chmodSync(each, 0o600)
    } catch {
      // Somebody else's file, or a file system without permissions: whoever put it there has decided.
    }
  }
}

const rollBack = (database: DatabaseSync): void => {
  try {
    database.exec('rollback')
  } catch {
    // Some errors (disk full, for one) have rolled back by themselves.
  }
}

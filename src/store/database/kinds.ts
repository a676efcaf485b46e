import type { Database, DatabaseKind, DatabaseOptions } from './database.ts'
import { postgresDatabase } from './postgres.ts'
import { sqliteDatabase } from './sqlite.ts'

/** All kinds of databases. */
export const databaseKinds = {
  sqlite: sqliteDatabase,
  postgres: postgresDatabase,
} as const satisfies Readonly<Record<string, DatabaseKind>>

const kinds: readonly DatabaseKind[] = Object.values(databaseKinds)

/** The forms of a database URL, for messages. */
export const databaseUrlForms = kinds.map(({ urlForm }) => urlForm).join(' or ')

/** The kind of the database at a URL. Undefined: no kind accepts the URL. */
export const databaseKindOf = (url: string): DatabaseKind | undefined => kinds.find((kind) => kind.accepts(url))

/** Opens the database at a URL. Throws TypeError for a URL that no kind accepts. */
export const openDatabase = (url: string, options: DatabaseOptions): Database => {
  const kind = databaseKindOf(url)
  if (!kind) throw new TypeError(`a store is at ${databaseUrlForms}`)
  return kind.open(url, options)
}

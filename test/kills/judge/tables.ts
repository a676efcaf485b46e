import { SQL } from 'bun'

// biome-ignore lint/suspicious/noExplicitAny: rows of every table
type Row = Readonly<Record<string, any>>

/** The tables of a database, of either kind, as they are. */
export interface Tables extends AsyncDisposable {
  query(statement: string): Promise<readonly Row[]>
  /** The first column of the first row, as a number. */
  count(statement: string): Promise<number>
  names(): Promise<readonly string[]>
}

export const openTables = (databaseUrl: string): Tables => {
  const isSqlite = databaseUrl.startsWith('sqlite:')
  const database = new SQL(databaseUrl, { max: 1 })
  // The servers write meanwhile.
  const opened = isSqlite ? database.unsafe('pragma busy_timeout = 10000') : Promise.resolve()
  const query: Tables['query'] = async (statement) => {
    await opened
    return [...(await database.unsafe(statement))]
  }
  return {
    query,
    async count(statement) {
      const [row = {}] = await query(statement)
      return Number(Object.values(row)[0] ?? 0)
    },
    async names() {
      const rows = await query(
        isSqlite
          ? `select name from sqlite_master where type = 'table' and name not like 'sqlite_%'`
          : `select table_name as name from information_schema.tables where table_schema = 'public'`,
      )
      return rows.map(({ name }) => String(name)).sort()
    },
    [Symbol.asyncDispose]: () => database.close(),
  }
}

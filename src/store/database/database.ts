import type { StoreError } from './error.ts'
import type { Statement } from './statement.ts'

/** A row by column name. A column that is null is absent. */
export type Row = Readonly<Record<string, string | number>>

/**
 * Statements in sequence, where a later one may depend on the rows of an earlier one. A list of statements costs one
 * round trip: its rows come together.
 */
export type Steps<Result = void> = Generator<Statement | readonly Statement[], Result, readonly Row[]>

/** Whether a step is a list of statements. */
export const isList = (step: Statement | readonly Statement[]): step is readonly Statement[] => Array.isArray(step)

/** Options of a query, a batch or a transaction. */
export interface WriteOptions {
  /** Milliseconds. Default: that of the database, which holds for each statement of a transaction in any case. */
  readonly deadlineMs?: number
  /**
   * Whether it resolves only when a power failure cannot undo it. Default true.
   *
   * With false, SQLite does not wait for the disk, and the process, which it blocks, goes on at once. A process that is
   * killed loses nothing then, either; a power failure may undo such a write until another one has waited. PostgreSQL
   * always waits: that blocks nobody.
   */
  readonly waitsForDisk?: boolean
}

/** A connection to a database. Every method rejects with StoreError, within its deadline. */
export interface Database {
  /** Runs one statement. */
  query<Result = Row>(statement: Statement, options?: WriteOptions): Promise<Result[]>
  /** Runs the statements in one transaction. Returns the rows of each. */
  batch(statements: readonly Statement[], options?: WriteOptions): Promise<Row[][]>
  /** Runs the steps in one transaction, and returns what they return. It may run them again, after a deadlock. */
  transaction<Result>(steps: () => Steps<Result>, options?: WriteOptions): Promise<Result>
  /**
   * Runs the steps in one transaction, under a lock that one process holds at a time.
   *
   * @param deadlineMs default: 30 seconds. On SQLite, the deadline of the database is that of the lock, and the steps
   * block the process until they end
   */
  exclusively(steps: () => Steps, deadlineMs?: number): Promise<void>
  /** Never rejects. Takes at most 3 seconds. */
  close(): Promise<void>
}

/**
 * Wraps a database: calls `committed` with the statements of each transaction that it has committed, except those of
 * `query` and `exclusively`.
 */
export const notifyOnCommit = (
  database: Database,
  committed: (statements: readonly Statement[]) => void,
): Database => ({
  ...database,
  async batch(statements, options) {
    const rows = await database.batch(statements, options)
    committed(statements)
    return rows
  },
  async transaction(steps, options) {
    let executed: Statement[] = []
    const result = await database.transaction(() => {
      executed = []
      return record(steps(), executed)
    }, options)
    committed(executed)
    return result
  },
})

/** The same database, for writes that need not wait for the disk: see `waitsForDisk`. */
export const withoutDisk = (database: Database): Database => ({
  ...database,
  query: (statement, options) => database.query(statement, { ...options, waitsForDisk: false }),
  batch: (statements, options) => database.batch(statements, { ...options, waitsForDisk: false }),
  transaction: (steps, options) => database.transaction(steps, { ...options, waitsForDisk: false }),
})

function* record<Result>(steps: Steps<Result>, executed: Statement[]): Steps<Result> {
  let step = steps.next()
  while (!step.done) {
    executed.push(...(isList(step.value) ? step.value : [step.value]))
    step = steps.next(yield step.value)
  }
  return step.value
}

/** A kind of database. Its SQL must accept the statements of this folder: they are the same for all kinds. */
export interface DatabaseKind {
  /** The form of its URLs, for messages. */
  readonly urlForm: string
  accepts(url: string): boolean
  /** The password in a URL, which no log line may contain. Undefined: there is none. */
  passwordOf(url: string): string | undefined
  /** The file of the data. Undefined: the data is elsewhere. */
  fileOf(url: string): string | undefined
  /** Whether several processes can open the URL and share its data. */
  isShareable(url: string): boolean
  /** Opens a database at a URL that it accepts. Connects at the first query. */
  open(url: string, options: DatabaseOptions): Database
}

/** Options of an open database. */
export interface DatabaseOptions {
  /** How long a query or a batch may take, including the wait for a connection. Milliseconds. */
  readonly deadlineMs: number
  /** Receives each error with which a call rejects. Default: nobody. */
  readonly onError?: (error: StoreError) => void
}

/** Removes the nulls from a driver's row. The loop takes a tenth of the time of `Object.entries`. */
export const toRow = (row: Readonly<Record<string, unknown>>): Row => {
  const kept: Record<string, string | number> = {}
  for (const column in row) {
    const value = row[column]
    if (value !== null) kept[column] = value as string | number
  }
  return kept
}

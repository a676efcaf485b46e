import type postgres from 'postgres'
import { currentUser } from '../../../plugins/shared/http/current-request.ts'
import { ConnectionPool } from './connection-pool.ts'
import {
  type Database,
  type DatabaseKind,
  type DatabaseOptions,
  isList,
  type Row,
  type Steps,
  toRow,
  type WriteOptions,
} from './database.ts'
import { DatabaseLockedError, type ErrorCodes, StoreError, storeError } from './error.ts'
import { renderStatement, type Statement } from './statement.ts'

/** PostgreSQL. */
export const postgresDatabase: DatabaseKind = {
  urlForm: 'postgres://USER:PASSWORD@HOST:PORT/DATABASE',
  accepts: (url) => /^postgres(ql)?:\/\//.test(url) && Boolean(URL.parse(url)?.hostname),
  passwordOf: (url) => decodeURIComponent(new URL(url).password) || undefined,
  fileOf: () => undefined,
  isShareable: () => true,
  open: (url, options) => openPostgres(url, options),
}

const maxConnections = 10
/** Slow requests of one user leave connections for those of others. */
const maxConnectionsPerUser = 5
const exclusiveMs = 30_000
/** The part of its deadline for which `exclusively` waits for its lock. It then knows what it has waited for. */
const lockShare = 4 / 5
const closeSeconds = 2
/** Key of the advisory lock. Any number that no other program is likely to use. */
const migrationLock = 7_584_231_906
const int8 = 20
/**
 * SQLSTATE unique_violation; disk_full; insufficient_resources, out_of_memory, too_many_connections, and
 * query_canceled: the server has ended a statement at `statement_timeout`, and rolled back its transaction.
 */
const errorCodes: ErrorCodes = {
  uniqueViolation: ['23505'],
  full: ['53100'],
  busy: ['53000', '53200', '53300', '57014'],
  // Classes: data exception, integrity constraint violation, program limit exceeded.
  isRejectedValue: (code) => typeof code === 'string' && /^(?:22|23|54)/.test(code),
}
/** How often a transaction is retried after a deadlock or a lock timeout, within its deadline. */
const maxRetries = 3
/**
 * SQLSTATE deadlock_detected and lock_not_available: the server has rolled the transaction back, so a retry is safe.
 */
const lockNotAvailable = '55P03'
const retryableCodes: readonly unknown[] = ['40P01', lockNotAvailable]

const textOf = renderStatement('$')

/**
 * A database on PostgreSQL.
 *
 * The driver has no query timeout: on a frozen server a query waits for ever, and so does every query pipelined behind
 * it. So each connection has a driver instance of its own, and a `ConnectionPool` enforces the deadlines.
 */
export const openPostgres = (url: string, { deadlineMs, onError }: DatabaseOptions): Database => {
  const openWith = (driver: typeof postgres) => () =>
    driver(url, {
      max: 1,
      fetch_types: false,
      idle_timeout: 60,
      connect_timeout: deadlineMs / 1000,
      // The driver's default backoff grows to 20 s: too long when the server is reachable again.
      backoff: () => 0.1,
      onnotice: () => {},
      types: { int8: { to: int8, from: [int8], parse: Number, serialize: String } },
      connection: {
        application_name: 'sluice',
        // Below the deadline: the server ends a slow statement before the pool has to drop the connection.
        statement_timeout: Math.ceil(deadlineMs * 0.8),
        lock_timeout: Math.ceil(deadlineMs / 5),
        idle_in_transaction_session_timeout: deadlineMs * 2,
      },
    })
  let pool: ConnectionPool<Connection> | undefined
  const openPool = async (): Promise<ConnectionPool<Connection>> => {
    const driver = await loadDriver()
    // Another query may have waited for the driver at the same time.
    const opened =
      pool ??
      new ConnectionPool({
        ...{ size: maxConnections, maxPerUser: maxConnectionsPerUser },
        ...{ open: openWith(driver), drop: discard, isBroken, maxWorkMs: deadlineMs },
      })
    pool = opened
    return opened
  }

  const deadlineOf = (options?: WriteOptions): number => options?.deadlineMs ?? deadlineMs

  const run = async <Result>(work: (connection: Connection) => Promise<Result>, ms: number): Promise<Result> => {
    const until = performance.now() + ms
    const user = currentUser()
    for (let retriesLeft = maxRetries; ; retriesLeft--) {
      try {
        return await (pool ?? (await openPool())).run(work, until - performance.now(), user)
      } catch (cause) {
        if (retriesLeft === 0 || !retryableCodes.includes(codeOf(cause))) {
          const error = storeError(cause, errorCodes)
          onError?.(error)
          throw error
        }
        // A random delay: transactions that deadlocked must not start again at the same moment.
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 100))
      }
    }
  }

  return {
    query: <Result>(statement: Statement, options?: WriteOptions) =>
      run((connection) => execute(connection, statement) as Promise<Result[]>, deadlineOf(options)),
    batch: (statements, options) =>
      run(
        (connection) => begin(connection, (tx) => Promise.all(statements.map((each) => execute(tx, each)))),
        deadlineOf(options),
      ),
    transaction: <Result>(steps: () => Steps<Result>, options?: WriteOptions) =>
      run((connection) => begin(connection, (tx) => runSteps(tx, steps())), deadlineOf(options)),
    exclusively: (steps, ms = exclusiveMs) =>
      run((connection) => begin(connection, (tx) => runExclusively(tx, steps(), Math.min(ms, exclusiveMs))), ms),
    close: async () => {
      // Without a timeout the driver may wait for ever for a dead connection.
      await Promise.allSettled(pool?.all.map((connection) => connection.end({ timeout: closeSeconds })) ?? [])
    },
  }
}

/** Loads the driver at the first query: it is an optional peer dependency, which a store on SQLite does not need. */
const loadDriver = async (): Promise<typeof postgres> => {
  const { default: driver } = await import('postgres').catch((cause: unknown) => {
    throw new Error('a store on PostgreSQL needs the package postgres: add it to your project', { cause })
  })
  return driver
}

type Connection = postgres.Sql<{ int8: number }>
type Queryable = Pick<Connection, 'unsafe'>

const codeOf = (cause: unknown): unknown => (cause instanceof Error && 'code' in cause ? cause.code : undefined)

const execute = async (connection: Queryable, statement: Statement): Promise<Row[]> => {
  if (statement.only === 'sqlite') return []
  const rows = await connection.unsafe(textOf(statement), [...statement.values], { prepare: true })
  return rows.map(toRow)
}

/**
 * Runs a transaction.
 *
 * The driver rolls it back when `work` fails. On a connection that the server has closed, it then writes to nothing,
 * and throws in a turn of the event loop of its own, which ends the process (`nextWrite` in `connection.js` of postgres
 * 3.4). So work on such a connection does not end: the driver itself rejects when the connection closes.
 */
const begin = <Result>(connection: Connection, work: (tx: Queryable) => Promise<Result>): Promise<Result> =>
  connection.begin((tx) =>
    work(tx).catch((error: unknown) => (isClosed(error) ? new Promise<never>(() => {}) : Promise.reject(error))),
  ) as Promise<Result>

/** Of a connection that was dropped, the driver knows that it is closed. */
const isClosed = (error: unknown): boolean => isBroken(error) && codeOf(error) !== 'CONNECTION_DESTROYED'

const runSteps = async <Result>(tx: Queryable, steps: Steps<Result>): Promise<Result> => {
  let step = steps.next()
  while (!step.done) {
    const { value } = step
    const rows = isList(value)
      ? (await Promise.all(value.map((each) => execute(tx, each)))).flat()
      : await execute(tx, value)
    step = steps.next(rows)
  }
  return step.value
}

const runExclusively = async (tx: Queryable, steps: Steps, waitMs: number): Promise<void> => {
  await tx.unsafe('set local statement_timeout = 0')
  // The server ends the wait: when the connection is dropped, its session would wait on.
  await tx.unsafe(`set local lock_timeout = ${Math.ceil(waitMs * lockShare)}`)
  await tx.unsafe('select pg_advisory_xact_lock($1)', [migrationLock]).catch((cause: unknown) => {
    if (codeOf(cause) !== lockNotAvailable) throw cause
    throw new DatabaseLockedError('another process migrates the database', { cause })
  })
  await tx.unsafe('set local lock_timeout = 0')
  await runSteps(tx, steps)
}

/**
 * Whether an error is of the connection: of the system, or of the driver, and none that the server has sent. Ours are
 * not of the connection.
 *
 * The driver would connect again. But it goes on with the answer that has broken off: a later statement may get a row
 * of nothing before its own (`rows` in `connection.js` of postgres 3.4), or no answer at all.
 */
const isBroken = (error: unknown): boolean =>
  !(error instanceof StoreError) && /^(?:E[A-Z]{3,}|CONNECT)/.test(String(codeOf(error)))

/**
 * Closes a connection whose server does not respond. The driver rejects all its pending queries; their callers have
 * timed out.
 */
const discard = (connection: Connection): void => {
  connection.end({ timeout: 0 }).catch(() => {})
}

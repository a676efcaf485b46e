import postgres from 'postgres'
import { ConnectionPool } from './connection-pool.ts'
import { type Database, numbered, type Row, type Statement, type Steps, toRow } from './database.ts'
import { storeError } from './error.ts'

export interface PostgresOptions {
  /** Milliseconds that a query or a batch may take, waiting included. */
  readonly deadlineMs: number
}

const connections = 10
const migrationMs = 30_000
const closeSeconds = 2
/** Any number that no other program is likely to lock. */
const migrationLock = 7_584_231_906
const int8 = 20
const uniqueViolation = '23505'
/** So often is begun anew what stood still, within its deadline. */
const standstills = 3
/** Deadlock, and a lock that was not to be had: nothing took effect, and who stood in the way is gone or was as stuck. */
const codesOfStandstill: readonly unknown[] = ['40P01', '55P03']

const textOf = numbered('$')

/**
 * The driver has no time limit of its own: on a frozen server a query waits for ever, and so does everything pipelined behind it. Hence one driver
 * instance for each connection, and lanes to use them.
 */
export const openPostgres = (url: string, { deadlineMs }: PostgresOptions): Database => {
  const open = () =>
    postgres(url, {
      max: 1,
      fetch_types: false,
      idle_timeout: 60,
      connect_timeout: deadlineMs / 1000,
      // The driver's own grows to 20 s: too long for a server that is back.
      backoff: () => 0.1,
      onnotice: () => {},
      types: { int8: { to: int8, from: [int8], parse: Number, serialize: String } },
      connection: {
        application_name: 'sluice',
        // A slow statement is ended by the server before it costs the connection.
        statement_timeout: Math.ceil(deadlineMs * 0.8),
        lock_timeout: Math.ceil(deadlineMs / 5),
        idle_in_transaction_session_timeout: deadlineMs * 2,
      },
    })
  const lanes = new ConnectionPool({ size: connections, open, drop: giveUp, patienceMs: deadlineMs })

  const run = async <Result>(work: (lane: Lane) => Promise<Result>, ms: number): Promise<Result> => {
    const until = performance.now() + ms
    for (let left = standstills; ; left--) {
      try {
        return await lanes.run(work, until - performance.now())
      } catch (cause) {
        if (left === 0 || !codesOfStandstill.includes(codeOf(cause))) {
          throw storeError(cause, (code) => code === uniqueViolation)
        }
        // Who waited for each other once must not begin anew at the same moment.
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 100))
      }
    }
  }

  return {
    query: <Result>(statement: Statement, ms = deadlineMs) =>
      run((lane) => ask(lane, statement) as Promise<Result[]>, ms),
    batch: (statements) =>
      run((lane) => lane.begin((tx) => Promise.all(statements.map((each) => ask(tx, each)))), deadlineMs),
    exclusively: (steps) => run((lane) => lane.begin((tx) => inTurn(tx, steps())), migrationMs),
    close: async () => {
      // Without a timeout the driver may wait for ever for a connection that died.
      await Promise.allSettled(lanes.all.map((lane) => lane.end({ timeout: closeSeconds })))
    },
  }
}

type Lane = ReturnType<typeof postgres>
type Asked = Pick<Lane, 'unsafe'>

const codeOf = (cause: unknown): unknown => (cause instanceof postgres.PostgresError ? cause.code : undefined)

const ask = async (lane: Asked, statement: Statement): Promise<Row[]> => {
  const rows = await lane.unsafe(textOf(statement), [...statement.values], { prepare: true })
  return rows.map(toRow)
}

const inTurn = async (tx: Asked, steps: Steps): Promise<void> => {
  await tx.unsafe('set local statement_timeout = 0')
  await tx.unsafe('set local lock_timeout = 0')
  await tx.unsafe('select pg_advisory_xact_lock($1)', [migrationLock])
  for (let step = steps.next(); !step.done; ) step = steps.next(await ask(tx, step.value))
}

/** Ends a connection that does not answer. Whatever still waits on it is rejected; nobody listens any more. */
const giveUp = (lane: Lane): void => {
  lane.end({ timeout: 0 }).catch(() => {})
}

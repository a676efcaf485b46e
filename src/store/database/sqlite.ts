import { chmodSync, closeSync, existsSync, mkdirSync, openSync, realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { setTimeout } from 'node:timers'
import { afterIo } from '../../../plugins/shared/background/turns.ts'
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

const textOf = renderStatement('?')
/** Statements that stay prepared: more than the program has. Those that are composed could be more. */
const maxPrepared = 2_000

/** SQLite: a file, or `:memory:`. */
export const sqliteDatabase: DatabaseKind = {
  urlForm: 'sqlite:PATH',
  accepts: (url) => /^sqlite:./.test(url),
  passwordOf: () => undefined,
  fileOf: (url) => (pathOf(url) === ':memory:' ? undefined : pathOf(url)),
  isShareable: (url) => pathOf(url) !== ':memory:',
  open: (url, options) => openSqlite(pathOf(url), options),
}

const pathOf = (url: string): string => url.slice('sqlite:'.length)

// https://www.sqlite.org/rescode.html: SQLITE_CONSTRAINT_PRIMARYKEY and SQLITE_CONSTRAINT_UNIQUE; SQLITE_FULL and SQLITE_IOERR_SHMSIZE.
const errorCodes: ErrorCodes = {
  uniqueViolation: [1555, 2067],
  full: [13, 4874],
  busy: [],
  // SQLITE_TOOBIG, SQLITE_CONSTRAINT with its kinds, SQLITE_MISMATCH, SQLITE_RANGE.
  isRejectedValue: (code) => typeof code === 'number' && [18, 19, 20, 25].includes(code & 0xff),
}

/** SQLITE_BUSY, with its kinds. */
const busyCode = 5
/** The longest time between two attempts to write while another process does. Milliseconds. */
const maxPauseMs = 2
/**
 * Whoever has written would write again before others try, and these would wait for seconds. So while several processes
 * write, each leaves a pause after a write, as long as others usually take to try. Milliseconds.
 */
const othersMs = 2
/** The number of writes after which a process leaves such pauses, since it has last found another one writing. */
const writesForOthers = 100

/**
 * A database on SQLite: a file, or `:memory:`.
 *
 * Several processes may share a file: one writes at a time. A write of the others tries again in later turns of the
 * event loop, until its deadline. Each call runs synchronously, so requests of one process never see each other's open
 * transactions. One write runs in a turn of the event loop.
 *
 * @param options default deadline: 3 seconds
 */
export const openSqlite = (path: string, { deadlineMs = 3_000, onError }: Partial<DatabaseOptions> = {}): Database => {
  let connection: DatabaseSync | undefined
  let closed = false
  const prepared = new Map<TemplateStringsArray, StatementSync>()

  const openedConnection = (): DatabaseSync => {
    if (closed) throw new StoreError('the database is closed')
    connection ??= connect(path)
    return connection
  }

  const execute = (statement: Statement): Row[] => {
    if (statement.only === 'postgres') return []
    let compiled = prepared.get(statement.strings)
    if (!compiled) {
      compiled = openedConnection().prepare(textOf(statement))
      const [oldest] = prepared.size >= maxPrepared ? prepared.keys() : []
      if (oldest) prepared.delete(oldest)
      prepared.set(statement.strings, compiled)
    }
    return compiled.all(...statement.values).map(toRow)
  }

  const controls = new Map<string, StatementSync>()
  /** Not by `exec`, whose errors have no `errcode` on Deno (2.9.6). */
  const control = (text: 'begin immediate' | 'commit'): void => {
    let compiled = controls.get(text)
    if (!compiled) {
      compiled = openedConnection().prepare(text)
      controls.set(text, compiled)
    }
    compiled.run()
  }

  const transaction = <Result>(work: () => Result): Result => {
    const database = openedConnection()
    control('begin immediate')
    try {
      const result = work()
      control('commit')
      return result
    } catch (error) {
      rollBack(database)
      throw error
    }
  }

  let synchronous: 'full' | 'normal' = 'full'
  /** The setting has no effect within a transaction. See https://sqlite.org/pragma.html#pragma_synchronous */
  const setSynchronous = (wanted: typeof synchronous): void => {
    if (wanted === synchronous) return
    openedConnection().exec(`pragma synchronous = ${wanted}`)
    synchronous = wanted
  }

  const runSteps = <Result>(steps: Steps<Result>): Result => {
    let step = steps.next()
    while (!step.done) step = steps.next(isList(step.value) ? step.value.flatMap(execute) : execute(step.value))
    return step.value
  }

  const turns = new WriteTurns()

  /** Work fails for a lock before it has changed anything, so it may run again. */
  const run = async <Result>(work: () => Result, until: number): Promise<Result> => {
    for (;;) {
      try {
        return work()
      } catch (cause) {
        if (!isLocked(cause) || performance.now() >= until) {
          const error = storeError(cause, errorCodes)
          onError?.(error)
          throw error
        }
      }
      turns.leaveTimeForOthers()
      // A random pause: else processes that write equally often could always meet.
      await new Promise((resolve) => setTimeout(resolve, Math.random() * maxPauseMs))
    }
  }

  const read = <Result>(work: () => Result, { deadlineMs: ms = deadlineMs }: WriteOptions = {}): Promise<Result> =>
    run(work, performance.now() + ms)

  const write = async <Result>(
    work: () => Result,
    { deadlineMs: ms = deadlineMs, waitsForDisk = true }: WriteOptions = {},
  ): Promise<Result> => {
    const until = performance.now() + ms
    const turn = turns.next()
    if (turn) await turn
    const runWrite = () => {
      setSynchronous(waitsForDisk ? 'full' : 'normal')
      return work()
    }
    try {
      return await run(runWrite, until)
    } finally {
      turns.end()
    }
  }

  return {
    query: <Result>(statement: Statement, options?: WriteOptions) =>
      (reads(statement) ? read : write)(() => execute(statement) as Result[], options),
    batch: (statements, options) => write(() => transaction(() => statements.map(execute)), options),
    transaction: (steps, options) => write(() => transaction(() => runSteps(steps())), options),
    exclusively: (steps) => whenUnlocked(write(() => transaction(() => runSteps(steps())))),
    close: async () => {
      closed = true
      prepared.clear()
      controls.clear()
      connection?.close()
      connection = undefined
    },
  }
}

const isLocked = (cause: unknown): boolean =>
  (Number((cause as { readonly errcode?: unknown } | undefined)?.errcode) & 0xff) === busyCode

/** Rejects with DatabaseLockedError when another process has written for too long. */
const whenUnlocked = <Result>(written: Promise<Result>): Promise<Result> =>
  written.catch((error: StoreError) => {
    if (!isLocked(error.cause)) throw error
    const { cause } = error
    throw new DatabaseLockedError('another process migrates the database, or writes to it for long', { cause })
  })

const reads = ({ strings }: Statement): boolean => {
  const [start = ''] = strings
  return (
    /^\s*select\b/.test(start) || (/^\s*with\b/.test(start) && !strings.some((text) => /\bdelete from\b/.test(text)))
  )
}

const connect = (path: string): DatabaseSync => {
  if (path !== ':memory:') makePrivate(path)
  const database = new DatabaseSync(path)
  try {
    // As `control`: errors of `exec` have no `errcode` on Deno.
    // SQLite itself must not wait for a lock: that would block the process.
    for (const setting of ['busy_timeout = 0', 'journal_mode = wal', 'synchronous = full', 'foreign_keys = on'])
      database.prepare(`pragma ${setting}`).all()
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/**
 * Creates the file and the missing folders with access for the owner only, and restricts existing files in the same
 * way. SQLite gives its companion files (`-wal`, `-shm`) the permissions of the database file.
 */
const makePrivate = (path: string): void => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  closeSync(openSync(path, 'a', 0o600))
  // If the path is a symbolic link, SQLite puts its companion files beside the target.
  const file = realpathSync(path)
  for (const filePath of [file, `${file}-wal`, `${file}-shm`]) {
    try {
      if (existsSync(filePath)) chmodSync(filePath, 0o600)
    } catch {
      // Another user owns the file, or the file system has no permissions. The operator has chosen that.
    }
  }
}

const rollBack = (database: DatabaseSync): void => {
  try {
    database.exec('rollback')
  } catch {
    // SQLite has already rolled back after some errors, for example when the disk is full.
  }
}

/**
 * Lets one write run in each turn of the event loop, in the order of their calls. A write of a synchronous driver waits
 * for the disk: many in one turn would keep all other requests waiting for the sum.
 */
class WriteTurns {
  readonly #waiting: (() => void)[] = []
  #isTaken = false
  #pausesLeft = 0

  /** Undefined: the caller may write now. It calls `end` afterwards. */
  next(): Promise<void> | undefined {
    if (this.#isTaken) return new Promise((resolve) => this.#waiting.push(resolve))
    this.#isTaken = true
    return undefined
  }

  end(): void {
    if (this.#pausesLeft === 0) afterIo(this.#startNext)
    else {
      this.#pausesLeft--
      setTimeout(this.#startNext, othersMs)
    }
  }

  /** For the next writes, because another process writes, too. */
  leaveTimeForOthers(): void {
    this.#pausesLeft = writesForOthers
  }

  readonly #startNext = (): void => {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#isTaken = false
  }
}

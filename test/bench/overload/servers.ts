import { join } from 'node:path'
import type { Front } from '../cases.ts'
import { type Started, type StartOptions, start, temporaryFolder } from '../processes.ts'
import { addUsers } from '../users.ts'

export const root = join(import.meta.dir, '../../..')

/** What bounds the good answers, and how the server is started. */
export interface Capacity {
  readonly name: string
  readonly model: string
  /** Requests in flight at the peak. */
  readonly connections: number
  readonly settings: Readonly<Record<string, string>>
  /** The bare relay is measured instead of the gateway: what it cannot do on this machine, no gateway can. */
  readonly isRelay?: true
}

/** Requests in flight of which each takes 200 ms at the upstream. */
const slots = 64

export const capacities: readonly Capacity[] = [
  {
    ...{ name: 'places', model: 'plain-200', connections: slots },
    settings: { MAX_REQUESTS: String(slots), USER_MAX_REQUESTS: String(slots) },
  },
  { name: 'processor', model: 'plain', connections: 64, settings: {} },
  { name: 'relay', model: 'plain', connections: 64, settings: {}, isRelay: true },
]

const users = 20
export interface Server {
  readonly process: Started
  readonly tokens: readonly string[]
}

/** How a server is started. */
export interface ServerOptions extends Pick<StartOptions, 'processors'> {
  readonly front: Front
  readonly upstream: string
  readonly capacity: Capacity
}

export const startServer = async (options: ServerOptions): Promise<Server> => {
  const { front, upstream, capacity, processors } = options
  if (capacity.isRelay) return startRelay(options)
  const file = join(temporaryFolder(), 'overload.db')
  const tokens = await addUsers(file, users)
  const env = {
    ...{ DATABASE_URL: `sqlite:${file}`, PORT: '0', GET_BODIES: front, LOG_LEVEL: 'fatal' },
    ...{ TEXT_UPSTREAM_URL: `${upstream}/v1`, TEXT_UPSTREAM_KEY: 'text-key-123456' },
    ...{ STORAGE_URL: 'none', BUN_CONFIG_MAX_HTTP_REQUESTS: '65336', ...capacity.settings },
  }
  const command = [process.execPath, join(root, 'src/server/start.ts')]
  const listening = /^sluice listening on (http\S+)$/
  return { process: await start(command, { cwd: root, env, listening, processors }), tokens }
}

/** With the listener of the gateway, and as many users, who are all the same to it. */
const startRelay = async ({ front, upstream, processors }: ServerOptions): Promise<Server> => {
  const kind = front === 'on' ? 'node' : 'pooled'
  const env = { BUN_CONFIG_MAX_HTTP_REQUESTS: '65336' }
  const command = [process.execPath, join(root, 'test/bench/relay.ts'), kind, upstream]
  const relay = await start(command, { env, processors })
  return { process: relay, tokens: Array.from({ length: users }, (_, nth) => `user-${nth}`) }
}

/** The same room for all, and a quarter of it for each user. */
export const sharedCapacity = (capacity: Capacity): Capacity => {
  const { settings, connections } = capacity
  if (settings.MAX_REQUESTS === undefined) return capacity
  return { ...capacity, settings: { ...settings, MAX_REQUESTS: String(4 * connections) } }
}

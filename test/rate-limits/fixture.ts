import type { User } from '../support/gateway.ts'
import type { ServerProcess } from '../support/server.ts'
import { openServerFixture, type ServerFixture } from '../support/server-fixture.ts'

/** Servers with a rate limit on `GetAsset`, and users who read their own assets. */
export interface Fixture extends AsyncDisposable {
  readonly base: ServerFixture
  readonly servers: readonly ServerProcess[]
  readonly readers: readonly Reader[]
}

export interface Reader {
  /** One asset for each concurrent read: reads of the same asset would share a call. */
  readonly assets: readonly string[]
  at(server: ServerProcess | undefined): User
}

export interface FixtureOptions {
  readonly kind: 'sqlite' | 'postgres'
  readonly users: number
  /** Processes on one database. Default 2. */
  readonly processes?: number
  /** The rate limit of `GetAsset` per second, of the upstream and of the gateways. Default 10. */
  readonly perSecond?: number
  readonly environment?: Record<string, string>
}

export const openFixture = async ({
  kind,
  users,
  processes = 2,
  perSecond = 10,
  environment,
}: FixtureOptions): Promise<Fixture> => {
  const limits = { GetAsset: perSecond }
  const base = await openServerFixture(kind, { limits })
  const readers: Reader[] = []
  for (let nth = 0; nth < users; nth++) {
    const user = await base.addUser(`user ${nth}`)
    const group = base.emulator.library.addGroup({ name: `group ${nth}` })
    const wanted = { id: group.id, user: user.id, type: 'AIGC', name: group.name, createdAt: nth }
    if ((await base.store.adoptGroup(wanted)) !== undefined) throw new Error('a group could not be adopted')
    const assets = Array.from({ length: 8 }, () => base.emulator.library.addAsset({ groupId: group.id }).id)
    readers.push({ assets, at: (server) => user.at(server as ServerProcess) })
  }
  const settings = { MEDIA_UPSTREAM_LIMITS: JSON.stringify(limits), WORKERS: '1', ...environment }
  const servers = await Promise.all(Array.from({ length: processes }, () => base.start(settings)))
  // Warms the servers up.
  await Promise.all(servers.map((server) => readers[0]?.at(server).ask('GET', '/assets/nothing')))
  base.emulator.clearCalls()
  return { base, servers, readers, [Symbol.asyncDispose]: () => base[Symbol.asyncDispose]() }
}

export interface Reading {
  readonly status: number
  readonly ms: number
}

/** Reads continuously with `atOnce` concurrent requests until `until` is true. */
export const read = async (
  reader: Reader,
  server: ServerProcess | undefined,
  { atOnce, until }: { readonly atOnce: number; readonly until: () => boolean },
): Promise<readonly Reading[]> => {
  const readings: Reading[] = []
  const user = reader.at(server)
  const one = async (asset: string) => {
    while (!until()) {
      const startedAt = performance.now()
      const { status } = await user.ask('GET', `/assets/${asset}`)
      readings.push({ status, ms: performance.now() - startedAt })
      // A rejected caller retries after a pause.
      if (status === 429) await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }
  await Promise.all(reader.assets.slice(0, atOnce).map(one))
  return readings
}

/** The number of upstream calls of each reader between two times of the emulator's clock. */
export const callsPerReader = ({ base, readers }: Fixture, from: number, to: number): readonly number[] => {
  const calls = base.emulator.calls.filter((call) => call.at >= from && call.at < to)
  return readers.map(({ assets }) => calls.filter((call) => assets.includes(call.path.split('/').at(-1) ?? '')).length)
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

import type { User } from '../support/gateway.ts'
import type { ServerProcess } from '../support/server.ts'
import { openWorkplace, type Workplace } from '../support/temporary-files.ts'

/** Users who each read an asset of their own, from servers of their choice, through a limit on `GetAsset`. */
export interface Crowd extends AsyncDisposable {
  readonly place: Workplace
  readonly servers: readonly ServerProcess[]
  readonly readers: readonly Reader[]
}

export interface Reader {
  /** As many as they may read at once: readings of one asset would share their calls. */
  readonly assets: readonly string[]
  at(server: ServerProcess | undefined): User
}

export interface CrowdOptions {
  readonly kind: 'sqlite' | 'postgres'
  readonly users: number
  /** Processes on one database. Default 2. */
  readonly processes?: number
  /** Calls of `GetAsset` a second, which upstream and gateways agree on. Default 10. */
  readonly perSecond?: number
  readonly environment?: Record<string, string>
}

export const gather = async ({
  kind,
  users,
  processes = 2,
  perSecond = 10,
  environment,
}: CrowdOptions): Promise<Crowd> => {
  const limits = { GetAsset: perSecond }
  const place = await openWorkplace(kind, { limits })
  const readers: Reader[] = []
  for (let nth = 0; nth < users; nth++) {
    const user = await place.addUser(`user ${nth}`)
    const group = place.emulator.library.addGroup({ name: `group ${nth}` })
    const wanted = { id: group.id, user: user.id, type: 'AIGC', name: group.name, createdAt: nth }
    if ((await place.store.adoptGroup(wanted)) !== undefined) throw new Error('a group could not be adopted')
    const assets = Array.from({ length: 8 }, () => place.emulator.library.addAsset({ groupId: group.id }).id)
    readers.push({ assets, at: (server) => user.at(server as ServerProcess) })
  }
  const settings = { MEDIA_UPSTREAM_LIMITS: JSON.stringify(limits), WORKERS: '1', ...environment }
  const servers = await Promise.all(Array.from({ length: processes }, () => place.start(settings)))
  // So that the first readings cost no more than later ones.
  await Promise.all(servers.map((server) => readers[0]?.at(server).ask('GET', '/assets/nothing')))
  place.emulator.clearCalls()
  return { place, servers, readers, [Symbol.asyncDispose]: () => place[Symbol.asyncDispose]() }
}

export interface Reading {
  readonly status: number
  readonly ms: number
}

/** Reads again and again, a number of readings at a time, until told to stop. */
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
      // Who is refused comes back, but not at once.
      if (status === 429) await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }
  await Promise.all(reader.assets.slice(0, atOnce).map(one))
  return readings
}

/** Calls of each reader that reached the upstream in a stretch of time, by the emulator's clock. */
export const shares = ({ place, readers }: Crowd, from: number, to: number): readonly number[] => {
  const asked = place.emulator.calls.filter((call) => call.at >= from && call.at < to)
  return readers.map(({ assets }) => asked.filter((call) => assets.includes(call.path.split('/').at(-1) ?? '')).length)
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

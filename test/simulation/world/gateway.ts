import type { FetchHandler } from '../../../plugins/concurrency-limits/index.ts'
import { Background } from '../../../plugins/shared/background/background.ts'
import { RevisionClock } from '../../../plugins/shared/identity/revision-clock.ts'
import type { Fetch } from '../../../plugins/shared/upstream/upstream-error.ts'
import { rest } from '../../../plugins/upstream-proxy/index.ts'
import { usageLimits } from '../../../plugins/usage-limits/index.ts'
import type { AppOptions } from '../../../src/app/options.ts'
import { createApp } from '../../../src/app.ts'
import type { Database } from '../../../src/store/database/database.ts'
import type { Store } from '../../../src/store/index.ts'
import { userLimits } from '../checks/limits.ts'
import { videoSlots } from '../checks/videos.ts'
import type { SimulatedUpstream } from './upstream.ts'
import type { Area } from './world.ts'

const secrets = ['a secret of the simulation'] as const
const publicUrl = 'https://sluice.test'

/** The times of the gateways are short, so that a schedule is. Milliseconds. */
export const upstreamTimeoutMs = 3_000

/** What a gateway is made of. */
export interface GatewayParts {
  /** The database as this gateway sees it. */
  readonly database: Database
  readonly store: Store
  readonly fetch: Fetch
}

/** Opens the gateway of one process. Its callers name themselves. */
export const openGateway = (
  { store, fetch }: Pick<GatewayParts, 'store' | 'fetch'>,
  upstream: SimulatedUpstream,
  { areas, log }: { readonly areas: readonly Area[]; readonly log: AppOptions['log'] },
): FetchHandler => {
  const revisionClock = new RevisionClock((since) => store.revision(since))
  const identify = ({ headers }: Request) => {
    const user = headers.get('x-user')
    return user ? { user } : undefined
  }
  const background = new Background()
  return createApp({
    gateway: {
      ...{ kind: rest(upstream.rest), store, identify, revisionClock, secrets, background, fetch },
      timeoutMs: upstreamTimeoutMs,
    },
    text: { upstreams: [], identify },
    video: {
      ...{
        upstream: areas.includes('videos') ? upstream.video : undefined,
        store,
        identify,
        identifierSecret: secrets[0],
        fetch,
      },
      ...{ slots: { '*': { running: videoSlots, waitingPerUser: 3 } }, background },
      ...{ createTimeoutMs: upstreamTimeoutMs, settleMs: 8_000, pollMs: 1_000 },
    },
    people: { store, secrets, publicUrl, face: {} },
    events: { store, identify },
    limits: {},
    ...(areas.includes('limits') && { usageLimits: usageLimits({ store: store.limits, userLimits, log }) }),
    health: { database: () => store.ready(), draining: () => false },
    metricsToken: undefined,
    log,
  })
}

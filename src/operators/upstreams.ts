import type { UpstreamView } from '../../plugins/admin/views/system.ts'
import { isoTime } from '../../plugins/admin/views/time.ts'
import type { Clock } from '../../plugins/shared/clock.ts'
import type { UpstreamCallReport } from '../app/upstreams/states.ts'
import type { Config } from '../config.ts'
import type { Store } from '../store/index.ts'

/** What a report about upstreams needs. */
export interface UpstreamReportOptions {
  readonly config: Pick<Config, 'media' | 'video'>
  readonly store: Pick<Store, 'rateLimitUse' | 'videoSlotUse'>
  readonly clock: Pick<Clock, 'now'>
}

/** Creates the report about the upstreams, from what this process and the store know. */
export const createUpstreamReport =
  ({ config, store, clock }: UpstreamReportOptions) =>
  async (calls: readonly UpstreamCallReport[]): Promise<readonly UpstreamView[]> => {
    const [limits, slots] = await Promise.all([limitsOf(config, store, clock), slotsOf(config, store)])
    return calls.map((call) => ({
      name: call.name,
      kind: call.family === 'assets' ? (config.media.upstream?.kind ?? 'rest') : call.family,
      state: call.state,
      since: call.since === undefined ? null : isoTime(call.since),
      last_error: call.lastError ? toError(call.lastError) : null,
      calls: call.calls,
      errors: call.errors,
      limits: call.family === 'assets' ? limits : [],
      slots: call.family === 'video' ? slots : [],
    }))
  }

const toError = ({ at, status }: NonNullable<UpstreamCallReport['lastError']>): UpstreamView['last_error'] => ({
  at: isoTime(at),
  status: status === 0 ? null : status,
  message: status === 0 ? 'there was no response' : `the response had status ${status}`,
})

const limitsOf = async (
  { media }: UpstreamReportOptions['config'],
  store: UpstreamReportOptions['store'],
  clock: UpstreamReportOptions['clock'],
): Promise<UpstreamView['limits']> => {
  const uses = await store.rateLimitUse(Object.keys(media.limits), clock.now())
  return uses.map(({ action, calls, waiting }) => ({
    ...{ action, per_second: media.limits[action] ?? 0, calls, waiting },
  }))
}

/** The configured pools, and those with tasks. */
const slotsOf = async (
  { video }: UpstreamReportOptions['config'],
  store: UpstreamReportOptions['store'],
): Promise<UpstreamView['slots']> => {
  const uses = Map.groupBy(await store.videoSlotUse(), ({ pool }) => pool)
  const pools = new Set([...Object.keys(video.slots ?? {}).filter((pool) => pool !== '*'), ...uses.keys()])
  return [...pools].map((pool) => {
    const users = uses.get(pool) ?? []
    return {
      pool,
      slots: (video.slots?.[pool] ?? video.slots?.['*'])?.running ?? null,
      running: users.reduce((sum, { running }) => sum + running, 0),
      waiting: users.reduce((sum, { waiting }) => sum + waiting, 0),
      users: users.map(({ user, userName, running, waiting }) => ({
        ...{ user, user_name: userName ?? null, running, waiting },
      })),
    }
  })
}

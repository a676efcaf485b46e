import type { UpstreamView } from '../../plugins/admin/views/system.ts'
import { isoOrNull, isoTime } from '../../plugins/admin/views/time.ts'
import type { Clock } from '../../plugins/shared/clock.ts'
import { storedAction } from '../../plugins/upstream-proxy/rate-limit/by-action.ts'
import type { UpstreamCallReport } from '../app/upstreams/states.ts'
import type { Config } from '../config.ts'
import type { Store } from '../store/index.ts'

/** What a report about upstreams needs. */
export interface UpstreamReportOptions {
  readonly config: Pick<Config, 'media' | 'video'>
  readonly store: Pick<Store, 'rateLimitUse' | 'videoSlotUse' | 'assetSlotUse'>
  readonly clock: Pick<Clock, 'now'>
}

/** Creates the report about the upstreams, from what this process and the store know. */
export const createUpstreamReport =
  ({ config, store, clock }: UpstreamReportOptions) =>
  async (calls: readonly UpstreamCallReport[]): Promise<readonly UpstreamView[]> => {
    const limitsOfCall = ({ family, account }: UpstreamCallReport) =>
      family === 'assets' ? limitsOf(config, store, clock, account) : []
    const assetSlotsOfCall = ({ family, account }: UpstreamCallReport) =>
      family === 'assets' ? assetSlotsOf(account, { config, store, clock }) : null
    const [limits, assetSlots, slots] = await Promise.all([
      Promise.all(calls.map(limitsOfCall)),
      Promise.all(calls.map(assetSlotsOfCall)),
      slotsOf(config, store),
    ])
    return calls.map((call, index) => ({
      name: call.name,
      kind: call.family === 'assets' ? kindOf(config, call) : call.family,
      state: call.state,
      since: call.since === undefined ? null : isoTime(call.since),
      last_error: call.lastError ? toError(call.lastError) : null,
      calls: call.calls,
      errors: call.errors,
      limits: limits[index] ?? [],
      slots: call.family === 'video' ? slots : [],
      asset_slots: assetSlots[index] ?? null,
    }))
  }

const toError = ({ at, status }: NonNullable<UpstreamCallReport['lastError']>): UpstreamView['last_error'] => ({
  at: isoTime(at),
  status: status === 0 ? null : status,
  message: status === 0 ? 'there was no response' : `the response had status ${status}`,
})

const accountOf = ({ media }: UpstreamReportOptions['config'], account: string | undefined) =>
  media.accounts?.find(({ name }) => name === account)

const kindOf = (config: UpstreamReportOptions['config'], { account }: UpstreamCallReport): string =>
  (accountOf(config, account)?.upstream ?? config.media.upstream)?.kind ?? 'rest'

const limitsOf = async (
  config: UpstreamReportOptions['config'],
  store: UpstreamReportOptions['store'],
  clock: UpstreamReportOptions['clock'],
  account: string | undefined,
): Promise<UpstreamView['limits']> => {
  const limits = Object.entries(accountOf(config, account)?.limits ?? config.media.limits)
  const uses = await store.rateLimitUse(
    limits.map(([action]) => storedAction(account, action)),
    clock.now(),
  )
  return limits.map(([action, perSecond], index) => {
    const { calls = 0, waiting = 0 } = uses[index] ?? {}
    return { action, per_second: perSecond, calls, waiting }
  })
}

/** The slots of the assets of an account. The first account has the empty key, and the only one no name either. */
const assetSlotsOf = async (
  account: string | undefined,
  { config: { media }, store, clock }: UpstreamReportOptions,
): Promise<UpstreamView['asset_slots']> => {
  if (!media.slots) return null
  const index = media.accounts?.findIndex(({ name }) => name === account) ?? 0
  const name = account ?? ''
  const use = await store.assetSlotUse({ key: index === 0 ? '' : name, name }, clock.now())
  const slots = media.accounts?.[index]?.slots ?? media.slots.slots
  return {
    slots: slots === 'quota' ? (use.limit ?? null) : slots,
    ...{ used: use.used, persons: use.persons, pinned: use.pinned, waiting: use.waiting },
    last_evicted_at: isoOrNull(use.lastEvictedAt),
    users: use.users.map(({ user, userName, used, persons }) => ({ user, user_name: userName ?? null, used, persons })),
  }
}

/** The configured pools, and those with tasks. */
const slotsOf = async (
  { video, media }: UpstreamReportOptions['config'],
  store: UpstreamReportOptions['store'],
): Promise<UpstreamView['slots']> => {
  const uses = Map.groupBy(await store.videoSlotUse(), ({ pool }) => pool)
  const pools = new Set([...Object.keys(video.slots ?? {}).filter((pool) => pool !== '*'), ...uses.keys()])
  return [...pools].map((pool) => {
    const users = uses.get(pool) ?? []
    return {
      pool,
      slots: (video.slots?.[modelOf(pool, media)] ?? video.slots?.['*'])?.running ?? null,
      running: users.reduce((sum, { running }) => sum + running, 0),
      waiting: users.reduce((sum, { waiting }) => sum + waiting, 0),
      users: users.map(({ user, userName, running, waiting }) => ({
        ...{ user, user_name: userName ?? null, running, waiting },
      })),
    }
  })
}

/** Pools of accounts begin with the name of their account. */
const modelOf = (pool: string, { accounts = [] }: UpstreamReportOptions['config']['media']): string => {
  const account = accounts.find(({ name }) => pool.startsWith(`${name} `))
  return account ? pool.slice(account.name.length + 1) : pool
}

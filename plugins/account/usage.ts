import { success } from '../shared/http/no-store.ts'
import { type Identify, requireIdentity } from '../shared/identity/identify.ts'
import { Problem } from '../shared/problem.ts'
import { storeCall } from '../shared/store-call.ts'
import { toUsageCountsView, type UsageCounts } from '../shared/usage-counts.ts'

/** Calls, tokens and video seconds of one user on one day, with one API token and one model. */
export interface DailyUsage extends UsageCounts {
  /** UTC day, for example `2026-01-31`. */
  readonly day: string
  /** Id of the API token. Undefined if the user called without one. */
  readonly token?: string
  /** Label and first characters of the token. Undefined if it has no label, or the store does not know it any more. */
  readonly tokenLabel?: string
  readonly tokenStart?: string
  readonly model: string
}

/** The store port of the usage route. */
export interface UsageReportStore {
  /**
   * Lists the usage of a user, oldest day first. `since` and `until` are UTC days, both inclusive; undefined: no limit.
   */
  listUsage(filter: {
    readonly user: string
    readonly since: string | undefined
    readonly until: string | undefined
  }): Promise<readonly DailyUsage[]>
}

/** Creates the handler of the usage route. It throws Problem 400 for a wrong day, and 500 if the store fails. */
export const listUsage =
  (store: UsageReportStore, identify: Identify) =>
  async (request: Request): Promise<Response> => {
    const { user } = await requireIdentity(identify, request)
    const query = new URLSearchParams(request.url.split('?')[1] ?? '')
    const filter = { user, since: readDay(query, 'since'), until: readDay(query, 'until') }
    const rows = await storeCall(store.listUsage(filter), 'usage could not be loaded')
    return success({ usage: rows.toReversed().map(toJson) })
  }

const toJson = (row: DailyUsage) => ({
  day: row.day,
  token:
    row.token === undefined ? null : { id: row.token, label: row.tokenLabel ?? null, start: row.tokenStart ?? null },
  model: row.model,
  ...toUsageCountsView(row),
})

const readDay = (query: URLSearchParams, name: string): string | undefined => {
  const text = query.get(name)
  if (text === null || text === '') return undefined
  const time = Date.parse(`${text}T00:00Z`)
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== text) {
    throw new Problem(400, `${name} must be a day such as 2026-01-31`)
  }
  return text
}

import { toUsageCountsView, type UsageCountsView } from '../../shared/usage-counts.ts'
import type { UsageDimension, UsageTotal } from '../usage-sums.ts'

/** The usage of one combination of values. Members that it is not summed by are absent. */
export interface UsageRowView extends UsageCountsView {
  /** UTC day. */
  readonly day?: string
  readonly user?: string
  /** Null: a user of a host app. */
  readonly user_name?: string | null
  /** The team that the user was in. */
  readonly team?: string | null
  readonly team_name?: string | null
  readonly token?: string | null
  /** The label of the token. */
  readonly token_name?: string | null
  /** The first characters of the token. */
  readonly token_start?: string | null
  readonly model?: string
}

/** @param by what the rows are summed by */
export const toUsageRowView = (total: UsageTotal, by: readonly UsageDimension[]): UsageRowView => ({
  ...(by.includes('day') && { day: total.day ?? '' }),
  ...((by.includes('user') || by.includes('token')) && { user: total.user ?? '', user_name: total.userName ?? null }),
  ...(by.includes('team') && { team: total.team ?? null, team_name: total.teamName ?? null }),
  ...(by.includes('token') && {
    ...{ token: total.token ?? null, token_name: total.tokenName ?? null, token_start: total.tokenStart ?? null },
  }),
  ...(by.includes('model') && { model: total.model ?? '' }),
  ...toUsageCountsView(total),
})

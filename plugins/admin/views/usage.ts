import { toUsageCountsView } from '../../shared/usage-counts.ts'
import type { UsageRowView } from '../docs/schemas.ts'
import type { UsageDimension, UsageTotal } from '../usage-sums.ts'

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

import { storeCall } from '../../shared/store-call.ts'
import { fault, type Input, optional, readDay, readLine, readReference, readWord } from '../fields.ts'
import {
  type UsageDimension,
  type UsageSumFilter,
  type UsageSumKey,
  type UsageSumStore,
  type UsageTotal,
  usageDimensions,
} from '../usage-sums.ts'
import type { AdminActor } from './actor.ts'

/** Which usage to sum, and by what. */
export interface UsageQuery {
  readonly filter: UsageSumFilter
  readonly by: readonly UsageDimension[]
}

/** A page of usage. */
export interface UsagePage {
  readonly rows: readonly UsageTotal[]
  /** Undefined: this is the last page. */
  readonly next?: UsageSumKey
}

/** The operation on usage. It throws Problem. */
export interface UsageOperations {
  sum(
    actor: AdminActor,
    query: UsageQuery,
    page: { readonly limit: number; readonly after?: UsageSumKey | undefined },
  ): Promise<UsagePage>
}

export const createUsageOperations = (store: UsageSumStore): UsageOperations => ({
  async sum(actor, query, page) {
    const rows = await storeCall(store.sumUsage({ ...query, ...page }), 'usage could not be read')
    if (!page.after) actor.read('usage', query.filter.user)
    return rows
  },
})

/**
 * Fields: `since`, `until` (days), `user`, `team`, `token`, `model`, `kind`, and `group_by`: words separated by commas.
 * Without `group_by` by everything; with an empty one there is one sum.
 */
export const readUsageQuery = (input: Input): UsageQuery => {
  const filter = {
    since: optional(input, 'since', readDay),
    until: optional(input, 'until', readDay),
    user: optional(input, 'user', readReference),
    team: optional(input, 'team', readReference),
    token: optional(input, 'token', readReference),
    model: optional(input, 'model', readLine(256)),
    kind: optional(input, 'kind', readWord(['text', 'video'])),
  }
  if (filter.since !== undefined && filter.until !== undefined && filter.since > filter.until)
    throw fault('since', 'since is after until')
  const words = input.group_by === undefined ? usageDimensions : String(input.group_by).split(',')
  const by = words.flatMap((word) => (word === '' ? [] : [readWord(usageDimensions)(word, 'group_by')]))
  // The same sums have the same cursor.
  return { filter, by: usageDimensions.filter((dimension) => by.includes(dimension)) }
}

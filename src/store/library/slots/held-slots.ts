import type { SlotAccount } from '../../../../plugins/asset-library/index.ts'
import type { Steps } from '../../database/database.ts'
import { sql } from '../../database/statement.ts'

/** Slots of users, by the id of the user. */
export type SlotsByUser = ReadonlyMap<string, number>

/** Which slots users have. */
export interface HeldSlots {
  /** All slots, also those of `persons`. */
  readonly all: SlotsByUser
  /** Those of assets of persons, which nobody can take away, with those that are being created. */
  readonly persons: SlotsByUser
}

/** The slots that users have now on an account, for a transaction that holds `lockSlots`. */
export function* heldSlots(account: SlotAccount, now: number): Steps<HeldSlots> {
  const slotted = countsFrom(
    yield sql`
      select user_id as "user", count(*) as slots
      from slotted_assets
      where state <> 'absent'
      and account = ${account.key}
      group by user_id`,
  )
  const persons = yield* personSlots(account, now)
  return { all: added(slotted, persons), persons }
}

/**
 * The slots of assets of persons. The condition on groups is that of their index, word for word. The assets of each
 * group are counted for themselves: for a join, PostgreSQL would read the assets of all groups.
 */
export function* personSlots({ key, name }: SlotAccount, now: number): Steps<SlotsByUser> {
  const recorded = countsFrom(
    yield sql`
      select user_id as "user", sum((
          select count(*)
          from assets
          where assets.group_id = groups.group_id
          and assets.deleted_at is null
        )) as slots
      from groups
      where state = 'owned'
      and type = 'LivenessFace'
      and coalesce(account, '') in (${key}, ${name})
      group by user_id`,
  )
  const beingCreated = countsFrom(
    yield sql`
      select user_id as "user", count(*) as slots
      from person_slots
      where expires_at > ${now}
      and account = ${key}
      group by user_id`,
  )
  return added(recorded, beingCreated)
}

const countsFrom = (rows: readonly { readonly [column: string]: string | number }[]): SlotsByUser =>
  new Map(rows.map(({ user, slots }) => [String(user), Number(slots)]))

const added = (some: SlotsByUser, others: SlotsByUser): SlotsByUser => {
  const sums = new Map(some)
  for (const [user, slots] of others) sums.set(user, (sums.get(user) ?? 0) + slots)
  return sums
}

/** The slots of all users together. */
export const sumOf = (held: SlotsByUser): number => [...held.values()].reduce((all, slots) => all + slots, 0)

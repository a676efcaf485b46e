import type { PersonSlotClaim, SlottedAssetStore } from '../../../../plugins/asset-library/index.ts'
import type { Database, Steps } from '../../database/database.ts'
import { sql } from '../../database/statement.ts'
import { type HeldSlots, heldSlots, personSlots, sumOf } from './held-slots.ts'
import { endPersonSlot, lockSlots } from './slotted-rows.ts'
import { chooseVictim } from './victim.ts'

/** Users that are counted for the floors that must stay free. */
const maxUsers = 10_000

/** The slots of assets of persons: nobody can take one away, so their number is bounded before they are created. */
export const createPersonSlotStore = (
  database: Database,
): Pick<SlottedAssetStore, 'claimPersonSlot' | 'releasePersonSlot' | 'personSlots'> => ({
  claimPersonSlot: (claim) =>
    database.transaction(function* () {
      yield lockSlots
      const { id, user, account, slots, cap, maxPersons, now, leaseUntil } = claim
      yield sql`
        delete from person_slots
        where expires_at <= ${now}`
      const held = yield* heldSlots(account, now)
      if ((held.persons.get(user) ?? 0) >= maxPersons) return { outcome: 'capped' } as const
      if (!(yield* leavesFloors(claim, held))) return { outcome: 'full' } as const
      const isCapped = (held.all.get(user) ?? 0) >= cap
      if (!isCapped && sumOf(held.all) < slots) {
        yield sql`
          insert into person_slots (id, user_id, account, expires_at)
          values (${id}, ${user}, ${account.key}, ${leaseUntil})`
        return { outcome: 'claimed' } as const
      }
      const victim = yield* chooseVictim({ ...claim, need: undefined, ownOnly: isCapped }, held)
      return victim ? ({ outcome: 'evict', victim } as const) : ({ outcome: isCapped ? 'capped' : 'full' } as const)
    }),

  async releasePersonSlot(id) {
    await database.batch(endPersonSlot(id))
  },

  personSlots: (account, now) => database.transaction(() => personSlots(account, now)),
})

/**
 * Whether each other user who has a group on the account, and one more who may come, can still have the floor, and one
 * slot without a floor, when the user gets another slot that nobody can take away. What the user has up to the own
 * floor takes nothing from theirs.
 */
function* leavesFloors(
  { user, account: { key, name }, slots, ...claim }: PersonSlotClaim,
  { persons }: HeldSlots,
): Steps<boolean> {
  const floor = Math.max(1, claim.floor)
  if ((persons.get(user) ?? 0) < floor) return true
  const others = [...persons].filter(([id]) => id !== user)
  // What others have of persons up to their floors is a part of the floors.
  const taken = others.reduce((sum, [, own]) => sum + Math.min(own, floor), 0)
  const left = slots - sumOf(persons) - 1 + taken
  const most = Math.min(maxUsers, Math.max(1, Math.ceil(left / floor) + 1))
  const users = new Set(yield* usersOn(key, user, most))
  if (name !== key) for (const other of yield* usersOn(name, user, most)) users.add(other)
  return (users.size + 1) * floor <= left
}

/**
 * Other users with groups whose records name the account so. It does not read all groups: one step in the index each,
 * whose condition these repeat.
 */
function* usersOn(account: string, user: string, most: number): Steps<readonly string[]> {
  const walked = yield sql`
    with recursive walked (user_id, nth) as (
      select (
        select min(groups.user_id)
        from groups
        where groups.state <> 'unresolved'
        and coalesce(groups.account, '') = ${account}
        and groups.user_id > ''
        and groups.user_id <> ${user}
      ), cast(1 as bigint)
      union all
      select (
        select min(groups.user_id)
        from groups
        where groups.state <> 'unresolved'
        and coalesce(groups.account, '') = ${account}
        and groups.user_id > ''
        and groups.user_id > walked.user_id
        and groups.user_id <> ${user}
      ), walked.nth + 1
      from walked
      where walked.user_id is not null
      and walked.nth < ${most}
    )
    select user_id as "user"
    from walked
    where user_id is not null`
  return walked.map((row) => String(row.user))
}

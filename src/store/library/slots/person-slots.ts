import type { PersonSlotClaim, SlottedAssetStore } from '../../../../plugins/asset-library/index.ts'
import { type Database, type Steps, sql } from '../../database/database.ts'
import { type HeldSlots, heldSlots, personSlots, sumOf } from './held-slots.ts'
import { lockSlots } from './slotted-rows.ts'
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
      const { id, user, slots, cap, now, leaseUntil } = claim
      yield sql`
        delete from person_slots
        where expires_at <= ${now}`
      const held = yield* heldSlots(now)
      if ((held.persons.get(user) ?? 0) >= cap) return { outcome: 'capped' } as const
      if (!(yield* leavesFloors(claim, held))) return { outcome: 'full' } as const
      const isCapped = (held.all.get(user) ?? 0) >= cap
      if (!isCapped && sumOf(held.all) < slots) {
        yield sql`
          insert into person_slots (id, user_id, expires_at)
          values (${id}, ${user}, ${leaseUntil})`
        return { outcome: 'claimed' } as const
      }
      const victim = yield* chooseVictim({ ...claim, need: undefined, ownOnly: isCapped }, held.all)
      return victim ? ({ outcome: 'evict', victim } as const) : ({ outcome: isCapped ? 'capped' : 'full' } as const)
    }),

  async releasePersonSlot(id) {
    await database.query(sql`
      delete from person_slots
      where id = ${id}`)
  },

  personSlots: (now) => database.transaction(() => personSlots(now)),
})

/**
 * Whether each other user who has a group, and one more who may come, can still have the floor when the user gets
 * another slot that nobody can take away. What the user has up to the own floor takes nothing from theirs.
 */
function* leavesFloors({ user, slots, floor }: PersonSlotClaim, { persons }: HeldSlots): Steps<boolean> {
  if (floor === 0 || (persons.get(user) ?? 0) < floor) return true
  const others = [...persons].filter(([id]) => id !== user)
  // What others have of persons up to their floors is a part of the floors.
  const taken = others.reduce((sum, [, own]) => sum + Math.min(own, floor), 0)
  const left = slots - sumOf(persons) - 1 + taken
  const most = Math.min(maxUsers, Math.max(1, Math.ceil(left / floor) + 1))
  // One step in the index for each user: it does not read all groups.
  const [counted] = yield sql`
    with recursive walked (user_id, nth) as (
      select (
        select min(groups.user_id)
        from groups
        where groups.state <> 'unresolved'
        and groups.user_id > ''
        and groups.user_id <> ${user}
      ), cast(1 as bigint)
      union all
      select (
        select min(groups.user_id)
        from groups
        where groups.state <> 'unresolved'
        and groups.user_id > walked.user_id
        and groups.user_id <> ${user}
      ), walked.nth + 1
      from walked
      where walked.user_id is not null
      and walked.nth < ${most}
    )
    select count(user_id) as users
    from walked`
  return (Number(counted?.users ?? 0) + 1) * floor <= left
}

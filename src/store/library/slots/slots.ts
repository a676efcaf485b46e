import type { SlotAccount, SlottedAssetStore } from '../../../../plugins/asset-library/index.ts'
import type { Database, Row } from '../../database/database.ts'
import { sql } from '../../database/statement.ts'
import { heldSlots, sumOf } from './held-slots.ts'
import { forgetWait, isTurnOfAnother, noteWait } from './slot-waits.ts'
import { forgetSlotted, lockSlots, slottedColumns, slottedFrom } from './slotted-rows.ts'
import { chooseVictim } from './victim.ts'

type SlotStore = Pick<
  SlottedAssetStore,
  | 'claimSlot'
  | 'claimVictim'
  | 'confirmCreated'
  | 'releaseSlot'
  | 'confirmDeleted'
  | 'takeOver'
  | 'noteFreedSlot'
  | 'freedSlots'
  | 'noteSlotLimit'
>

/** Where it is counted how often a slot of an account was freed. No group has such an id. */
const freedOf = ({ key }: SlotAccount): string => ` ${key}`

const selectFreed = (account: SlotAccount) => sql`
  select turn
  from slotted_groups
  where group_id = ${freedOf(account)}`

const noteFreed = (account: SlotAccount) => sql`
  insert into slotted_groups (group_id, turn)
  values (${freedOf(account)}, 1)
  on conflict (group_id) do update
  set turn = slotted_groups.turn + 1`

const freedFrom = ([row]: readonly Row[]): number => Number(row?.turn ?? 0)

/** Who has which slots. */
export const createSlotStore = (database: Database): SlotStore => ({
  claimSlot: (claim) =>
    database.transaction(function* () {
      yield lockSlots
      const [wanted] = yield sql`
        select state, user_id as "user"
        from slotted_assets
        where id = ${claim.id}
        and account = ${claim.account.key}
        and removed_at is null`
      if (wanted?.state !== 'absent') return { outcome: 'other' } as const
      const user = String(wanted.user)
      const { account } = claim
      const held = yield* heldSlots(account, claim.now)
      const occupied = sumOf(held.all)
      const isCapped = (held.all.get(user) ?? 0) >= claim.cap
      const { need } = claim
      if (need && !isCapped && (yield* isTurnOfAnother(need, account, claim.now))) {
        yield noteWait(need, account)
        return { outcome: 'full' } as const
      }
      if (!isCapped && occupied < claim.slots) {
        const [claimed] = yield sql`
          update slotted_assets
          set state = 'creating', attempts = attempts + 1, ready = 0, lease_until = ${claim.leaseUntil},
            due_at = ${claim.leaseUntil}, used_at = ${claim.now}
          where id = ${claim.id}
          returning ${slottedColumns}`
        if (need) yield forgetWait(need.id)
        const freed = freedFrom(yield selectFreed(account))
        return { outcome: 'claimed', asset: slottedFrom(claimed ?? {}), occupied: occupied + 1, freed } as const
      }
      const victim = yield* chooseVictim({ ...claim, user, ownOnly: isCapped }, held)
      if (victim) return { outcome: 'evict', victim } as const
      if (need) yield isCapped ? forgetWait(need.id) : noteWait(need, account)
      return { outcome: isCapped ? 'capped' : 'full' } as const
    }),

  claimVictim: (claim) =>
    database.transaction(function* () {
      yield lockSlots
      const held = yield* heldSlots(claim.account, claim.now)
      return yield* chooseVictim({ ...claim, ownOnly: false }, held)
    }),

  async noteFreedSlot(account) {
    await database.query(noteFreed(account))
  },

  freedSlots: async (account) => freedFrom(await database.query(selectFreed(account))),

  async noteSlotLimit({ key }, slots) {
    await database.query(sql`
      insert into slot_limits (account, slots)
      values (${key}, ${slots})
      on conflict (account) do update
      set slots = excluded.slots`)
  },

  async confirmCreated({ id, attempts }, upstreamId, dueAt) {
    const confirmed = await database.query(sql`
      update slotted_assets
      set state = 'present', upstream_id = ${upstreamId}, lease_until = 0, due_at = ${dueAt}
      where id = ${id}
      and attempts = ${attempts}
      and state = 'creating'
      returning id`)
    return confirmed.length === 1
  },

  releaseSlot: ({ id, attempts }, now, dueAt) =>
    database.transaction(function* () {
      yield lockSlots
      const [released] = yield sql`
        update slotted_assets
        set state = 'absent', lease_until = 0, due_at = ${dueAt}
        where id = ${id}
        and attempts = ${attempts}
        and state = 'creating'
        returning original, removed_at as "removedAt"`
      if (released?.removedAt !== undefined) yield* forgetSlotted(id, released.original, now)
    }),

  confirmDeleted: ({ id, upstreamId }, now) =>
    database.transaction(function* () {
      yield lockSlots
      const [deleted] = yield sql`
        update slotted_assets
        set state = 'absent', upstream_id = null, ready = 0, lease_until = 0,
          due_at = case when status = 'Processing' then cast(${now} as bigint) end
        where id = ${id}
        and upstream_id = ${upstreamId}
        returning original, removed_at as "removedAt"`
      if (deleted?.removedAt !== undefined) yield* forgetSlotted(id, deleted.original, now)
    }),

  async takeOver({ id, state, attempts, leaseUntil }, now, until) {
    const taken = await database.query(sql`
      update slotted_assets
      set state = case when state = 'creating' then 'creating' else 'deleting' end,
        lease_until = ${until}, due_at = ${until}
      where id = ${id}
      and state = ${state}
      and attempts = ${attempts}
      and lease_until = ${leaseUntil}
      and lease_until <= ${now}
      returning id`)
    return taken.length === 1
  },
})

import type { SlotAccount, SlottedAsset } from '../../../../plugins/asset-library/index.ts'
import type { Row, Steps } from '../../database/database.ts'
import { fragment, type Statement, sql } from '../../database/statement.ts'
import { expireFile } from '../../files.ts'

export const slottedColumns = fragment`
  id, user_id as "user", group_id as "group", account, state, upstream_id as "upstreamId", attempts,
  lease_until as "leaseUntil", status, ready, name, created_at as "createdAt", updated_at as "updatedAt", used_at as "usedAt",
  removed_at as "removedAt", original, body, item`

export const slottedFrom = ({ ready, ...row }: Row): SlottedAsset =>
  ({ ...row, isReady: Number(ready) === 1 }) as unknown as SlottedAsset

/** Serializes what takes and frees slots, until the end of the transaction. No group has this id. */
export const lockSlots: Statement = sql`
  insert into slotted_groups (group_id, turn)
  values ('', 1)
  on conflict (group_id) do update
  set turn = slotted_groups.turn + 1`

/**
 * Ends the claim of a slot of an asset of a person. It must come first in the transaction that records the asset:
 * without the lock, a claim that counts meanwhile would see neither the asset, which it has counted before, nor this.
 */
export const endPersonSlot = (id: string): readonly Statement[] => [
  lockSlots,
  sql`
    delete from person_slots
    where id = ${id}`,
]

/** Records when an asset of an account last lost its slot to another one. */
export const noteEviction = ({ key }: Pick<SlotAccount, 'key'>, now: number): Statement => sql`
  insert into slot_evictions (account, evicted_at)
  values (${key}, ${now})
  on conflict (account) do update
  set evicted_at = excluded.evicted_at`

/** The end of the year 9999. */
const forever = 253_402_300_799_000

/** An original lasts as long as its asset. Until an asset has it, it expires: a process may end before it adds one. */
export const keepForever = (key: string): Statement => sql`
  update files
  set expires_at = ${forever}
  where key = ${key}`

/** Forgets an asset that the upstream does not have any more. The sweep of the file storage removes its original. */
export function* forgetSlotted(id: string, original: unknown, now: number): Steps {
  yield sql`
    delete from slotted_assets
    where id = ${id}`
  if (typeof original === 'string') yield expireFile(original, now)
}

/** Forgets the assets of a group that is deleted: the upstream has deleted them with it. */
export const forgetSlottedGroup = (group: string): readonly Statement[] => [
  sql`
    update files
    set expires_at = 0
    where key in (
      select original
      from slotted_assets
      where group_id = ${group}
    )`,
  sql`
    delete from slotted_assets
    where group_id = ${group}`,
  sql`
    delete from slotted_groups
    where group_id = ${group}`,
]

import type { SlotClaim, SlottedAsset } from '../../../../plugins/asset-library/index.ts'
import type { Steps } from '../../database/database.ts'
import { sql } from '../../database/statement.ts'
import type { HeldSlots } from './held-slots.ts'
import { noteEviction, slottedColumns, slottedFrom } from './slotted-rows.ts'

/** An asset of which the processing was never seen to end keeps its slot for so long. Milliseconds. */
const processingMs = 3_600_000

interface Candidate {
  readonly id: string
  readonly user: string
  readonly status: SlottedAsset['status']
  /** The oldest waiting task, and the oldest waiting request, that need it. Their ids sort by time. */
  readonly nextTask?: string
  readonly nextRequest?: string
}

interface Choice extends Pick<SlotClaim, 'account' | 'floor' | 'need' | 'now' | 'leaseUntil'> {
  readonly user: string
  /** The user has as many slots as a user may have. */
  readonly ownOnly: boolean
}

/**
 * Chooses the asset of an account that loses its slot, and marks it. What a task or a request uses that the upstream
 * has, or that is being sent, stays, and so does what an older waiting one needs: so the oldest always goes on.
 *
 * Of the others goes what nothing waits for, the least recently used first, and then what is needed last.
 */
export function* chooseVictim(
  { user, ownOnly, account, floor, need, now, leaseUntil }: Choice,
  { all: held, persons }: HeldSlots,
): Steps<SlottedAsset | undefined> {
  const found = (yield sql`
    select id, user_id as "user", status, (
        select min(video_asset_uses.task_id)
        from video_asset_uses
        join video_tasks on video_tasks.id = video_asset_uses.task_id
        where video_asset_uses.asset_id = slotted_assets.id
        and video_tasks.phase = 'waiting'
      ) as "nextTask", (
        select min(asset_uses.id)
        from asset_uses
        where asset_uses.asset_id = slotted_assets.id
        and waiting = 1
        and asset_uses.lease_until > ${now}
      ) as "nextRequest"
    from slotted_assets
    where state = 'present'
    and account = ${account.key}
    and original is not null
    and (status <> 'Processing' or used_at <= ${now - processingMs})
    and not exists (
      select 1
      from video_asset_uses
      join video_tasks on video_tasks.id = video_asset_uses.task_id
      where video_asset_uses.asset_id = slotted_assets.id
      and video_tasks.phase in ('submitting', 'submitted')
    )
    and not exists (
      select 1
      from asset_uses
      where asset_uses.asset_id = slotted_assets.id
      and waiting = 0
      and asset_uses.lease_until > ${now}
    )
    order by case when status = 'Failed' then 0 else 1 end, used_at, id`) as unknown as readonly Candidate[]
  const candidates = found.map(({ nextTask, nextRequest, ...candidate }) => ({
    ...candidate,
    nextUse: [nextTask, nextRequest].filter((id) => id !== undefined).toSorted()[0],
  }))
  const free = candidates.filter(
    ({ nextUse, ...candidate }) =>
      (!ownOnly || candidate.user === user) && (nextUse === undefined || (need !== undefined && nextUse > need.id)),
  )
  const slotsOf = (of: string): number => held.get(of) ?? 0
  const above = free.filter((candidate) => candidate.user === user || slotsOf(candidate.user) > floor)
  // Who uses no slot now waits for the floors of others only, and would do so until the task expires.
  const idle = candidates.filter((candidate) => candidate.user === user).length
  const isStuck = need !== undefined && idle === slotsOf(user) - (persons.get(user) ?? 0)
  const eligible = above.length > 0 || (slotsOf(user) >= floor && !isStuck) ? above : free
  const chosen =
    eligible.find(({ nextUse }) => nextUse === undefined) ??
    eligible.toSorted((a, b) => ((a.nextUse ?? '') < (b.nextUse ?? '') ? 1 : -1))[0]
  if (!chosen) return undefined
  const [victim] = yield sql`
    update slotted_assets
    set state = 'deleting', ready = 0, lease_until = ${leaseUntil}, due_at = ${leaseUntil}
    where id = ${chosen.id}
    and state = 'present'
    returning ${slottedColumns}`
  if (!victim) return undefined
  yield noteEviction(account, now)
  return slottedFrom(victim)
}

import type { SlotClaim, SlottedAsset } from '../../../../plugins/asset-library/index.ts'
import { type Steps, sql } from '../../database/database.ts'
import type { SlotsByUser } from './held-slots.ts'
import { slottedColumns, slottedFrom } from './slotted-rows.ts'

/** An asset of which the processing was never seen to end keeps its slot for so long. Milliseconds. */
const processingMs = 3_600_000

interface Candidate {
  readonly id: string
  readonly user: string
  readonly status: SlottedAsset['status']
  /** The oldest waiting task that needs it. Ids of tasks sort by creation. */
  readonly nextUse?: string
}

interface Choice extends Pick<SlotClaim, 'floor' | 'task' | 'now' | 'leaseUntil'> {
  readonly user: string
  /** The user has as many slots as a user may have. */
  readonly ownOnly: boolean
}

/**
 * Chooses the asset that loses its slot, and marks it. What a task uses that the upstream has, or that is being sent,
 * stays, and so does what an older waiting task needs: so the oldest task always goes on.
 *
 * Of the others goes what no waiting task needs, the least recently used first, and then what is needed last.
 */
export function* chooseVictim(
  { user, ownOnly, floor, task, now, leaseUntil }: Choice,
  held: SlotsByUser,
): Steps<SlottedAsset | undefined> {
  const candidates = (yield sql`
    select id, user_id as "user", status, (
        select min(video_asset_uses.task_id)
        from video_asset_uses
        join video_tasks on video_tasks.id = video_asset_uses.task_id
        where video_asset_uses.asset_id = slotted_assets.id
        and video_tasks.phase = 'waiting'
      ) as "nextUse"
    from slotted_assets
    where state = 'present'
    and original is not null
    and (status <> 'Processing' or used_at <= ${now - processingMs})
    and not exists (
      select 1
      from video_asset_uses
      join video_tasks on video_tasks.id = video_asset_uses.task_id
      where video_asset_uses.asset_id = slotted_assets.id
      and video_tasks.phase in ('submitting', 'submitted')
    )
    order by case when status = 'Failed' then 0 else 1 end, used_at, id`) as unknown as readonly Candidate[]
  const free = candidates.filter(
    ({ nextUse, ...candidate }) =>
      (!ownOnly || candidate.user === user) && (nextUse === undefined || (task !== undefined && nextUse > task)),
  )
  const slotsOf = (of: string): number => held.get(of) ?? 0
  const above = free.filter((candidate) => candidate.user === user || slotsOf(candidate.user) > floor)
  const eligible = above.length > 0 || slotsOf(user) >= floor ? above : free
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
  return victim && slottedFrom(victim)
}

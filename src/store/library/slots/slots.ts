import type { SlotClaim, SlottedAsset, SlottedAssetStore } from '../../../../plugins/asset-library/index.ts'
import { type Database, type Steps, sql } from '../../database/database.ts'
import { forgetSlotted, lockSlots, slottedColumns, slottedFrom } from './slotted-rows.ts'

type SlotStore = Pick<
  SlottedAssetStore,
  'claimSlot' | 'claimVictim' | 'confirmCreated' | 'releaseSlot' | 'confirmDeleted' | 'takeOver'
>

/** An asset of which the processing was never seen to end keeps its slot for so long. Milliseconds. */
const processingMs = 3_600_000

/** Who has which slots. */
export const createSlotStore = (database: Database): SlotStore => ({
  claimSlot: (claim) =>
    database.transaction(function* () {
      yield lockSlots
      const [wanted] = yield sql`
        select state, user_id as "user"
        from slotted_assets
        where id = ${claim.id}
        and removed_at is null`
      if (wanted?.state !== 'absent') return { outcome: 'other' } as const
      const user = String(wanted.user)
      const held = yield* heldByUser()
      const occupied = sum(held)
      const isCapped = (held.get(user) ?? 0) >= claim.cap
      if (!isCapped && occupied < claim.slots) {
        const [claimed] = yield sql`
          update slotted_assets
          set state = 'creating', attempts = attempts + 1, ready = 0, lease_until = ${claim.leaseUntil},
            due_at = ${claim.leaseUntil}, used_at = ${claim.now}
          where id = ${claim.id}
          returning ${slottedColumns}`
        return { outcome: 'claimed', asset: slottedFrom(claimed ?? {}), occupied: occupied + 1 } as const
      }
      const victim = yield* chooseVictim({ ...claim, user, ownOnly: isCapped }, held)
      return victim ? ({ outcome: 'evict', victim } as const) : ({ outcome: isCapped ? 'capped' : 'full' } as const)
    }),

  claimVictim: (claim) =>
    database.transaction(function* () {
      yield lockSlots
      return yield* chooseVictim({ ...claim, ownOnly: false }, yield* heldByUser())
    }),

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

/** Slots that each user has. */
function* heldByUser(): Steps<ReadonlyMap<string, number>> {
  const counted = yield sql`
    select user_id as "user", count(*) as slots
    from slotted_assets
    where state <> 'absent'
    group by user_id`
  return new Map(counted.map(({ user, slots }) => [String(user), Number(slots)]))
}

const sum = (held: ReadonlyMap<string, number>): number => [...held.values()].reduce((all, slots) => all + slots, 0)

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
function* chooseVictim(
  { user, ownOnly, floor, task, now, leaseUntil }: Choice,
  held: ReadonlyMap<string, number>,
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

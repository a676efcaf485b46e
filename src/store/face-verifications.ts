import { verificationEvent } from '../../plugins/face-verification/events.ts'
import { isEnded, type VerificationStatus } from '../../plugins/face-verification/status.ts'
import type { Verification, VerificationStore } from '../../plugins/face-verification/store.ts'
import { type Clock, systemClock } from '../../plugins/shared/clock.ts'
import type { Database, Row, Steps } from './database/database.ts'
import { deleteOldest } from './database/oldest-rows.ts'
import { clause, fragment, type Statement, sql } from './database/statement.ts'
import { lockUser } from './database/user-locks.ts'
import { addEvent } from './events/events.ts'

const columns = fragment`
  id, user_id as "user", kind, status, token, account, group_id as "group", created_at as "createdAt",
  expires_at as "expiresAt", due_at as "dueAt", asks as polls`

const deleteReservation = (reservation: string): Statement => sql`
  delete from face_verifications
  where id = ${reservation}
  and kind = 'reserved'`

const addStatusEvent = (
  verification: Pick<Verification, 'id' | 'user' | 'group'>,
  status: VerificationStatus,
  at: number,
): readonly Statement[] => addEvent({ user: verification.user, at, ...verificationEvent(verification, status) })

/**
 * Face verifications. Each update repeats the state that it expects, so of two concurrent updates the second has no
 * effect.
 *
 * The column `asks` holds `polls`.
 */
export const createVerificationStore = (
  database: Database,
  clock: Pick<Clock, 'now'> = systemClock,
): VerificationStore => ({
  async reserveVerification({ id, user, createdAt, expiresAt }, max) {
    const [, reservation] = await database.batch([
      lockUser(user),
      sql`
        insert into face_verifications (id, user_id, kind, status, created_at, expires_at, lease_until, asks)
        select cast(${id} as text), cast(${user} as text), 'reserved', 'waiting_user', cast(${createdAt} as bigint),
          cast(${expiresAt} as bigint), 0, 0
        where (
          select count(*)
          from face_verifications
          where user_id = ${user}
          and expires_at > ${createdAt}
          and status not in ('verified', 'failed', 'expired')
        ) < cast(${max} as bigint)
        returning id`,
    ])
    if (reservation?.length === 1) return undefined
    const [first] = await database.query<{ end?: number }>(sql`
      select min(expires_at) as "end"
      from face_verifications
      where user_id = ${user}
      and expires_at > ${createdAt}
      and status not in ('verified', 'failed', 'expired')`)
    return first?.end ?? createdAt
  },

  async releaseReservation(id) {
    await database.query(deleteReservation(id))
  },

  async addVerification(verification, reservation) {
    const { id, user, kind, status, stateHash, linkHash, token, account, createdAt, expiresAt, dueAt } = verification
    return database.transaction(function* (): Steps<boolean> {
      const added = yield sql`
        insert into face_verifications (
          id, user_id, kind, status, state_hash, link_hash, token, account, created_at, expires_at,
          due_at, lease_until, asks
        )
        values (
          ${id}, ${user}, ${kind}, ${status}, ${stateHash}, ${linkHash}, ${token}, ${account}, ${createdAt},
          ${expiresAt}, ${dueAt}, 0, 0
        )
        on conflict (id) do nothing
        returning id`
      if (reservation !== undefined) yield deleteReservation(reservation)
      const [kept] = yield sql`
        select user_id as "user"
        from face_verifications
        where id = ${id}`
      if (added.length === 1) yield* addStatusEvent({ id, user }, status, createdAt)
      return kept?.user === user
    })
  },

  async verification(id) {
    const [found] = await database.query<Verification>(sql`
      select ${columns}
      from face_verifications
      where id = ${id}`)
    return found
  },

  async verificationByState(hash) {
    const [found] = await database.query<Verification>(sql`
      select ${columns}
      from face_verifications
      where state_hash = ${hash}`)
    return found
  },

  async moveVerification(id, path, { group, dueAt } = {}) {
    // A new `due_at` must differ from the old one: that shows the current leaseholder that the verification has become
    // due again.
    return database.transaction(function* (): Steps<boolean> {
      const events: Statement[] = []
      let moved: readonly Row[] = []
      for (const [index, to] of path.slice(1).entries()) {
        const ends = isEnded(to) ? 1 : 0
        moved = yield sql`
          update face_verifications
          set status = ${to},
            group_id = coalesce(${group}, group_id),
            token = case when ${ends} = 1 then null else token end,
            due_at = case
              when ${ends} = 1 then null
              when due_at = ${dueAt} then due_at - 1
              else coalesce(${dueAt}, due_at)
            end,
            asks = case when cast(${dueAt} as bigint) is null then asks else 0 end
          where id = ${id}
          and status = ${path[index]}
          returning id, user_id as "user", group_id as "group"`
        const [verification] = moved as readonly Pick<Verification, 'id' | 'user' | 'group'>[]
        if (verification) events.push(...addStatusEvent(verification, to, clock.now()))
      }
      yield* events
      return moved.length === 1
    })
  },

  async leaseVerification(id, now, until) {
    const [leased] = await database.query<Verification>(sql`
      update face_verifications
      set lease_until = ${until}
      where id = ${id}
      and lease_until <= ${now}
      and due_at is not null
      returning ${columns}`)
    return leased
  },

  async releaseVerification({ id, dueAt: leasedDue }, until, { notBefore, dueAt, polls }) {
    await database.query(sql`
      update face_verifications
      set lease_until = case when due_at = ${leasedDue} then cast(${notBefore} as bigint) else 0 end,
        asks = case when due_at = ${leasedDue} then cast(${polls} as bigint) else asks end,
        due_at = case when due_at = ${leasedDue} then cast(${dueAt} as bigint) else due_at end
      where id = ${id}
      and lease_until = ${until}`)
  },

  async dueVerifications(kind, now, max) {
    const due = await database.query<{ id: string }>(sql`
      select id
      from face_verifications
      where kind = ${kind}
      and due_at <= ${now}
      and lease_until <= ${now}
      order by case when status = 'waiting_user' then 1 else 0 end, due_at, id
      limit ${max}`)
    return due.map(({ id }) => id)
  },

  async nextVerificationDue(kind) {
    const [row] = await database.query<{ due?: number }>(sql`
      select min(case when lease_until > due_at then lease_until else due_at end) as due
      from face_verifications
      where kind = ${kind}
      and due_at is not null`)
    return row?.due
  },

  async deleteVerifications(before, max) {
    const deleted = await database.query(deleteOldVerifications(before, max))
    return deleted.length
  },
})

export const deleteOldVerifications = (before: number, max: number): Statement =>
  deleteOldest(
    {
      ...{ table: clause`face_verifications`, time: clause`created_at`, key: clause`id` },
      where: clause`created_at < ${before}`,
    },
    max,
  )

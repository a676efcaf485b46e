import { consentEvent } from '../../../plugins/shared/consent/events.ts'
import type { Consent, ConsentAct, ConsentStore } from '../../../plugins/shared/consent/store.ts'
import { consentWithdrawn } from '../../../plugins/video-generation/tasks/problem.ts'
import { failedObject } from '../../../plugins/video-generation/tasks/view.ts'
import type { Database, Steps } from '../database/database.ts'
import { sharesChanged } from '../database/revision.ts'
import { sql } from '../database/statement.ts'
import { addEvent } from '../events/events.ts'
import { consentDeletions } from './consent-deletions.ts'
import { type ConsentRow, consentColumns, consentFrom, userOf } from './consent-rows.ts'
import { consentUses } from './consent-uses.ts'

/** Links of one group, with that of its verification. */
const maxLinks = 10

/** The consents of persons. */
export const createConsentStore = (database: Database): ConsentStore => ({
  ...consentUses(database),
  ...consentDeletions(database),

  async recordConsent({ group, verification, at }) {
    await database.batch([
      sql`
        insert into consents (group_id, owner_id, verification_id, invited_by, invited_at, verified_at)
        select cast(${group} as text), user_id, id, user_id, created_at, cast(${at} as bigint)
        from face_verifications
        where id = ${verification}
        on conflict (group_id) do update
        set verification_id = excluded.verification_id, invited_by = excluded.invited_by,
          invited_at = excluded.invited_at, verified_at = excluded.verified_at
        where consents.verified_at is null`,
      sql`
        insert into consent_links (hash, group_id, created_at)
        select link_hash, cast(${group} as text), cast(${at} as bigint)
        from face_verifications
        where id = ${verification}
        and link_hash is not null
        on conflict (hash) do nothing`,
    ])
  },

  async addConsentLink({ group, owner, hash, madeBy, at }) {
    const [, added] = await database.batch([
      // The lock of the row: two links at once would exceed the maximum.
      sql`
        insert into consents (group_id, owner_id)
        values (${group}, ${owner})
        on conflict (group_id) do update
        set owner_id = consents.owner_id`,
      sql`
        insert into consent_links (hash, group_id, created_at, made_by)
        select cast(${hash} as text), cast(${group} as text), cast(${at} as bigint), cast(${madeBy} as text)
        where (
          select count(*)
          from consent_links
          where group_id = ${group}
        ) < ${maxLinks}
        returning hash`,
    ])
    return added?.length === 1
  },

  async consentOf(group) {
    const [row] = await database.query<ConsentRow>(sql`
      select ${consentColumns}
      from consents
      left join groups on groups.group_id = consents.group_id and groups.state = 'owned'
      where consents.group_id = ${group}`)
    if (row) return consentFrom(row)
    const [owned] = await database.query<Consent>(sql`
      select group_id as "group", user_id as owner
      from groups
      where group_id = ${group}
      and type = 'LivenessFace'
      and state = 'owned'`)
    return owned
  },

  async consentByLink(hash) {
    const [row] = await database.query<ConsentRow & { linkFrom?: string }>(sql`
      select ${consentColumns}, made_by as "linkFrom"
      from consent_links
      join consents on consents.group_id = consent_links.group_id
      left join groups on groups.group_id = consents.group_id and groups.state = 'owned'
      where consent_links.hash = ${hash}`)
    return row && { ...consentFrom(row), ...(row.linkFrom !== undefined && { linkFrom: row.linkFrom }) }
  },

  async hasWithdrawn(group) {
    const withdrawn = await database.query(sql`
      select group_id
      from consents
      where group_id = ${group}
      and withdrawn_at is not null`)
    return withdrawn.length > 0
  },

  withdrawConsent: (consent, act) => database.transaction(() => withdraw(consent, act)),
})

/** First it locks the group, as a transaction does that lends it. */
function* withdraw({ group, owner }: Pick<Consent, 'group' | 'owner'>, { at, actor }: ConsentAct): Steps {
  yield sql`
    update groups
    set state = 'owned'
    where group_id = ${group}
    and state = 'owned'`
  const [withdrawn] = yield sql`
    insert into consents (group_id, owner_id, withdrawn_at, withdrawn_by_kind, withdrawn_by)
    values (${group}, ${owner}, ${at}, ${actor.by}, ${userOf(actor)})
    on conflict (group_id) do update
    set withdrawn_at = excluded.withdrawn_at, withdrawn_by_kind = excluded.withdrawn_by_kind,
      withdrawn_by = excluded.withdrawn_by
    where consents.withdrawn_at is null
    returning group_id`
  if (!withdrawn) return
  const shares = yield sql`
    delete from group_shares
    where group_id = ${group}
    returning id`
  yield* endWaitingTasks(group, at)
  if (shares.length > 0) yield* sharesChanged
  yield* addEvent({ user: owner, at, ...consentEvent(group, 'withdrawn', actor) })
}

/**
 * Tasks that wait and use the group leave the line at once, so that none gets a slot before its end is recorded. They
 * have the reason: with the object of a failed task, a task that waits fails when its time is over.
 */
function* endWaitingTasks(group: string, at: number): Steps {
  const ended = yield sql`
    update video_tasks
    set expires_at = ${at}, pool = null, due_at = null
    where id in (
      select task_id
      from video_asset_uses
      where group_id = ${group}
    )
    and status = 'queued'
    and phase not in ('submitting', 'submitted')
    returning id, model, service_tier as "serviceTier"`
  const { code = '', message } = consentWithdrawn
  yield ended.map(({ id, model, serviceTier }) => {
    const task = { model: String(model), serviceTier: serviceTier === 'flex' ? 'flex' : 'default' } as const
    return sql`
      update video_tasks
      set task = ${failedObject(task, { code, message }, at)}
      where id = ${id}`
  })
}

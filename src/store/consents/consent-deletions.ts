import { consentEvent } from '../../../plugins/shared/consent/events.ts'
import type { ConsentDeletionStep, ConsentStore, ConsentTask } from '../../../plugins/shared/consent/store.ts'
import type { Database, Steps } from '../database/database.ts'
import { sql } from '../database/statement.ts'
import { addEvent } from '../events/events.ts'
import { type ConsentRow, consentColumns, consentFrom, userOf } from './consent-rows.ts'

type ConsentDeletions = Pick<
  ConsentStore,
  'requestConsentDeletion' | 'dueConsentDeletions' | 'consentTasks' | 'noteConsentDeletion'
>

/** The deletion of what withdrawn consents were about. */
export const consentDeletions = (database: Database): ConsentDeletions => ({
  async requestConsentDeletion(group, { at, actor }) {
    await database.query(sql`
      update consents
      set deletion_at = ${at}, deletion_by_kind = ${actor.by}, deletion_by = ${userOf(actor)}, due_at = ${at}
      where group_id = ${group}
      and withdrawn_at is not null
      and deletion_at is null`)
  },

  async dueConsentDeletions(now, max) {
    const rows = await database.query<ConsentRow>(sql`
      select ${consentColumns}
      from consents
      left join groups on groups.group_id = consents.group_id and groups.state = 'owned'
      where consents.due_at <= ${now}
      order by consents.due_at, consents.group_id
      limit ${max}`)
    return rows.map(consentFrom)
  },

  async consentTasks(group, max) {
    const rows = await database.query<Omit<ConsentTask, 'hasEnded'> & { ended: number }>(sql`
      select video_tasks.id, video_tasks.user_id as "user",
        case when video_tasks.phase = 'ended' then 1 else 0 end as ended
      from video_tasks
      where id in (
        select task_id
        from consent_uses
        where group_id = ${group}
      )
      and (phase <> 'ended' or status = 'succeeded')
      order by case when phase = 'ended' then 0 else 1 end, id
      limit ${max}`)
    return rows.map(({ ended, ...task }) => ({ ...task, hasEnded: Number(ended) === 1 }))
  },

  noteConsentDeletion: (step) => database.transaction(() => noteStep(step)),
})

function* noteStep(step: ConsentDeletionStep): Steps {
  const { group, assets = 0, results = 0, assetsAt, resultsAt, groupAt, dueAt } = step
  const [noted] = yield sql`
    update consents
    set assets = assets + ${assets},
      results = results + ${results},
      assets_at = coalesce(assets_at, ${assetsAt}),
      results_at = coalesce(results_at, ${resultsAt}),
      group_at = coalesce(group_at, ${groupAt}),
      due_at = ${dueAt}
    where group_id = ${group}
    and due_at is not null
    returning owner_id as owner, assets_at as "assetsAt", results_at as "resultsAt"`
  if (!noted || noted.resultsAt === undefined) return
  // What the person wanted to be forgotten: of the uses, the number remains.
  yield sql`
    update consents
    set uses = uses + (
      select count(distinct task_id)
      from consent_uses
      where consent_uses.group_id = consents.group_id
    )
    where group_id = ${group}`
  yield sql`
    delete from consent_uses
    where group_id = ${group}`
  const at = assetsAt ?? resultsAt
  if (at !== undefined && noted.assetsAt !== undefined)
    yield* addEvent({ user: String(noted.owner), at, ...consentEvent(group, 'deleted') })
}

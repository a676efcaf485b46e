import type { ConsentStore, ConsentUse } from '../../../plugins/shared/consent/store.ts'
import type { Database } from '../database/database.ts'
import { type Statement, sql } from '../database/statement.ts'

type ConsentUses = Pick<ConsentStore, 'recordConsentUse' | 'consentUses' | 'countConsentUses'>

/** Which tasks have used the faces of persons. */
export const consentUses = (database: Database): ConsentUses => ({
  async recordConsentUse({ task, user, assets, at }) {
    // Always in the same order, so that two transactions cannot deadlock.
    const groups = [...new Set(assets.map(({ group }) => group))].sort()
    return database.transaction(function* () {
      for (const group of groups) if ((yield useConsent(group, at)).length === 0) return false
      yield assets.map(
        ({ id, group }) => sql`
          insert into consent_uses (group_id, task_id, asset_id, user_id, used_at)
          values (${group}, ${task}, ${id}, ${user}, ${at})
          on conflict (group_id, task_id, asset_id) do update
          set used_at = excluded.used_at`,
      )
      return true
    })
  },

  async consentUses(group, { after, limit }) {
    const rows = await database.query<UseRow>(sql`
      select consent_uses.task_id as task, asset_id as asset, consent_uses.user_id as "user", used_at as "usedAt",
        coalesce(video_tasks.status, consent_uses.status) as status,
        coalesce(video_tasks.ended_at, consent_uses.ended_at) as "endedAt",
        case when video_tasks.id is null then 0 else 1 end as kept
      from consent_uses
      left join video_tasks on video_tasks.id = consent_uses.task_id
      where consent_uses.group_id = ${group}
      and consent_uses.task_id in (
        select distinct task_id
        from consent_uses
        where group_id = ${group}
        and (cast(${after} as text) is null or task_id < ${after})
        order by task_id desc
        limit ${limit}
      )
      order by consent_uses.task_id desc, asset_id`)
    return [...Map.groupBy(rows, ({ task }) => task).values()].map(useFrom)
  },

  async countConsentUses(group, max) {
    const [counted] = await database.query(sql`
      select count(*) as uses
      from (
        select distinct task_id
        from consent_uses
        where group_id = ${group}
        limit ${max}
      ) counted`)
    return Number(counted?.uses ?? 0)
  },
})

/** The row is locked until the end of the transaction, so a withdrawal comes before it or after it. */
const useConsent = (group: string, at: number): Statement => sql`
  insert into consents (group_id, owner_id, used_at)
  select group_id, user_id, cast(${at} as bigint)
  from groups
  where group_id = ${group}
  and state = 'owned'
  on conflict (group_id) do update
  set used_at = excluded.used_at
  where consents.withdrawn_at is null
  returning group_id`

interface UseRow {
  readonly task: string
  readonly asset: string
  readonly user: string
  readonly usedAt: number
  readonly status?: string
  readonly endedAt?: number
  readonly kept: number
}

/** The rows of one task, one for each of its assets. */
const useFrom = (rows: readonly UseRow[]): ConsentUse => {
  const [{ task = '', user = '', usedAt = 0, status, endedAt, kept = 0 } = {}] = rows as readonly Partial<UseRow>[]
  return {
    ...{ task, user, assets: rows.map(({ asset }) => asset), at: usedAt, isKept: Number(kept) === 1 },
    ...(status !== undefined && { status }),
    ...(endedAt !== undefined && { endedAt }),
  }
}

/** Whether a task has used the face of a person, as its `fields` say. */
export const usesPersons = (fields: unknown): boolean => String(fields).includes('"persons":[')

/** Keeps in the ledger how a task has ended that is being deleted. */
export const keepTaskEnd = (task: string, status: string, endedAt: number | undefined): Statement => sql`
  update consent_uses
  set status = ${status}, ended_at = ${endedAt}, is_kept = 0
  where task_id = ${task}`

/** The upstream has rejected the call: the task has used nothing. */
export const dropUsesOf = (task: string): Statement => sql`
  delete from consent_uses
  where task_id = ${task}`

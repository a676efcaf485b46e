import type { Steps } from '../../database/database.ts'
import { type Statement, sql } from '../../database/statement.ts'

/** A migration: the consent ledger. Never change it. */
export const consentTables: readonly Statement[] = [
  // The ledger outlives groups, tasks and users, so there are no foreign keys. `due_at`: when its deletion goes on.
  sql`
    create table consents (
      group_id text primary key,
      owner_id text not null,
      verification_id text,
      invited_by text,
      invited_at bigint,
      verified_at bigint,
      used_at bigint,
      withdrawn_at bigint,
      withdrawn_by_kind text check (withdrawn_by_kind in ('person', 'owner', 'admin')),
      withdrawn_by text,
      deletion_at bigint,
      deletion_by_kind text check (deletion_by_kind in ('person', 'owner', 'admin')),
      deletion_by text,
      due_at bigint,
      assets_at bigint,
      results_at bigint,
      group_at bigint,
      assets bigint not null default 0,
      results bigint not null default 0,
      uses bigint not null default 0
    )`,
  sql`create index consents_by_due on consents (due_at) where due_at is not null`,
  sql`
    create table consent_links (
      hash text primary key,
      group_id text not null,
      created_at bigint not null
    )`,
  sql`create index consent_links_of_group on consent_links (group_id)`,
  sql`
    create table consent_uses (
      group_id text not null,
      task_id text not null,
      asset_id text not null,
      user_id text not null,
      used_at bigint not null,
      status text,
      ended_at bigint,
      is_kept integer not null default 1,
      primary key (group_id, task_id, asset_id)
    )`,
  sql`create index consent_uses_of_task on consent_uses (task_id)`,
  // Hash of the secret in the link that the callback page shows.
  sql`alter table face_verifications add column link_hash text`,
  // What there is already: groups, and the tasks that have used them.
  sql`
    insert into consents (group_id, owner_id, verification_id, invited_by, invited_at, verified_at)
    select groups.group_id, groups.user_id, verified.id, verified.user_id, verified.created_at,
      case when verified.id is null then null else groups.created_at end
    from groups
    left join face_verifications verified on verified.id = (
      select min(face_verifications.id)
      from face_verifications
      where face_verifications.group_id = groups.group_id
      and face_verifications.status = 'verified'
    )
    where groups.type = 'LivenessFace'
    and groups.state = 'owned'`,
  sql`
    insert into consent_uses (group_id, task_id, asset_id, user_id, used_at)
    select video_asset_uses.group_id, task_id, asset_id, video_asset_uses.user_id,
      coalesce(submitted_at, claimed_at, video_tasks.created_at)
    from video_asset_uses
    join consents on consents.group_id = video_asset_uses.group_id
    join video_tasks on video_tasks.id = video_asset_uses.task_id
    where phase <> 'waiting'`,
]

/** A migration: who has made the link of a person. Null: the face verification. Never change it. */
export const consentLinkMakers: readonly Statement[] = [sql`alter table consent_links add column made_by text`]

/** A migration: the lists of consents, by the ids of their groups. Never change it. */
export const consentListIndexes: readonly Statement[] = [
  sql`create index groups_of_persons on groups (group_id) where state = 'owned' and type = 'LivenessFace'`,
  sql`create index consents_withdrawn on consents (group_id) where withdrawn_at is not null`,
]

/**
 * A migration: text objects from before it may show each person of their user, because earlier versions did not record
 * whom they show, or did not know it of what they continue. So none of them is continued after any of those persons has
 * withdrawn the consent. Never change it.
 */
export function* personsOfEarlierTexts(): Steps {
  const consents = yield sql`
    select owner_id as "user", group_id as "group"
    from consents
    order by owner_id, group_id`
  if (consents.length === 0) return
  // Each user's objects are found once, and never by their user again.
  yield sql`create index text_objects_of_user on text_objects (user_id)`
  for (const [user, groups] of Map.groupBy(consents, (row) => String(row.user))) {
    const all = groups.map(({ group }) => String(group))
    const known = yield sql`
      select distinct persons
      from text_objects
      where user_id = ${user}
      and persons is not null`
    for (const { persons } of known)
      yield sql`
        update text_objects
        set persons = ${JSON.stringify([...new Set([...(JSON.parse(String(persons)) as string[]), ...all])])}
        where user_id = ${user}
        and persons = ${persons}`
    yield sql`
      update text_objects
      set persons = ${JSON.stringify(all)}
      where user_id = ${user}
      and persons is null`
  }
  yield sql`drop index text_objects_of_user`
}

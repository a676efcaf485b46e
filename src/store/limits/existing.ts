import type { LimitCounter } from '../../../plugins/usage-limits/store.ts'
import { fragment, type Statement, sql } from '../database/database.ts'

/**
 * Counts what exists of a unit, as `counted`: up to one more than `amount`. What a token may have is what its user has,
 * but for running videos.
 *
 * Streams are not in the database: only the blocks of the processes count.
 */
export const countExisting = (counter: LimitCounter, amount: number, now: number): Statement => {
  const { unit } = counter
  const atMost = Math.min(amount, maxCounted)
  if (unit === 'groups') return countGroups(counter, atMost, now)
  if (unit === 'assets') return countAssets(counter, atMost)
  if (unit === 'storage_bytes') return sumStorage(counter, now)
  if (unit === 'running_videos') return countRunning(counter, atMost)
  return sql`select 0 as counted`
}

/** More than there are, and one more is a safe integer. */
const maxCounted = 2 ** 50

/** The user whose things count: undefined for a team and the account. */
const userOf = ({ subject: { type, id, user } }: LimitCounter): string | undefined =>
  type === 'user' ? id : type === 'token' ? user : undefined

const isGroup = fragment`(groups.state = 'owned' or groups.renames is null)`
const isOpen = fragment`face_verifications.status not in ('verified', 'failed', 'expired')`
const isAsset = fragment`groups.state = 'owned' and assets.deleted_at is null`
const isFile = fragment`files.kind in ('upload', 'result')`
const isUnfinished = fragment`video_tasks.phase in ('waiting', 'submitting', 'submitted') and video_tasks.undecided_at is null`

/**
 * A name that a new group claims counts as a group, also while it is not known whether the group exists. So does a face
 * verification that may still make one.
 */
const countGroups = (counter: LimitCounter, atMost: number, now: number): Statement => {
  const user = userOf(counter)
  // The result of a verification may come some time after its end; a reservation has none.
  const endedAfter = now - lateResultMs
  if (user !== undefined) {
    return sql`
      select (
        select count(*)
        from (
          select 1
          from groups
          where user_id = ${user}
          and ${isGroup}
          limit ${atMost + 1}
        ) counted
      ) + (
        select count(*)
        from face_verifications
        where user_id = ${user}
        and expires_at > ${endedAfter}
        and expires_at > case when kind = 'reserved' then cast(${now} as bigint) else cast(${endedAfter} as bigint) end
        and ${isOpen}
      ) as counted`
  }
  return counter.subject.type === 'team'
    ? sql`
        select (
          select count(*)
          from (
            select 1
            from groups
            join users on users.id = groups.user_id
            where users.team_id = ${counter.subject.id}
            and ${isGroup}
            limit ${atMost + 1}
          ) counted
        ) + (
          select count(*)
          from face_verifications
          join users on users.id = face_verifications.user_id
          where users.team_id = ${counter.subject.id}
          and expires_at > ${endedAfter}
          and expires_at > case when kind = 'reserved' then cast(${now} as bigint) else cast(${endedAfter} as bigint) end
          and ${isOpen}
        ) as counted`
    : sql`
        select (
          select count(*)
          from (
            select 1
            from groups
            where ${isGroup}
            limit ${atMost + 1}
          ) counted
        ) + (
          select count(*)
          from face_verifications
          where face_verifications.created_at > ${endedAfter - longestVerificationMs}
          and expires_at > ${endedAfter}
          and expires_at > case when kind = 'reserved' then cast(${now} as bigint) else cast(${endedAfter} as bigint) end
          and ${isOpen}
        ) as counted`
}

const lateResultMs = 600_000
/** No verification may be open for longer. */
const longestVerificationMs = 86_400_000

const countAssets = (counter: LimitCounter, atMost: number): Statement => {
  const user = userOf(counter)
  if (user !== undefined) {
    return sql`
      select count(*) as counted
      from (
        select 1
        from groups
        join assets on assets.group_id = groups.group_id
        where groups.user_id = ${user}
        and ${isAsset}
        limit ${atMost + 1}
      ) counted`
  }
  return counter.subject.type === 'team'
    ? sql`
        select count(*) as counted
        from (
          select 1
          from users
          join groups on groups.user_id = users.id
          join assets on assets.group_id = groups.group_id
          where users.team_id = ${counter.subject.id}
          and ${isAsset}
          limit ${atMost + 1}
        ) counted`
    : sql`
        select count(*) as counted
        from (
          select 1
          from groups
          join assets on assets.group_id = groups.group_id
          where ${isAsset}
          limit ${atMost + 1}
        ) counted`
}

const sumStorage = (counter: LimitCounter, now: number): Statement => {
  const user = userOf(counter)
  if (user !== undefined) {
    return sql`
      select cast(coalesce(sum(bytes), 0) as bigint) as counted
      from files
      where user_id = ${user}
      and ${isFile}
      and expires_at > ${now}`
  }
  return counter.subject.type === 'team'
    ? sql`
        select cast(coalesce(sum(files.bytes), 0) as bigint) as counted
        from users
        join files on files.user_id = users.id
        where users.team_id = ${counter.subject.id}
        and ${isFile}
        and files.expires_at > ${now}`
    : sql`
        select cast(coalesce(sum(bytes), 0) as bigint) as counted
        from files
        where expires_at > ${now}`
}

/** A task that waits for its turn counts too: else all that wait could run at once later. */
const countRunning = ({ subject: { type, id, user } }: LimitCounter, atMost: number): Statement => {
  if (type === 'user') {
    return sql`
      select count(*) as counted
      from (
        select 1
        from video_tasks
        where ${isUnfinished}
        and user_id = ${id}
        limit ${atMost + 1}
      ) counted`
  }
  if (type === 'token') {
    return sql`
      select count(*) as counted
      from (
        select 1
        from video_tasks
        where ${isUnfinished}
        and user_id = ${user}
        and token_id = ${id}
        limit ${atMost + 1}
      ) counted`
  }
  return type === 'team'
    ? sql`
        select count(*) as counted
        from (
          select 1
          from video_tasks
          join users on users.id = video_tasks.user_id
          where ${isUnfinished}
          and users.team_id = ${id}
          limit ${atMost + 1}
        ) counted`
    : sql`
        select count(*) as counted
        from (
          select 1
          from video_tasks
          where ${isUnfinished}
          limit ${atMost + 1}
        ) counted`
}

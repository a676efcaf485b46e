import type { LimitCounter } from '../../../plugins/usage-limits/store.ts'
import { clause, type Statement, sql } from '../database/statement.ts'

/**
 * Counts what exists of a unit, as `counted`: of running videos up to one more than `amount`. What a token may have is
 * what its user has, but for running videos.
 *
 * Streams are not in the database: only the blocks of the processes count.
 */
export const countExisting = (counter: LimitCounter, amount: number, now: number): Statement => {
  const { unit } = counter
  if (unit === 'groups') return countGroups(counter, now)
  if (unit === 'assets') return countAssets(counter)
  if (unit === 'storage_bytes') return sumStorage(counter, now)
  if (unit === 'running_videos') return countRows(rowsOf(counter, runningVideos), Math.min(amount, maxCounted))
  return sql`select 0 as counted`
}

/** More than there are, and one more is a safe integer. */
const maxCounted = 2 ** 50

/** Rows that count, and how to find those of a subject. */
interface CountedRows {
  readonly rows: Statement
  readonly joinUsers: Statement
  readonly isOf: (user: string, counter: LimitCounter) => Statement
  /** The condition for those of the whole account. Default: none. */
  readonly isOfAccount?: Statement
  readonly counts: Statement
}

/** The user whose things count: undefined for a team and the account. */
const userOf = ({ subject: { type, id, user } }: LimitCounter): string | undefined =>
  type === 'user' ? id : type === 'token' ? user : undefined

/** The rows of a counter's subject: what stands after `from`. */
const rowsOf = (counter: LimitCounter, { rows, joinUsers, isOf, isOfAccount, counts }: CountedRows): Statement => {
  const user = userOf(counter)
  const { type, id } = counter.subject
  if (user !== undefined) return clause`${rows} where ${isOf(user, counter)} and ${counts}`
  if (type === 'team') return clause`${rows} ${joinUsers} where users.team_id = ${id} and ${counts}`
  return clause`${rows} where ${isOfAccount ? clause`${isOfAccount} and` : []} ${counts}`
}

const countRows = (rows: Statement, atMost: number): Statement =>
  clause`select count(*) as counted from (select 1 from ${rows} limit ${atMost + 1}) counted`

/** What users have: a row for each account on which they have groups. */
const libraries: CountedRows = {
  rows: clause`library_counts`,
  joinUsers: clause`join users on users.id = library_counts.user_id`,
  isOf: (user) => clause`library_counts.user_id = ${user}`,
  counts: clause`library_counts.groups > 0`,
}

/**
 * A name that a new group claims counts as a group, also while it is not known whether the group exists. An index has
 * the open claims.
 */
const claims: CountedRows = {
  rows: clause`groups`,
  joinUsers: clause`join users on users.id = groups.user_id`,
  isOf: (user) => clause`groups.user_id = ${user}`,
  counts: clause`groups.state <> 'owned' and groups.renames is null`,
}

/**
 * A face verification that may still make a group counts as one. Its result may come some time after its end; a
 * reservation has none.
 */
const verifications = (now: number): CountedRows => {
  const endedAfter = now - lateResultMs
  return {
    rows: clause`face_verifications`,
    joinUsers: clause`join users on users.id = face_verifications.user_id`,
    isOf: (user) => clause`face_verifications.user_id = ${user}`,
    isOfAccount: clause`face_verifications.created_at > ${endedAfter - longestVerificationMs}`,
    counts: clause`
      face_verifications.expires_at > ${endedAfter}
      and face_verifications.expires_at > case
        when face_verifications.kind = 'reserved' then cast(${now} as bigint) else cast(${endedAfter} as bigint)
      end
      and face_verifications.status not in ('verified', 'failed', 'expired')`,
  }
}

const lateResultMs = 600_000
/** No verification may be open for longer. */
const longestVerificationMs = 86_400_000

const countGroups = (counter: LimitCounter, now: number): Statement => clause`
  select (select coalesce(sum(groups), 0) from ${rowsOf(counter, libraries)})
    + (select count(*) from ${rowsOf(counter, claims)})
    + (select count(*) from ${rowsOf(counter, verifications(now))}) as counted`

const countAssets = (counter: LimitCounter): Statement =>
  clause`select coalesce(sum(assets), 0) as counted from ${rowsOf(counter, libraries)}`

const files = (now: number): CountedRows => ({
  rows: clause`files`,
  joinUsers: clause`join users on users.id = files.user_id`,
  isOf: (user) => clause`files.user_id = ${user}`,
  counts: clause`files.kind in ('upload', 'result') and files.expires_at > ${now}`,
})

const sumStorage = (counter: LimitCounter, now: number): Statement =>
  clause`select cast(coalesce(sum(files.bytes), 0) as bigint) as counted from ${rowsOf(counter, files(now))}`

/** A task that waits for its turn counts too: else all that wait could run at once later. */
const runningVideos: CountedRows = {
  rows: clause`video_tasks`,
  joinUsers: clause`join users on users.id = video_tasks.user_id`,
  isOf: (user, { subject: { type, id } }) =>
    type === 'token'
      ? clause`video_tasks.user_id = ${user} and video_tasks.token_id = ${id}`
      : clause`video_tasks.user_id = ${user}`,
  counts: clause`video_tasks.phase in ('waiting', 'submitting', 'submitted') and video_tasks.undecided_at is null`,
}

import type { Database } from '../database/database.ts'
import { sql } from '../database/statement.ts'

/** Tasks of one user in one pool of slots that run or wait. */
export interface VideoSlotUse {
  readonly pool: string
  /** Id of the user. */
  readonly user: string
  /** Undefined: a user of a host app. */
  readonly userName?: string
  readonly running: number
  readonly waiting: number
}

/** The slots of video tasks, for operators. */
export interface VideoSlotRecords {
  /** The users with the most running and waiting tasks, at most 1,000 of each. */
  videoSlotUse(): Promise<readonly VideoSlotUse[]>
}

interface Counted {
  readonly pool: string
  readonly user: string
  readonly userName?: string
  readonly count: number
}

const maxRows = 1_000

export const videoSlotUse = (database: Database): VideoSlotRecords => ({
  async videoSlotUse() {
    const [running, waiting] = await Promise.all([
      database.query<Counted>(sql`
        select counted.pool, counted.user_id as "user", users.name as "userName", counted.count
        from (
          select pool, user_id, count(*) as count
          from video_tasks
          where phase in ('submitting', 'submitted')
          and undecided_at is null
          and pool is not null
          group by pool, user_id
          order by count(*) desc
          limit ${maxRows}
        ) counted
        left join users on users.id = counted.user_id`),
      database.query<Counted>(sql`
        select counted.pool, counted.user_id as "user", users.name as "userName", counted.count
        from (
          select pool, user_id, count(*) as count
          from video_tasks
          where phase = 'waiting'
          group by pool, user_id
          order by count(*) desc
          limit ${maxRows}
        ) counted
        left join users on users.id = counted.user_id
        where counted.pool is not null`),
    ])
    const uses = new Map<string, VideoSlotUse>()
    for (const [name, rows] of [
      ['running', running],
      ['waiting', waiting],
    ] as const) {
      for (const { pool, user, userName, count } of rows) {
        const key = JSON.stringify([pool, user])
        const use = uses.get(key) ?? { pool, user, ...(userName !== undefined && { userName }), running: 0, waiting: 0 }
        uses.set(key, { ...use, [name]: Number(count) })
      }
    }
    return [...uses.values()]
  },
})

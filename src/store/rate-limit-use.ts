import { type Database, sql } from './database/database.ts'

/** The use of the rate limit of one action. */
export interface RateLimitUse {
  readonly action: string
  /** Calls that run, or have ended within the last period: at most as many as the limit allows in one. */
  readonly calls: number
  /** Users whose calls wait. */
  readonly waiting: number
}

/** The use of the upstream's rate limits by all processes, for operators. */
export interface RateLimitRecords {
  /** The use of each of the actions. */
  rateLimitUse(actions: readonly string[], now: number): Promise<readonly RateLimitUse[]>
}

export const rateLimitUse = (database: Database): RateLimitRecords => ({
  rateLimitUse: (actions, now) =>
    Promise.all(
      actions.map(async (action) => {
        const [found] = await database.query<Pick<RateLimitUse, 'calls' | 'waiting'>>(sql`
          select (
            select count(*)
            from upstream_places
            where action = ${action}
            and (free_at > ${now} or lease_until > ${now})
          ) as calls, (
            select count(*)
            from upstream_turns
            where action = ${action}
            and waits_until > ${now}
          ) as waiting`)
        return { action, calls: Number(found?.calls), waiting: Number(found?.waiting) }
      }),
    ),
})

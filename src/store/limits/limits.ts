import { type Log, noLog } from '../../../plugins/shared/problem.ts'
import type { LimitStore } from '../../../plugins/usage-limits/store.ts'
import type { Database } from '../database/database.ts'
import { isOfOneRow } from '../database/error.ts'
import { applyExchange, LostHolderError } from './exchange.ts'
import { deletePast, listLapsed, putOffLapsed, settleLapsed } from './holds.ts'
import { readSubjects } from './subjects.ts'
import { readUse } from './use.ts'

/** The use of limits, shared by all processes on one database. */
export const createLimitStore = (
  database: Database,
  { log = noLog }: { readonly log?: Log | undefined } = {},
): LimitStore => ({
  exchange: (exchange) =>
    database
      .transaction(() => applyExchange(exchange))
      .catch((error: unknown) => {
        if (error instanceof LostHolderError) return undefined
        throw error
      }),

  limitUse: (counters, now) => database.transaction(() => readUse(counters, now)),

  async sweepLimits(now) {
    for (const { holder } of await database.query<{ holder: string }>(listLapsed(now))) {
      try {
        await database.transaction(() => settleLapsed(holder, now))
      } catch (error) {
        if (!isOfOneRow(error)) throw error
        log.warn({ err: error, holder }, 'an ended lease on limits cannot be settled')
        await database.query(putOffLapsed(holder, now))
      }
    }
    await database.query(deletePast(now))
  },

  limitSubjects: (user, token) => readSubjects(database, user, token),
})

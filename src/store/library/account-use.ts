import type { AccountUseStore } from '../../../plugins/asset-library/accounts/store.ts'
import type { Database } from '../database/database.ts'
import { sql } from '../database/statement.ts'

/** How full the accounts of the asset library are. */
export const accountUse = (database: Database): AccountUseStore => ({
  async accountUse() {
    const counted = await database.query<{ account: string; used: number }>(sql`
      select account, sum(groups + assets) as used
      from library_counts
      group by account`)
    return new Map(counted.map(({ account, used }) => [account, Number(used)]))
  },
})

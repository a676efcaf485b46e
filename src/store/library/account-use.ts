import type { AccountUseStore } from '../../../plugins/asset-library/accounts/store.ts'
import { type Database, sql } from '../database/database.ts'

/** How full the accounts of the asset library are. It reads all groups and assets: a library with slots is small. */
export const accountUse = (database: Database): AccountUseStore => ({
  async accountUse() {
    const counted = await database.query<{ account: string; used: number }>(sql`
      select coalesce(account, '') as account, sum(1 + (
          select count(*)
          from assets
          where assets.group_id = groups.group_id
          and assets.deleted_at is null
        )) as used
      from groups
      where state = 'owned'
      group by coalesce(account, '')`)
    return new Map(counted.map(({ account, used }) => [account, Number(used)]))
  },
})

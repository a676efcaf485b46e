import type { PictureRecord, PictureStore } from '../../../plugins/asset-library/index.ts'
import type { Database } from '../database/database.ts'
import { sql } from '../database/statement.ts'

/** Which pictures of users are assets. */
export const createPictureStore = (database: Database): PictureStore => ({
  async picture(user, digest) {
    const [found] = await database.query<PictureRecord>(sql`
      select user_id as "user", digest, group_id as "group", asset_id as asset, claimed_at as "claimedAt",
        lease_until as "leaseUntil"
      from registered_pictures
      where user_id = ${user}
      and digest = ${digest}`)
    return found
  },

  async claimPicture({ user, digest, group, claimedAt, leaseUntil }) {
    const claimed = await database.query(sql`
      insert into registered_pictures (user_id, digest, group_id, claimed_at, lease_until)
      values (${user}, ${digest}, ${group}, ${claimedAt}, ${leaseUntil})
      on conflict (user_id, digest) do nothing
      returning digest`)
    return claimed.length === 1
  },

  async confirmPicture({ user, digest, claimedAt }, asset) {
    const confirmed = await database.query(sql`
      update registered_pictures
      set asset_id = ${asset}
      where user_id = ${user}
      and digest = ${digest}
      and claimed_at = ${claimedAt}
      and asset_id is null
      returning digest`)
    return confirmed.length === 1
  },

  async forgetPicture({ user, digest, claimedAt, asset }) {
    await database.query(sql`
      delete from registered_pictures
      where user_id = ${user}
      and digest = ${digest}
      and claimed_at = ${claimedAt}
      and coalesce(asset_id, '') = ${asset ?? ''}`)
  },
})

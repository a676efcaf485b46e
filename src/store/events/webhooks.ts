import type { StoredWebhook, WebhookStore } from '../../../plugins/events/webhooks/webhook-store.ts'
import type { Database } from '../database/database.ts'
import { sql } from '../database/statement.ts'
import { lockUser } from '../database/user-locks.ts'

type WebhookRow = Omit<StoredWebhook, 'types'> & { readonly types?: string }

/** Waiting events are counted up to this number. */
const maxCounted = 1_000

/** The webhooks of users. */
export const createWebhookStore = (database: Database): WebhookStore => ({
  async addWebhook({ id, user, url, types, secret, createdAt }, max) {
    // Between two spaces each, so that a search with spaces finds whole types only.
    const typeText = types && ` ${types.join(' ')} `
    const [, added] = await database.batch([
      lockUser(user),
      sql`
        insert into webhooks (id, user_id, url, types, secret, created_at, failures, paused_until, lease_until)
        select cast(${id} as text), cast(${user} as text), cast(${url} as text), cast(${typeText} as text),
          cast(${secret} as text), cast(${createdAt} as bigint), 0, 0, 0
        where (
          select count(*)
          from webhooks
          where user_id = ${user}
        ) < cast(${max} as bigint)
        returning id`,
    ])
    return added?.length === 1
  },

  async listWebhooks(user) {
    const rows = await database.query<WebhookRow>(sql`
      select id, url, types, created_at as "createdAt", delivered_at as "deliveredAt", failing_since as "failingSince",
        last_error as "lastError", disabled_at as "disabledAt", (
          select count(*)
          from (
            select 1
            from deliveries
            where webhook_id = webhooks.id
            limit ${maxCounted}
          ) counted
        ) as waiting
      from webhooks
      where user_id = ${user}
      order by created_at, id`)
    return rows.map(({ types, ...row }) => (types === undefined ? row : { ...row, types: types.trim().split(' ') }))
  },

  async deleteWebhook(user, id) {
    const [deleted] = await database.batch([
      sql`
        delete from webhooks
        where id = ${id}
        and user_id = ${user}
        returning id`,
      sql`
        delete from deliveries
        where webhook_id = ${id}
        and not exists (
          select 1
          from webhooks
          where id = ${id}
        )`,
    ])
    return deleted?.length === 1
  },
})

import { type Statement, sql } from '../../database/statement.ts'

/** A migration: idempotency keys. Never change it. */
export const idempotencyTables: readonly Statement[] = [
  // `holder` is the request that holds the key, `attempt` the one whose outcome is not known. A kept response has a
  // status; its `body` is base64. The users may be users of a host app, so `user_id` is no foreign key.
  sql`
    create table idempotency_keys (
      user_id text not null,
      route text not null,
      key text not null,
      fingerprint text not null,
      holder text not null,
      attempt text not null,
      attempted_at bigint not null,
      lease_until bigint not null,
      expires_at bigint not null,
      status integer,
      headers text,
      body text,
      primary key (user_id, route, key)
    )`,
  sql`create index idempotency_keys_of_user on idempotency_keys (user_id, expires_at)`,
  sql`create index idempotency_keys_by_end on idempotency_keys (expires_at)`,
]

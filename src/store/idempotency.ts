import { Buffer } from 'node:buffer'
import type { ClaimedKey, HeldKey, IdempotencyStore, KeptResponse, KeyClaim } from '../../plugins/idempotency/store.ts'
import type { Database } from './database/database.ts'
import { deleteOldest } from './database/oldest-rows.ts'
import { clause, type Statement, sql } from './database/statement.ts'

interface KeyRow {
  readonly fingerprint: string
  readonly status?: number
  readonly headers?: string
  readonly body?: string
}

/**
 * Idempotency keys. Every change repeats the holder that it expects, so a request that has lost its key changes
 * nothing.
 */
export const createIdempotencyStore = (database: Database): IdempotencyStore => {
  const isDone = async (statement: Statement): Promise<boolean> => (await database.query(statement)).length === 1

  /** Runs a change or a deletion if the holder still has the key without a response. */
  const whileHeld = (change: Statement, { user, route, key, holder }: HeldKey) =>
    isDone(
      clause`
        ${change}
        where user_id = ${user}
        and route = ${route}
        and key = ${key}
        and holder = ${holder}
        and status is null
        returning holder`,
    )

  const add = ({ user, route, key, holder, fingerprint, now, leaseUntil, expiresAt }: KeyClaim, maxKeys: number) =>
    isDone(sql`
      insert into idempotency_keys (
        user_id, route, key, fingerprint, holder, attempt, attempted_at, lease_until, expires_at
      )
      select cast(${user} as text), cast(${route} as text), cast(${key} as text), cast(${fingerprint} as text),
        cast(${holder} as text), cast(${holder} as text), cast(${now} as bigint), cast(${leaseUntil} as bigint),
        cast(${expiresAt} as bigint)
      where (
        select count(*)
        from idempotency_keys
        where user_id = ${user}
        and expires_at > ${now}
      ) < cast(${maxKeys} as bigint)
      on conflict (user_id, route, key) do update
      set fingerprint = excluded.fingerprint, holder = excluded.holder, attempt = excluded.attempt,
        attempted_at = excluded.attempted_at, lease_until = excluded.lease_until, expires_at = excluded.expires_at,
        status = null, headers = null, body = null
      where idempotency_keys.expires_at <= ${now}
      returning holder`)

  const resume = async ({ user, route, key, holder, fingerprint, now, leaseUntil, expiresAt }: KeyClaim) => {
    const [earlier] = await database.query<{ id: string; startedAt: number }>(sql`
      update idempotency_keys
      set holder = ${holder}, lease_until = ${leaseUntil}, expires_at = ${expiresAt}
      where user_id = ${user}
      and route = ${route}
      and key = ${key}
      and fingerprint = ${fingerprint}
      and status is null
      and lease_until <= ${now}
      and expires_at > ${now}
      returning attempt as id, attempted_at as "startedAt"`)
    return earlier
  }

  /** Undefined: the key is absent, or was deleted meanwhile. */
  const find = async ({ user, route, key, fingerprint, now }: KeyClaim): Promise<ClaimedKey | undefined> => {
    const [row] = await database.query<KeyRow>(sql`
      select fingerprint, status, headers, body
      from idempotency_keys
      where user_id = ${user}
      and route = ${route}
      and key = ${key}
      and expires_at > ${now}`)
    if (!row) return undefined
    if (row.fingerprint !== fingerprint) return { state: 'mismatch' }
    return row.status === undefined ? { state: 'running' } : { state: 'answered', response: responseOfRow(row) }
  }

  return {
    async claim(wanted, maxKeys) {
      // Twice, because another request may delete the key between two of these.
      for (let tries = 0; tries < 2; tries++) {
        if (await add(wanted, maxKeys)) return { state: 'claimed' }
        const earlier = await resume(wanted)
        if (earlier) return { state: 'resumed', earlier }
        const found = await find(wanted)
        if (found) return found
      }
      const [oldest] = await database.query<{ end?: number }>(sql`
        select min(expires_at) as "end"
        from idempotency_keys
        where user_id = ${wanted.user}
        and expires_at > ${wanted.now}`)
      return { state: 'full', freeAt: oldest?.end ?? wanted.now }
    },

    restart: (held: HeldKey, startedAt: number, leaseUntil: number) =>
      whileHeld(
        clause`
        update idempotency_keys
        set attempt = ${held.holder}, attempted_at = ${startedAt}, lease_until = ${leaseUntil}`,
        held,
      ),

    keep: (held: HeldKey, { status, headers, body }: KeptResponse, expiresAt: number) =>
      whileHeld(
        clause`
        update idempotency_keys
        set status = ${status}, headers = ${JSON.stringify(headers)}, body = ${body && Buffer.from(body).toString('base64')},
          expires_at = ${expiresAt}`,
        held,
      ),

    end: (held: HeldKey, now: number, expiresAt: number) =>
      whileHeld(
        clause`
        update idempotency_keys
        set lease_until = ${now}, expires_at = ${expiresAt}`,
        held,
      ),

    release: (held: HeldKey) =>
      whileHeld(
        clause`
        delete from idempotency_keys`,
        held,
      ),

    async sweep(now, max) {
      const swept = await database.query(deleteExpiredKeys(now, max))
      return swept.length
    },
  }
}

export const deleteExpiredKeys = (now: number, max: number): Statement =>
  deleteOldest(
    {
      ...{ table: clause`idempotency_keys`, time: clause`expires_at`, key: clause`user_id, route, key` },
      where: clause`expires_at <= ${now}`,
    },
    max,
  )

const responseOfRow = ({ status = 0, headers = '{}', body }: KeyRow): KeptResponse => ({
  status,
  headers: JSON.parse(headers),
  body: body === undefined ? undefined : new Uint8Array(Buffer.from(body, 'base64')),
})

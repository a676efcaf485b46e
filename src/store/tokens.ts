import { randomUUID } from 'node:crypto'
import type { TokenOwner } from '../../plugins/api-token/store.ts'
import { type Database, sql } from './database.ts'
import { tokenAdded, tokenRevoked } from './revision.ts'
import { lockUser } from './user-locks.ts'

/** What is kept of a token. Times are milliseconds since 1970. */
export interface Token {
  readonly id: string
  /** Id of its user. */
  readonly user: string
  readonly userName: string
  /** First characters of the token, to tell one from another. */
  readonly start: string
  readonly label?: string
  readonly createdAt: number
  /** Undefined: never. */
  readonly expiresAt?: number
  readonly revokedAt?: number
}

/** What is kept of a new token. `user` is the id of one that exists; `hash` the hex SHA-256 of the whole token. */
type NewToken = { readonly hash: string } & Pick<Token, 'user' | 'start' | 'label' | 'createdAt' | 'expiresAt'>

interface AddToken {
  /** The new token's id. */
  (token: NewToken): Promise<string>
  /**
   * Undefined, and nothing, when the user has so many already that work, or has been given ten times as many within a day: in all processes together, however many are
   * made at once.
   */
  (token: NewToken, most: number): Promise<string | undefined>
}

/** Ended tokens are kept so long, for whoever looks into the list for what has become of one. */
const endedKeptMs = 30 * 86_400_000
/** As many of them are deleted whenever a token is added: more than are made. */
const sweepAtOnce = 100
/** Who makes tokens only to revoke them fills no database. So many for each that may work at once. */
const perDay = 10
const dayMs = 86_400_000

/** Tokens, by their hashes. */
export const tokens = (database: Database) => ({
  async ownerOf(hash: string): Promise<TokenOwner | undefined> {
    const [owner] = await database.query<TokenOwner>(sql`
      select tokens.user_id as "user", tokens.id as token, tokens.expires_at as "expiresAt"
      from tokens
      join users on users.id = tokens.user_id
      where tokens.hash = ${hash}
      and tokens.revoked_at is null
      and users.disabled_at is null`)
    return owner
  },

  addToken: (async (
    { user, hash, start, label, createdAt, expiresAt }: NewToken,
    most?: number,
  ): Promise<string | undefined> => {
    const before = createdAt - endedKeptMs
    const [, added] = await database.batch([
      lockUser(user),
      // Three counts, each of which an index answers.
      sql`
        insert into tokens (id, user_id, hash, start, label, created_at, expires_at)
        select cast(${randomUUID()} as text), cast(${user} as text), cast(${hash} as text), cast(${start} as text),
          cast(${label} as text), cast(${createdAt} as bigint), cast(${expiresAt} as bigint)
        where (
          select count(*)
          from tokens
          where user_id = ${user}
          and revoked_at is null
          and expires_at is null
        ) + (
          select count(*)
          from tokens
          where user_id = ${user}
          and revoked_at is null
          and expires_at > ${createdAt}
        ) < cast(${most ?? Number.MAX_SAFE_INTEGER} as bigint)
        and (
          select count(*)
          from tokens
          where user_id = ${user}
          and created_at > ${createdAt - dayMs}
        ) < cast(${most ?? Number.MAX_SAFE_INTEGER} as bigint) * ${perDay}
        returning id`,
      sql`
        delete from tokens
        where id in (
          select id
          from tokens
          where revoked_at < ${before}
          order by revoked_at
          limit ${sweepAtOnce}
        )`,
      sql`
        delete from tokens
        where id in (
          select id
          from tokens
          where expires_at < ${before}
          order by expires_at
          limit ${sweepAtOnce}
        )`,
      ...tokenAdded(hash),
    ])
    return added?.[0] === undefined ? undefined : String(added[0].id)
  }) as AddToken,

  /** Oldest first: of one user (by id), those that work at a time; or of that user or everybody all that there are, ended ones for 30 days and more. */
  async listTokens(user?: string, workingAt?: number): Promise<readonly Token[]> {
    const found = await database.query<Token>(
      user === undefined
        ? sql`
            select tokens.id, tokens.user_id as "user", users.name as "userName", tokens.start, tokens.label,
              tokens.created_at as "createdAt", tokens.expires_at as "expiresAt", tokens.revoked_at as "revokedAt"
            from tokens
            join users on users.id = tokens.user_id
            order by tokens.created_at, tokens.id`
        : workingAt === undefined
          ? sql`
              select tokens.id, tokens.user_id as "user", users.name as "userName", tokens.start, tokens.label,
                tokens.created_at as "createdAt", tokens.expires_at as "expiresAt", tokens.revoked_at as "revokedAt"
              from tokens
              join users on users.id = tokens.user_id
              where tokens.user_id = ${user}
              order by tokens.created_at, tokens.id`
          : sql`
              select tokens.id, tokens.user_id as "user", users.name as "userName", tokens.start, tokens.label,
                tokens.created_at as "createdAt", tokens.expires_at as "expiresAt", tokens.revoked_at as "revokedAt"
              from tokens
              join users on users.id = tokens.user_id
              where tokens.user_id = ${user}
              and tokens.revoked_at is null
              and (tokens.expires_at is null or tokens.expires_at > ${workingAt})
              order by tokens.created_at, tokens.id`,
    )
    return found
  },

  /**
   * Since when it is revoked: now, or earlier for one that was already. Undefined when there is no such token, or it is not that user's (by id). Raises the revision,
   * where it was not revoked.
   */
  async revokeToken(id: string, now: number, user?: string): Promise<number | undefined> {
    const [revoked] = await database.batch([
      sql`
        update tokens
        set revoked_at = coalesce(revoked_at, ${now})
        where id = ${id}
        and user_id = coalesce(${user}, user_id)
        returning revoked_at as since`,
      ...tokenRevoked(id, now),
    ])
    return revoked?.[0] && Number(revoked[0].since)
  },
})

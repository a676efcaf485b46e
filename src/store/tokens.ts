import { randomUUID } from 'node:crypto'
import type { TokenOwner } from '../../plugins/api-token/store.ts'
import { type Database, sql } from './database.ts'
import { raiseRevision } from './revision.ts'

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

  /** The new token's id. `user` is the id of one that exists; `hash` the hex SHA-256 of the whole token. */
  async addToken(
    token: { readonly hash: string } & Pick<Token, 'user' | 'start' | 'label' | 'createdAt' | 'expiresAt'>,
  ): Promise<string> {
    const id = randomUUID()
    await database.query(sql`
      insert into tokens (id, user_id, hash, start, label, created_at, expires_at)
      values (
        ${id}, ${token.user}, ${token.hash}, ${token.start}, ${token.label}, ${token.createdAt}, ${token.expiresAt}
      )`)
    return id
  },

  /** Oldest first; of one user (by id) or of all. */
  async listTokens(user?: string): Promise<readonly Token[]> {
    return database.query<Token>(sql`
      select tokens.id, tokens.user_id as "user", users.name as "userName", tokens.start, tokens.label,
        tokens.created_at as "createdAt", tokens.expires_at as "expiresAt", tokens.revoked_at as "revokedAt"
      from tokens
      join users on users.id = tokens.user_id
      where users.id = coalesce(${user}, users.id)
      order by tokens.created_at, tokens.id`)
  },

  /** False when there is no such token, or it is not that user's (by id). One that is revoked already stays so since then. Raises the revision. */
  async revokeToken(id: string, now: number, user?: string): Promise<boolean> {
    const [revoked] = await database.batch([
      sql`
        update tokens
        set revoked_at = coalesce(revoked_at, ${now})
        where id = ${id}
        and user_id = coalesce(${user}, user_id)
        returning id`,
      raiseRevision,
    ])
    return revoked?.length === 1
  },
})

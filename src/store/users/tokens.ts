import { randomUUID } from 'node:crypto'
import type { TokenOwner } from '../../../plugins/api-token/store.ts'
import { defaultScopes, type Scope } from '../../../plugins/shared/identity/scopes.ts'
import type { Database, Steps } from '../database/database.ts'
import { tokenAdded, tokenChanged, tokenRevoked } from '../database/revision.ts'
import { fragment, sql } from '../database/statement.ts'
import { lockUser } from '../database/user-locks.ts'
import {
  labelKey,
  modelsColumn,
  modelsOf,
  type NewSecret,
  scopesColumn,
  scopesOf,
  sweepTokens,
  type TokenListColumns,
  updateSecret,
} from './token-rows.ts'

/** The stored record of an API token. Times are milliseconds since 1970. */
export interface Token {
  readonly id: string
  /** Id of its user. */
  readonly user: string
  /** Name of its user; the id, for a user of a host app. */
  readonly userName: string
  /** First characters of the token, so that a user can recognize it. */
  readonly start: string
  readonly label?: string
  readonly createdAt: number
  /** Undefined: the token never expires. */
  readonly expiresAt?: number
  readonly revokedAt?: number
  readonly scopes: readonly Scope[]
  /** The models that it may use; `*` at the end of one stands for any rest. Undefined: all. */
  readonly models?: readonly string[]
  /** A minute late at most. Undefined: not used yet. */
  readonly lastUsedAt?: number
  /** Until when the secret before the last rotation works. Undefined: it does not. */
  readonly oldUntil?: number
  /** Whether an operator has given it limits of its own. Undefined: no. */
  readonly hasLimits?: true
}

/**
 * A new token. `user` is the id of a user of the store, or of a host app: any id that no user of the store has. `hash`
 * is the hex SHA-256 of the whole token.
 */
type NewToken = { readonly hash: string } & Pick<Token, 'user' | 'start' | 'label' | 'createdAt' | 'expiresAt'> &
  Partial<Pick<Token, 'scopes' | 'models'>>

interface AddToken {
  /** Returns the id of the new token. */
  (token: NewToken): Promise<string>
  /**
   * Returns undefined, and adds nothing, when the user already has `max` active tokens, or has created ten times as
   * many within a day. The maximum holds across all processes and concurrent calls.
   */
  (token: NewToken, max: number): Promise<string | undefined>
}

/** API tokens, by their hashes. */
export interface TokenRecords {
  /** The scopes and models of tokens are kept. */
  readonly keepsScopes: true
  ownerOf(hash: string): Promise<TokenOwner | undefined>
  readonly addToken: AddToken
  /**
   * Lists tokens, oldest first: all, those of one user (by id), or those of one user that are active at the time
   * `workingAt`. The first two include revoked and expired tokens of the last 30 days or more.
   */
  listTokens(user?: string, workingAt?: number): Promise<readonly Token[]>
  /**
   * Revokes a token, and returns the time of its revocation: earlier than `now` if it was revoked before. Undefined
   * when the token does not exist, or does not belong to `user` (an id). Raises the revision, unless the token was
   * revoked before.
   */
  revokeToken(id: string, now: number, user?: string): Promise<number | undefined>
  /**
   * Gives a valid token of `user` (an id) a new secret; its id stays. `other-scopes`: it has others than `ifScopes`.
   * Nothing changes with any other word than `changed`.
   */
  rotateOwnToken(
    id: string,
    secret: NewSecret,
    user: string,
    ifScopes: readonly Scope[],
  ): Promise<'changed' | 'unknown' | 'other-scopes'>
}

/**
 * A user may create this many times the maximum of active tokens a day: creating and revoking in a loop must not fill
 * the database.
 */
const maxPerDayFactor = 10
const dayMs = 86_400_000

const listedColumns = fragment`
  tokens.id, tokens.user_id as "user", coalesce(users.name, tokens.user_id) as "userName", tokens.start, tokens.label,
  tokens.created_at as "createdAt", tokens.expires_at as "expiresAt", tokens.revoked_at as "revokedAt",
  tokens.scopes, tokens.models, tokens.last_used_at as "lastUsedAt", tokens.old_until as "oldUntil",
  case when tokens.limits is null or tokens.limits = '[]' then 0 else 1 end as limited`

type TokenRow = Omit<Token, 'scopes' | 'models' | 'hasLimits'> & TokenListColumns & { readonly limited: 0 | 1 }

const toToken = ({ scopes, models, limited, ...token }: TokenRow): Token => ({
  ...token,
  scopes: scopesOf(scopes),
  ...(models !== undefined && { models: modelsOf(models) }),
  ...(limited === 1 && { hasLimits: true }),
})

type OwnerRow = Omit<TokenOwner, 'scopes' | 'models'> & TokenListColumns

/** API tokens, by their hashes. */
export const createTokenStore = (database: Database): TokenRecords => ({
  keepsScopes: true,

  async ownerOf(hash: string): Promise<TokenOwner | undefined> {
    const [owner] = await database.query<OwnerRow>(sql`
      select tokens.user_id as "user", tokens.id as token, tokens.scopes, tokens.models, users.role,
        case
          when tokens.hash = ${hash} then tokens.expires_at
          when tokens.expires_at < tokens.old_until then tokens.expires_at
          else tokens.old_until
        end as "expiresAt"
      from tokens
      left join users on users.id = tokens.user_id
      where (tokens.hash = ${hash} or tokens.old_hash = ${hash})
      and tokens.revoked_at is null
      and (users.id is not null or tokens.host_user = 1)
      and users.disabled_at is null
      and not exists (
        select 1
        from disabled_host_users
        where disabled_host_users.id = tokens.user_id
      )`)
    if (!owner) return undefined
    const { scopes, models, ...rest } = owner
    return { ...rest, scopes: scopesOf(scopes), ...(models !== undefined && { models: modelsOf(models) }) }
  },

  addToken: (async (
    { user, hash, start, label, createdAt, expiresAt, scopes = defaultScopes, models }: NewToken,
    max?: number,
  ): Promise<string | undefined> => {
    const [, added] = await database.batch([
      lockUser(user),
      // Three counts, because each of them uses an index of its own.
      sql`
        insert into tokens (
          id, user_id, hash, start, label, label_key, scopes, models, created_at, expires_at, host_user
        )
        select cast(${randomUUID()} as text), cast(${user} as text), cast(${hash} as text), cast(${start} as text),
          cast(${label} as text), cast(${labelKey(label)} as text), cast(${scopesColumn(scopes)} as text),
          cast(${modelsColumn(models)} as text), cast(${createdAt} as bigint), cast(${expiresAt} as bigint),
          case
            when exists (
              select 1
              from users
              where id = ${user}
            ) then 0
            else 1
          end
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
        ) < cast(${max ?? Number.MAX_SAFE_INTEGER} as bigint)
        and (
          select count(*)
          from tokens
          where user_id = ${user}
          and created_at > ${createdAt - dayMs}
        ) < cast(${max ?? Number.MAX_SAFE_INTEGER} as bigint) * ${maxPerDayFactor}
        returning id`,
      ...sweepTokens(createdAt),
      ...tokenAdded(hash),
    ])
    return added?.[0] === undefined ? undefined : String(added[0].id)
  }) as AddToken,

  async listTokens(user?: string, workingAt?: number): Promise<readonly Token[]> {
    const found = await database.query<TokenRow>(
      user === undefined
        ? sql`
            select ${listedColumns}
            from tokens
            left join users on users.id = tokens.user_id
            order by tokens.created_at, tokens.id`
        : workingAt === undefined
          ? sql`
              select ${listedColumns}
              from tokens
              left join users on users.id = tokens.user_id
              where tokens.user_id = ${user}
              order by tokens.created_at, tokens.id`
          : sql`
              select ${listedColumns}
              from tokens
              left join users on users.id = tokens.user_id
              where tokens.user_id = ${user}
              and tokens.revoked_at is null
              and (tokens.expires_at is null or tokens.expires_at > ${workingAt})
              order by tokens.created_at, tokens.id`,
    )
    return found.map(toToken)
  },

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

  rotateOwnToken: (id, secret, user, ifScopes) => database.transaction(() => rotateSteps(id, secret, user, ifScopes)),
})

function* rotateSteps(
  id: string,
  secret: NewSecret,
  user: string,
  ifScopes: readonly Scope[],
): Steps<Awaited<ReturnType<TokenRecords['rotateOwnToken']>>> {
  yield lockUser(user)
  const [found] = (yield sql`
    select hash, old_hash as "oldHash", scopes
    from tokens
    where id = ${id}
    and user_id = ${user}
    and revoked_at is null
    and (expires_at is null or expires_at > ${secret.now})`) as unknown as readonly Secrets[]
  if (!found) return 'unknown'
  if (!scopesOf(found.scopes).every((scope) => ifScopes.includes(scope))) return 'other-scopes'
  yield updateSecret(id, secret)
  yield* tokenChanged(...[found.hash, found.oldHash, secret.hash].filter((hash) => hash !== undefined))
  return 'changed'
}

interface Secrets extends Pick<TokenListColumns, 'scopes'> {
  readonly hash: string
  readonly oldHash?: string
}

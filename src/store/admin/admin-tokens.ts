import { randomUUID } from 'node:crypto'
import type {
  AdminStore,
  NewAdminToken,
  TokenChange,
  TokenConditions,
  TokenOutcome,
} from '../../../plugins/admin/store.ts'
import type { Role } from '../../../plugins/shared/identity/scopes.ts'
import type { Database, Steps } from '../database/database.ts'
import { tokenChanged } from '../database/revision.ts'
import { type Statement, sql } from '../database/statement.ts'
import { lockKnownUser } from '../database/user-locks.ts'
import {
  labelKey,
  modelsColumn,
  scopesColumn,
  scopesOf,
  sweepTokens,
  type TokenListColumns,
  updateSecret,
} from '../users/token-rows.ts'
import { pageOf } from './page.ts'
import { listTokenPage, matchingTokens, type TokenRow, toAdminToken, tokenOfId } from './token-queries.ts'
import { flag } from './transaction.ts'

type TokenMethods =
  | 'listAdminTokens'
  | 'listUserTokens'
  | 'adminToken'
  | 'addUserToken'
  | 'changeToken'
  | 'rotateToken'
  | 'revokeUserToken'

/** Valid tokens of one user. */
const maxTokens = 10_000

/** The tokens of all users, for operators. */
export const createAdminTokenStore = (database: Database): Pick<AdminStore, TokenMethods> => ({
  listAdminTokens: (filter, page) => listTokenPage(database, filter, page),

  async listUserTokens(user, { limit, after }) {
    const rows = await database.query<TokenRow>(matchingTokens('user', { after }, { user, now: 0 }, limit + 1))
    return pageOf(rows.map(toAdminToken), limit)
  },

  async adminToken(id) {
    const [row] = await database.query<TokenRow>(tokenOfId(id))
    return row && toAdminToken(row)
  },

  addUserToken: (user, token, { ifRole } = {}) => database.transaction(() => addSteps(user, token, ifRole)),

  changeToken: (id, change, conditions) =>
    database.transaction(() => changeSteps(id, conditions, () => updateToken(id, change))),

  rotateToken: (id, rotation, conditions) =>
    database.transaction(() => changeSteps(id, conditions, () => updateSecret(id, rotation), rotation.hash)),

  revokeUserToken: (id, now, conditions) =>
    database.transaction(() =>
      changeSteps(id, conditions, () => sql`update tokens set revoked_at = ${now} where id = ${id}`),
    ),
})

function* addSteps(user: string, token: NewAdminToken, ifRole: Role | undefined): Steps<Added> {
  yield lockKnownUser(user)
  const [owner] = yield sql`select role from users where id = ${user}`
  if (!owner) return 'unknown'
  if (ifRole !== undefined && owner.role !== ifRole) return 'other-role'
  const [counted] = yield sql`
    select count(*) as tokens
    from tokens
    where user_id = ${user}
    and revoked_at is null
    and (expires_at is null or expires_at > ${token.createdAt})`
  if (Number(counted?.tokens) >= maxTokens) return 'too-many'
  const { id = randomUUID() } = token
  yield sql`
    insert into tokens (id, user_id, hash, start, label, label_key, scopes, models, limits, created_at, expires_at)
    values (${id}, ${user}, ${token.hash}, ${token.start}, ${token.label}, ${labelKey(token.label)},
      ${scopesColumn(token.scopes)}, ${modelsColumn(token.models)}, ${token.limits}, ${token.createdAt}, ${token.expiresAt})`
  yield* sweepTokens(token.createdAt)
  yield* tokenChanged(token.hash)
  const [added] = yield tokenOfId(id)
  return toAdminToken(added as unknown as TokenRow)
}

type Added = Awaited<ReturnType<AdminStore['addUserToken']>>

interface Found extends Pick<TokenListColumns, 'scopes'> {
  readonly user: string
  readonly role?: Role
  readonly hash: string
  readonly oldHash?: string
}

/** Changes a token that is not revoked, under the lock of its user. @param newHash of the secret that it gets */
function* changeSteps(
  id: string,
  { ifRole, ifScopes }: TokenConditions = {},
  update: () => Statement,
  newHash?: string,
): Steps<TokenOutcome> {
  const [owner] = yield sql`select user_id from tokens where id = ${id}`
  if (!owner) return 'unknown'
  yield lockKnownUser(String(owner.user_id))
  const [found] = (yield sql`
    select tokens.hash, tokens.old_hash as "oldHash", tokens.scopes, users.role
    from tokens
    left join users on users.id = tokens.user_id
    where tokens.id = ${id}
    and tokens.revoked_at is null`) as unknown as readonly Found[]
  if (!found) return 'unknown'
  if (ifRole !== undefined && found.role !== ifRole) return 'other-role'
  if (ifScopes && !scopesOf(found.scopes).every((scope) => ifScopes.includes(scope))) return 'other-scopes'
  yield update()
  const hashes = [found.hash, found.oldHash, newHash].filter((hash) => hash !== undefined)
  yield* tokenChanged(...hashes)
  return 'changed'
}

const updateToken = (id: string, { label, expiresAt, scopes, models, limits }: TokenChange): Statement => sql`
  update tokens
  set label = case when ${flag(label)} = 1 then cast(${label} as text) else label end,
    label_key = case when ${flag(label)} = 1 then cast(${labelKey(label)} as text) else label_key end,
    expires_at = case when ${flag(expiresAt)} = 1 then cast(${expiresAt} as bigint) else expires_at end,
    scopes = coalesce(cast(${scopes && scopesColumn(scopes)} as text), scopes),
    models = case when ${flag(models)} = 1 then cast(${modelsColumn(models)} as text) else models end,
    limits = case when ${flag(limits)} = 1 then cast(${limits} as text) else limits end
  where id = ${id}`

import { Problem } from '../../shared/problem.ts'
import { storeCall } from '../../shared/store-call.ts'
import {
  checkFields,
  grantableScopes,
  type Input,
  integerFrom,
  limitsReader,
  optional,
  readExpiry,
  readInstant,
  readLabel,
  readModels,
  readNewScopes,
  readReference,
  readScopes,
  readText,
  readWord,
  valueOrNull,
} from '../fields.ts'
import type { OperationTools } from '../operation-tools.ts'
import type { AdminStore, AdminToken, PageOf, PageRequest, TokenFilter, TokenOutcome } from '../store.ts'
import { type AdminActor, conditionsOf, onlyAdmins, readBy } from './actor.ts'
import { userNotFound } from './users.ts'

/** A token, and its secret, which is shown once. */
export interface IssuedToken {
  readonly token: AdminToken
  readonly secret: string
}

/** Which tokens to list, at the present time. */
export type TokenQuery = Omit<TokenFilter, 'now'>

/** Operations on tokens of any user. They throw Problem. */
export interface TokenOperations {
  /** The tokens of all users. A page may have fewer items than its limit, and still a `next`. */
  listAll(actor: AdminActor, query: TokenQuery, page: PageRequest): Promise<PageOf<AdminToken>>
  /** The tokens of a user. */
  list(actor: AdminActor, user: string, page: PageRequest): Promise<PageOf<AdminToken>>
  /**
   * Fields: `label`, `expires_at`, `scopes`, `models`, `limits`.
   *
   * @param id default: a new one
   */
  add(actor: AdminActor, user: string, input: Input, id?: string): Promise<IssuedToken>
  /** As `UserOperations.added`. The secret is not known any more. */
  added(actor: AdminActor, input: Input, id: string): Promise<AdminToken | undefined>
  /** Fields: `label`, `expires_at`, `scopes`, `models`, `limits`. */
  change(actor: AdminActor, id: string, input: Input): Promise<AdminToken>
  /** Field: `overlap_seconds`. */
  rotate(actor: AdminActor, id: string, input: Input): Promise<IssuedToken>
  revoke(actor: AdminActor, id: string): Promise<void>
}

const fields = ['label', 'expires_at', 'scopes', 'models', 'limits']
const maxOverlapMs = 168 * 3_600_000

/** The message when the store fails. */
const unavailable = 'tokens could not be read or changed'

export const createTokenOperations = (
  store: AdminStore,
  { clock, createToken, hashToken, tokenStart, parseLimits }: OperationTools,
): TokenOperations => {
  const readLimits = limitsReader(parseLimits)

  /** Of a whole token, the characters that the server knows. */
  const searchFor = (text: string | undefined) => (text?.startsWith('sk-') ? tokenStart(text) : text)

  const find = async (id: string): Promise<AdminToken> => {
    const token = await storeCall(store.adminToken(id), unavailable)
    if (!token) throw tokenNotFound()
    return token
  }

  const checkScopes = (actor: AdminActor, scopes: AdminToken['scopes'] = []): void => {
    if (actor.kind === 'provision' && !scopes.every((scope) => grantableScopes.includes(scope))) throw onlyAdmins()
  }

  return {
    async listAll(actor, query, page) {
      const filter = { ...query, search: searchFor(query.search), now: clock.now() }
      return readBy(actor, 'tokens', storeCall(store.listAdminTokens(filter, page), unavailable), query.user)
    },

    async list(actor, user, page) {
      if (!(await storeCall(store.adminUser(user), unavailable))) throw userNotFound()
      return readBy(actor, 'tokens', storeCall(store.listUserTokens(user, page), unavailable), user)
    },

    async add(actor, user, input, id) {
      checkFields(input, fields)
      const createdAt = clock.now()
      const secret = createToken()
      const token = {
        id,
        label: valueOrNull(input, 'label', readLabel) ?? undefined,
        expiresAt: valueOrNull(input, 'expires_at', readExpiry(createdAt)) ?? undefined,
        scopes: readNewScopes(input),
        models: valueOrNull(input, 'models', readModels) ?? undefined,
        limits: valueOrNull(input, 'limits', readLimits) ?? undefined,
        ...{ hash: hashToken(secret), start: tokenStart(secret), createdAt },
      }
      checkScopes(actor, token.scopes)
      const added = await storeCall(store.addUserToken(user, token, conditionsOf(actor)), unavailable)
      if (added === 'unknown') throw userNotFound()
      if (added === 'other-role') throw onlyAdmins()
      if (added === 'too-many') throw new Problem(409, 'the user has too many valid tokens; revoke some first')
      await recordAdded(actor, input, added)
      return { token: added, secret }
    },

    async added(actor, input, id) {
      const token = await storeCall(store.adminToken(id), unavailable)
      if (token) await recordAdded(actor, input, token)
      return token
    },

    async change(actor, id, input) {
      checkFields(input, fields)
      const change = {
        label: valueOrNull(input, 'label', readLabel),
        expiresAt: valueOrNull(input, 'expires_at', readExpiry(clock.now())),
        scopes: input.scopes === null ? readNewScopes(input) : optional(input, 'scopes', readScopes),
        models: valueOrNull(input, 'models', readModels),
        limits: valueOrNull(input, 'limits', readLimits),
      }
      checkScopes(actor, change.scopes)
      check(await storeCall(store.changeToken(id, change, conditionsOf(actor)), unavailable))
      const token = await find(id)
      const given = fields.filter((field) => input[field] !== undefined)
      await actor.record({ action: 'token.update', target: { kind: 'token', id }, fields: given }, token.user)
      return token
    },

    async rotate(actor, id, input) {
      checkFields(input, ['overlap_seconds'])
      const overlap = valueOrNull(input, 'overlap_seconds', integerFrom(0, maxOverlapMs / 1_000)) ?? 0
      const now = clock.now()
      const secret = createToken()
      const rotation = { hash: hashToken(secret), start: tokenStart(secret), now, oldUntil: now + overlap * 1_000 }
      check(await storeCall(store.rotateToken(id, rotation, conditionsOf(actor)), unavailable))
      const token = await find(id)
      await actor.record({ action: 'token.rotate', target: { kind: 'token', id } }, token.user)
      return { token, secret }
    },

    async revoke(actor, id) {
      const { user } = await find(id)
      check(await storeCall(store.revokeUserToken(id, clock.now(), conditionsOf(actor)), unavailable))
      await actor.record({ action: 'token.revoke', target: { kind: 'token', id } }, user)
    },
  }
}

/** Fields: `search`, `user`, `state`, `used_since`, `unused_since`. */
export const readTokenQuery = (input: Input): TokenQuery => ({
  search: optional(input, 'search', readText),
  user: optional(input, 'user', readReference),
  state: optional(input, 'state', readWord(['valid', 'expired', 'revoked'])),
  usedSince: optional(input, 'used_since', readInstant),
  unusedSince: optional(input, 'unused_since', readInstant),
})

/** Before the response: no caller may receive a token that is not in the audit trail. */
const recordAdded = (actor: AdminActor, input: Input, { id, user }: AdminToken): Promise<void> => {
  const given = fields.filter((field) => input[field] !== undefined && input[field] !== null)
  return actor.record({ action: 'token.create', target: { kind: 'token', id }, fields: given }, user)
}

const tokenNotFound = () => new Problem(404, 'token not found')

const check = (outcome: TokenOutcome): void => {
  if (outcome === 'unknown') throw tokenNotFound()
  if (outcome !== 'changed') throw onlyAdmins()
}

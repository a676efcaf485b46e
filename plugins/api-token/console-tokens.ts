import { type Audit, accessDenied, noAudit } from '../shared/audit.ts'
import { type Clock, systemClock } from '../shared/clock.ts'
import { readJsonRequest, sendsBody } from '../shared/http/body/body.ts'
import type { ErrorsOption } from '../shared/http/error-handler.ts'
import { success } from '../shared/http/no-store.ts'
import { type PublicUrl, requireSameOrigin } from '../shared/http/origin.ts'
import { readId } from '../shared/id.ts'
import { type Identify, type Identity, requireIdentity } from '../shared/identity/identify.ts'
import { isTokenModel, maxTokenModels } from '../shared/identity/models.ts'
import { defaultScopes, ownScopes, type Scope } from '../shared/identity/scopes.ts'
import type { Json } from '../shared/json/json.ts'
import { nonNullMember } from '../shared/json/json.ts'
import { type Log, Problem } from '../shared/problem.ts'
import { storeCall } from '../shared/store-call.ts'
import { limitLength } from '../shared/text.ts'
import { createToken, hashToken, tokenStart } from './token.ts'

/** The stored data of a token. Times are milliseconds since 1970. */
export interface StoredToken {
  readonly id: string
  /** The first characters of the token, by which its user recognizes it. */
  readonly start: string
  readonly label?: string
  readonly createdAt: number
  /** Undefined if the token does not expire. */
  readonly expiresAt?: number
  readonly revokedAt?: number
  /** What its holder may do. Undefined: everything. */
  readonly scopes?: readonly Scope[]
  /** The models that it may use; `*` at the end of one stands for any rest. Undefined: all. */
  readonly models?: readonly string[]
  /** A minute late at most. Undefined: not used yet, or the store does not know. */
  readonly lastUsedAt?: number
  /** Until when the secret before the last rotation works. Undefined: it does not. */
  readonly oldUntil?: number
  /** Whether an operator has given it limits of its own. Undefined: no, or the store does not know. */
  readonly hasLimits?: boolean
}

/** The store port of `consoleTokens`. `user` is the id of a user. */
export interface ConsoleTokenStore {
  /**
   * Whether the store keeps the scopes and models of tokens, and `ownerOf` of the same store returns them. Otherwise a
   * request that names some is rejected: it must not get a token that may do more. Default false.
   */
  readonly keepsScopes?: boolean
  /**
   * Stores a token and returns its id. Returns undefined, without a change, if the user has reached a limit.
   *
   * The limits are `maxTokens` tokens that are valid at `createdAt`, and a limit of the store on new tokens per day.
   * They hold for concurrent calls.
   */
  addToken(
    token: Omit<StoredToken, 'id' | 'revokedAt' | 'lastUsedAt' | 'oldUntil' | 'hasLimits'> & {
      readonly user: string
      readonly hash: string
    },
    maxTokens: number,
  ): Promise<string | undefined>
  /** Returns the user's tokens that are valid at `now`, oldest first. It may also return expired or revoked tokens. */
  listTokens(user: string, now: number): Promise<readonly StoredToken[]>
  /**
   * Revokes a token and returns the time of its first revocation, which may be before `now`. Undefined if the user has
   * no such token.
   */
  revokeToken(id: string, now: number, user: string): Promise<number | undefined>
  /**
   * Gives a token of the user that is valid at `now` a new secret; its id stays. The old secret works until `oldUntil`,
   * and no longer when that is `now`. `other-scopes`: the token has others than `ifScopes`. Nothing changes with any
   * other word than `changed`. Default: there is no such route.
   */
  rotateOwnToken?(
    id: string,
    secret: { readonly hash: string; readonly start: string; readonly now: number; readonly oldUntil: number },
    user: string,
    ifScopes: readonly Scope[],
  ): Promise<'changed' | 'unknown' | 'other-scopes'>
}

/** Options of `consoleTokens`. */
export interface ConsoleTokensOptions {
  readonly store: ConsoleTokenStore
  /**
   * Authenticates by session: `identifyBySession` or a function of the host app.
   *
   * Do not use `identifyByToken`: a token must not create tokens that outlive it.
   */
  readonly identify: Identify
  /** The URL that browsers use. Requests that change something must come from a page of its origin. */
  readonly publicUrl: PublicUrl
  /** Maximum number of valid tokens of a user. From 1, default 100. */
  readonly maxTokens?: number
  /** Base path of the routes. Default `/api/tokens`. */
  readonly prefix?: string
  /** The JSON body of errors; `throw`: errors go to the `onError` of the host app. Default: `problemBody()`. */
  readonly errors?: ErrorsOption
  readonly log?: Log
  /** Receives an event for each created, rotated or revoked token. Default: none. */
  readonly audit?: Audit
  /** Default: the system clock. */
  readonly clock?: Pick<Clock, 'now'>
}

/** Creates the handlers of the routes of `consoleTokens`. They throw Problem. */
export const createConsoleTokens = (options: ConsoleTokensOptions) => {
  const { store, maxTokens = 100, clock = systemClock, audit = noAudit } = options
  if (!(maxTokens >= 1)) throw new TypeError('maxTokens must be at least 1')

  const identifyForChange = async (request: Request): Promise<Identity> => {
    const identity = await requireIdentity(options.identify, request)
    requireSameOrigin(request, options.publicUrl)
    return identity
  }

  const validTokens = async (user: string): Promise<readonly StoredToken[]> => {
    const time = clock.now()
    const tokens = await storeCall(store.listTokens(user, time), storeUnavailable)
    return tokens.filter(({ revokedAt, expiresAt }) => revokedAt === undefined && (expiresAt ?? Infinity) > time)
  }

  /** As the API shows a token. */
  const toJson = (token: StoredToken) => ({
    ...toTokenJson(token),
    ...(store.rotateOwnToken && { old_secret_until: timeOf(token.oldUntil) }),
  })

  const list = async (request: Request): Promise<Response> => {
    const { user } = await requireIdentity(options.identify, request)
    return success({ tokens: (await validTokens(user)).map(toJson) })
  }

  const create = async (request: Request): Promise<Response> => {
    const { user } = await identifyForChange(request)
    const createdAt = clock.now()
    const wanted = await readTokenRequest(request, { now: createdAt, keepsScopes: store.keepsScopes === true })
    const token = createToken()
    const data = { ...wanted, start: tokenStart(token), createdAt }
    const id = await storeCall(store.addToken({ ...data, user, hash: hashToken(token) }, maxTokens), storeUnavailable)
    if (id === undefined) throw (await validTokens(user)).length < maxTokens ? tooOften() : tooMany(maxTokens)
    // Before the response: no caller may receive a token that is not in the audit trail.
    await audit.record({ action: 'token.create', target: { kind: 'token', id } }, request)
    return success({ token: { ...toJson({ ...data, id }), token } })
  }

  const revoke = async (request: Request, id: unknown): Promise<Response> => {
    const { user } = await identifyForChange(request)
    const [known, time] = [readId(id), clock.now()]
    const revokedAt =
      known === undefined ? undefined : await storeCall(store.revokeToken(known, time, user), storeUnavailable)
    if (revokedAt === undefined) throw new Problem(404, 'token not found', { event: accessDenied('token', known) })
    // Only the first revocation is recorded: repeated requests must not fill the audit trail.
    if (revokedAt === time)
      await audit.record({ action: 'token.revoke', target: { kind: 'token', id: known } }, request)
    return success()
  }

  const rotate = async (request: Request, id: unknown): Promise<Response> => {
    const { user } = await identifyForChange(request)
    const overlapMs = await readOverlap(request)
    const [known, now, token] = [readId(id), clock.now(), createToken()]
    const secret = { hash: hashToken(token), start: tokenStart(token), now, oldUntil: now + overlapMs }
    const outcome =
      known === undefined
        ? undefined
        : await storeCall(
            store.rotateOwnToken?.(known, secret, user, ownScopes) ?? Promise.resolve(undefined),
            storeUnavailable,
          )
    if (outcome === 'other-scopes') throw new Problem(403, 'only an admin rotates a token with such scopes')
    const rotated = outcome === 'changed' ? (await validTokens(user)).find((one) => one.id === known) : undefined
    if (!rotated) throw new Problem(404, 'token not found', { event: accessDenied('token', known) })
    await audit.record({ action: 'token.rotate', target: { kind: 'token', id: known } }, request)
    return success({ token: { ...toJson(rotated), token } })
  }

  return { list, create, revoke, rotate: store.rotateOwnToken && rotate }
}

const maxBodyBytes = 8_192
/** Longest time for which the old secret works after a rotation. */
const maxOverlapMs = 168 * 3_600_000

/** Reads for how long the old secret works. The body may be missing. */
const readOverlap = async (request: Request): Promise<number> => {
  if (!sendsBody(request)) return 0
  const { json } = await readJsonRequest(request, maxBodyBytes)
  const seconds = nonNullMember(json, 'overlap_seconds')?.value() ?? 0
  if (Number.isInteger(seconds) && Number(seconds) >= 0 && Number(seconds) * 1_000 <= maxOverlapMs)
    return Number(seconds) * 1_000
  throw new Problem(400, `overlap_seconds must be an integer from 0 to ${maxOverlapMs / 1_000}`)
}

/** Reads the label and expiry of a new token. The body may be missing. */
const readTokenRequest = async (
  request: Request,
  { now, keepsScopes }: { readonly now: number; readonly keepsScopes: boolean },
): Promise<Pick<StoredToken, 'label' | 'expiresAt' | 'scopes' | 'models'>> => {
  const defaults = keepsScopes ? { scopes: defaultScopes } : {}
  if (!sendsBody(request)) return defaults
  const { json } = await readJsonRequest(request, maxBodyBytes)
  const scopes = readScopes(nonNullMember(json, 'scopes'))
  const models = readModels(nonNullMember(json, 'models'))
  if (!keepsScopes && (scopes || models)) throw new Problem(400, 'scopes and models are not supported here')
  return {
    label: readLabel(nonNullMember(json, 'label')),
    expiresAt: readExpiry(nonNullMember(json, 'expires_at'), now),
    ...defaults,
    ...(scopes && { scopes }),
    ...(models && { models }),
  }
}

const readScopes = (json: Json | undefined): readonly Scope[] | undefined => {
  if (!json) return undefined
  const words = json.elements().map((word) => word.string())
  if (words.length > 0 && words.length <= ownScopes.length && words.every(isOwnScope))
    return ownScopes.filter((scope) => words.includes(scope))
  throw new Problem(400, `scopes must be a list of one or more of ${ownScopes.join(', ')}`)
}

const isOwnScope = (word: string | undefined): word is Scope => (ownScopes as readonly unknown[]).includes(word)

const readModels = (json: Json | undefined): readonly string[] | undefined => {
  if (!json) return undefined
  const models = json.elements().map((model) => model.string())
  if (models.length > 0 && models.length <= maxTokenModels && models.every(isTokenModel)) return [...new Set(models)]
  throw new Problem(400, `models must be a list of 1 to ${maxTokenModels} models, with * at the end only`)
}

const readLabel = (json: Json | undefined): string | undefined => {
  const label = json?.string()
  if (json && (label === undefined || !label.isWellFormed() || /\p{Cc}/u.test(label))) {
    throw new Problem(400, 'label must be a string without control characters')
  }
  limitLength('label', label ?? '', 128)
  return label?.trim() || undefined
}

const iso = /^(\d{4})-(\d\d)-(\d\d)T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/

const readExpiry = (json: Json | undefined, now: number): number | undefined => {
  if (!json) return undefined
  const text = json.string() ?? ''
  const [, year, month, day] = iso.exec(text) ?? []
  const at = Date.parse(text)
  // Some engines accept the 30th of February, others do not.
  const dayExists = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day)
  if (!dayExists || Number.isNaN(at))
    throw new Problem(400, 'expires_at must be a date and time in ISO 8601 with a time zone')
  if (at <= now) throw new Problem(400, 'expires_at must be in the future')
  return at
}

const toTokenJson = ({
  id,
  label,
  start,
  createdAt,
  expiresAt,
  scopes,
  models,
  lastUsedAt,
  hasLimits = false,
}: StoredToken) => ({
  id,
  label: label ?? null,
  start,
  created_at: new Date(createdAt).toISOString(),
  expires_at: timeOf(expiresAt),
  scopes: scopes ?? null,
  models: models ?? null,
  last_used_at: timeOf(lastUsedAt),
  has_limits: hasLimits,
})

const timeOf = (at: number | undefined): string | null => (at === undefined ? null : new Date(at).toISOString())

const tooMany = (maxTokens: number) =>
  new Problem(409, `there are ${maxTokens} tokens already; revoke one first`, {
    event: { action: 'limit.reach', target: { kind: 'token' } },
  })

const tooOften = () =>
  new Problem(429, 'too many tokens were made within a day; try again later', {
    headers: { 'retry-after': '3600' },
    event: { action: 'limit.reach', target: { kind: 'token' } },
  })

/** The message when the store fails. */
const storeUnavailable = 'the token store is unavailable'

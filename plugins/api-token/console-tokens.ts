import type { AnyElysia } from 'elysia'
import { type Audit, accessRefused, noAudit } from '../shared/audit.ts'
import { announcesBody, isJson, readJsonBody } from '../shared/body.ts'
import { fallbackRoutes } from '../shared/fallback-routes.ts'
import { readId } from '../shared/id.ts'
import { type Identify, type Identity, requireIdentity } from '../shared/identify.ts'
import type { Json } from '../shared/json.ts'
import { noStore, noStoreJson } from '../shared/no-store.ts'
import { type Log, Problem, problemBody, renderProblems } from '../shared/problem.ts'
import { limitLength } from '../shared/text.ts'
import { type PublicUrl, requireSameOrigin } from '../web-session/index.ts'
import { createToken, hashToken } from './token.ts'

/** What is kept of a token. Times are milliseconds since 1970. */
export interface KeptToken {
  readonly id: string
  /** First characters of the token, to tell one from another. */
  readonly start: string
  readonly label?: string
  readonly createdAt: number
  /** Undefined: never. */
  readonly expiresAt?: number
  readonly revokedAt?: number
}

/** The port: what managing one's own tokens asks of a store. Users are given by id. */
export interface ConsoleTokenStore {
  /**
   * The new token's id. Undefined, and nothing, when the user has `most` that work at `createdAt`, or has been given too many of late, however many are made at once.
   */
  addToken(
    token: Omit<KeptToken, 'id' | 'revokedAt'> & { readonly user: string; readonly hash: string },
    most: number,
  ): Promise<string | undefined>
  /** Those that work at that time, oldest first. Ended ones may be among them. */
  listTokens(user: string, now: number): Promise<readonly KeptToken[]>
  /** Since when it is revoked: now, or earlier for one that was already. Undefined when there is no such token, or it is not that user's. */
  revokeToken(id: string, now: number, user: string): Promise<number | undefined>
}

export interface ConsoleTokensOptions {
  readonly store: ConsoleTokenStore
  /** Who has a session: `identifyBySession`, or the host app's own. Not `identifyByToken`: a token must not make others that outlive it. */
  readonly identify: Identify
  /** The address that browsers use: what changes something must come from a page of it. */
  readonly publicUrl: PublicUrl
  /** Working tokens that a user may have at once. Default 100. */
  readonly maxTokens?: number
  /** The product word in the type of errors. Default `media`. */
  readonly segment?: string
  readonly log?: Log
  /** Told of every token that is made or revoked. Default: nobody is. */
  readonly audit?: Audit
  /** Milliseconds since 1970. Default the system's clock. */
  readonly now?: () => number
}

/**
 * Gives an app of its own, with a prefix of its own, the routes by which people manage their tokens: list and create at the prefix itself, revoke below it.
 *
 *     new Elysia({ prefix: '/api/tokens' }).use(consoleTokens(options))
 *
 * GET `{"success":true,"tokens":[{"id","label","start","created_at","expires_at"}]}`: those that work, oldest first. POST takes
 * `{"label"?,"expires_at"?}` and answers `{"success":true,"token":{…,"token"}}` with the secret, this once; 409 beyond `maxTokens`, 429 for too many within a day. DELETE of an id
 * answers `{"success":true}`, and 404 alike for one that is somebody else's and one that is nobody's. Times are ISO 8601; null: never.
 */
export const consoleTokens = (options: ConsoleTokensOptions) => {
  const { store, maxTokens = 100, now = Date.now, audit = noAudit } = options
  const render = renderProblems(problemBody(`${options.segment ?? 'media'}_proxy_error`), options.log, audit)

  const changing = async (request: Request): Promise<Identity> => {
    const found = await requireIdentity(options.identify, request)
    requireSameOrigin(request, options.publicUrl)
    return found
  }

  const working = async (user: string): Promise<readonly KeptToken[]> => {
    const time = now()
    const tokens = await asked(store.listTokens(user, time))
    return tokens.filter(({ revokedAt, expiresAt }) => revokedAt === undefined && (expiresAt ?? Infinity) > time)
  }

  const list = async (request: Request): Promise<Response> => {
    const { user } = await requireIdentity(options.identify, request)
    return answer({ tokens: (await working(user)).map(shown) })
  }

  const create = async (request: Request): Promise<Response> => {
    const { user } = await changing(request)
    const createdAt = now()
    const wanted = await readWanted(request, createdAt)
    const token = createToken()
    const kept = { ...wanted, start: token.slice(0, 9), createdAt }
    const id = await asked(store.addToken({ ...kept, user, hash: hashToken(token) }, maxTokens))
    if (id === undefined) throw (await working(user)).length < maxTokens ? tooOften() : tooMany(maxTokens)
    // Before anybody has the token: none works without a trace.
    await audit.record({ action: 'token.create', target: { kind: 'token', id } }, request)
    return answer({ token: { ...shown({ ...kept, id }), token } })
  }

  const revoke = async (request: Request, id: unknown): Promise<Response> => {
    const { user } = await changing(request)
    const [known, time] = [readId(id), now()]
    const since = known === undefined ? undefined : await asked(store.revokeToken(known, time, user))
    if (since === undefined) throw new Problem(404, 'token not found', { event: accessRefused('token', known) })
    // Not once more for one that was revoked already, which could go on for ever.
    if (since === time) await audit.record({ action: 'token.revoke', target: { kind: 'token', id: known } }, request)
    return answer({})
  }

  return <App extends AnyElysia>(app: App): App => {
    app
      .onError(({ error, code, request }) => noStore(render({ error, code, request })))
      .get('', ({ request }) => list(request))
      .post('', ({ request }) => create(request), { parse: 'none' })
      .delete('/:id', ({ request, params }) => revoke(request, params.id), { parse: 'none' })
    return fallbackRoutes(app)
  }
}

const maxBodyBytes = 8_192

/** The fields of a body, which may be absent. */
const readWanted = async (request: Request, now: number): Promise<Pick<KeptToken, 'label' | 'expiresAt'>> => {
  if (!announcesBody(request.headers) && !request.headers.has('content-type')) return {}
  if (!isJson(request.headers)) throw new Problem(415, 'content type must be application/json')
  const { json } = await readJsonBody(request, maxBodyBytes)
  return { label: readLabel(given(json, 'label')), expiresAt: readExpiry(given(json, 'expires_at'), now) }
}

/** A member that is not null. */
const given = (json: Json, key: string): Json | undefined => {
  const value = json.get(key)
  return value?.is('null') ? undefined : value
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
  // Engines disagree on the 30th of February.
  const real = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day)
  if (!real || Number.isNaN(at))
    throw new Problem(400, 'expires_at must be a date and time in ISO 8601 with a time zone')
  if (at <= now) throw new Problem(400, 'expires_at must be in the future')
  return at
}

const shown = ({ id, label, start, createdAt, expiresAt }: KeptToken) => ({
  id,
  label: label ?? null,
  start,
  created_at: new Date(createdAt).toISOString(),
  expires_at: expiresAt === undefined ? null : new Date(expiresAt).toISOString(),
})

const tooMany = (most: number) =>
  new Problem(409, `there are ${most} tokens already; revoke one first`, {
    event: { action: 'limit.reach', target: { kind: 'token' } },
  })

const tooOften = () =>
  new Problem(429, 'too many tokens were made within a day; try again later', {
    headers: { 'retry-after': '3600' },
    event: { action: 'limit.reach', target: { kind: 'token' } },
  })

const answer = (content: object): Response => noStoreJson({ success: true, ...content })

/** Throws Problem 500 for what a store throws. */
const asked = async <Answer>(answer: Promise<Answer>): Promise<Answer> => {
  try {
    return await answer
  } catch (cause) {
    throw new Problem(500, 'tokens could not be asked for', { cause })
  }
}

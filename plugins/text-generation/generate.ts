import type { Ownership } from '../ownership/index.ts'
import { type Awaitable, andThen, isPromise } from '../shared/awaitable.ts'
import { readJsonBody } from '../shared/body.ts'
import { bytesPerTurn, composeInTurns, type Json, nextTurn, readJsonInTurns, responseLimits } from '../shared/json.ts'
import { Problem } from '../shared/problem.ts'
import type { WhenRevoked } from '../shared/revocation.ts'
import { UpstreamRejectedError, UpstreamUnreachableError } from '../shared/upstream-error.ts'
import { Attempts, type AttemptsOptions } from './attempts.ts'
import type { GenerationContext } from './call.ts'
import { type AssetReference, assetsInTurns } from './media/media-fields.ts'
import { respondNonStreaming } from './non-streaming.ts'
import type { RecordBackgroundUsage } from './objects/background.ts'
import { withoutGatewayItems } from './objects/continuation.ts'
import type { ObjectOwnership, OwnedRequest } from './objects/ownership.ts'
import { requestFor, type StoredResponses } from './objects/stored-responses.ts'
import { TextProblem, upstreamUnavailable } from './problem.ts'
import type { Protocol, TranslatedProtocol } from './protocol.ts'
import { respondStreaming } from './streaming.ts'
import { respondTraced } from './trace.ts'
import type { DroppedTools } from './upstream/dropped-tools.ts'
import { type RecordUsage, readTokens } from './usage.ts'
import { shortStringOf } from './validation.ts'

export interface GenerationOptions extends GenerationContext, AttemptsOptions {
  /** Checks the owner of an asset. Undefined: there is no asset library, and only `asset://` addresses of presets are allowed. */
  readonly assets: Pick<Ownership, 'asset'> | undefined
  /** Ids of assets that every user may use. */
  readonly presetAssets: ReadonlySet<string>
  /** Checks the owner of an object of the upstream account: a response, a conversation or an item. */
  readonly objects: ObjectOwnership
  /** Undefined: the gateway stores no responses. */
  readonly storedResponses: StoredResponses | undefined
  readonly recordBackground: RecordBackgroundUsage
  readonly droppedTools: DroppedTools
  readonly maxBodyBytes: number
  readonly record: RecordUsage
}

/** A request and its caller. */
export interface GenerationRequest {
  readonly request: Request
  readonly user: string
  readonly token: string | undefined
  readonly whenRevoked: WhenRevoked | undefined
  /** Milliseconds since 1970. */
  readonly arrivedAt: number
}

/**
 * Handles a generation request: reads and validates it, selects the upstream of the model, and returns the response,
 * streaming or not.
 *
 * An attempt that has failed without generating anything may be followed by another one, see `Attempts`.
 */
export const generate = async (
  { request, user, token, whenRevoked, arrivedAt }: GenerationRequest,
  given: Protocol | TranslatedProtocol,
  options: GenerationOptions,
): Promise<Response> => {
  const body = await readJsonBody(request, options.maxBodyBytes, given.bodyLimits)
  // Each step may visit 100,000 values. Between two steps the event loop serves other requests.
  let isLarge = body.bytes.length > bytesPerTurn
  if (isLarge) await nextTurn()
  const { storedResponses, traceCall } = options
  const translated = 'translate' in given ? given.translate(body.json, user) : { request: body.json, protocol: given }
  const { protocol } = translated
  const json = isLarge && translated.request !== body.json ? await indexInTurns(translated.request) : translated.request
  const attempts = new Attempts({ user, model: shortStringOf(json.get('model')) ?? '' }, options)
  let { route } = attempts
  if (!route) throw upstreamUnavailable(new Error('no upstream is configured'), false)
  let validated = protocol.validate(json, route)
  if (isLarge) await nextTurn()
  const pending = validated.stores === undefined ? undefined : storedResponses?.continueRequest(body, { user, request })
  const continuation = isPromise(pending) ? await pending : pending
  const whole = continuation?.body ?? body
  isLarge = whole.bytes.length > bytesPerTurn
  const ownAssets = requireOwnAssets(continuation?.body.json ?? json, user, request, options)
  if (isPromise(ownAssets)) await ownAssets
  for (;;) {
    const { model, stream, stores = false, background = false, bridged = false } = validated
    if (isLarge) await nextTurn()
    const unkept = bridged || validated.stores === undefined ? json : withoutGatewayItems(json)
    const sent = continuation ? requestFor(continuation, bridged) : unkept
    let checkedRequest: OwnedRequest
    try {
      const pendingCheck = options.objects.check(sent, { user, route, bridged })
      checkedRequest = isPromise(pendingCheck) ? await pendingCheck : pendingCheck
    } catch (error) {
      route = attempts.selectOwner(error)
      validated = protocol.validate(json, route)
      continue
    }
    if (isLarge) await nextTurn()
    const recorder = continuation && bridged && stores ? storedResponses?.recorder(continuation, user) : undefined
    const storage = bridged && { store: recorder !== undefined, previous_response_id: continuation?.previous ?? null }
    const exchange = protocol.toExchange(checkedRequest, storage ? { ...validated, storage } : validated, route, user)
    const issued =
      exchange.action === 'CreateResponse' || exchange.action === 'CompactResponse'
        ? options.objects.issuedObjects({ user, token, model, upstream: route.upstream.url }, { stores, background })
        : recorder
    // Not the exchange itself: `onEnd` lives as long as a stream, and would keep the request in memory.
    const { unmetered } = exchange
    let accepted = false
    const call = {
      user,
      exchange,
      route,
      body: whole,
      issued,
      request,
      arrivedAt,
      whenRevoked,
      onAccepted: () => {
        accepted = true
      },
      onEnd: (usage: object | undefined) => {
        // Usage of a background response is recorded when the response ends.
        if (issued?.backgroundResponse) return usage && options.recordBackground(issued.backgroundResponse, usage)
        if (!unmetered)
          options.record({ user, token, model, at: options.clock.now(), tokens: readTokens(usage) }, accepted)
      },
    }
    const respond = stream ? respondStreaming : respondNonStreaming
    try {
      const response = await (traceCall
        ? respondTraced(call, options, { traceCall, respond, stream, model })
        : respond(call, options))
      attempts.succeed(route)
      if (exchange.droppedTools) options.droppedTools.report(response, exchange.droppedTools, route)
      return response
    } catch (error) {
      route = attempts.next(error, route, {
        exchange,
        accepted,
        request: sent,
      })
      validated = protocol.validate(json, route)
    }
  }
}

/** Composes and reads a translated request. It has few values more than the caller's, which had to be within the limits. */
export const indexInTurns = async (json: Json): Promise<Json> =>
  readJsonInTurns(await composeInTurns(json), { ...responseLimits, maxDepth: 128 })

/**
 * Requires that every asset in the request is the caller's own or a preset.
 *
 * The upstream has one account for all users, so it would accept the asset of any user. Throws TextProblem 403 for the
 * first foreign asset.
 */
const requireOwnAssets = (
  json: Json,
  user: string,
  request: Request,
  options: Pick<GenerationOptions, 'assets' | 'presetAssets'>,
): Awaitable<void> =>
  andThen(assetsInTurns(json), (references) =>
    references.length === 0 ? undefined : requireOwn(references, user, request, options),
  )

const requireOwn = async (
  references: readonly AssetReference[],
  user: string,
  request: Request,
  { assets, presetAssets }: Pick<GenerationOptions, 'assets' | 'presetAssets'>,
): Promise<void> => {
  for (const { id, param } of references) {
    if (presetAssets.has(id)) continue
    if (!assets) throw new TextProblem(403, 'this gateway has no asset library', { param })
    await assets.asset(user, id, request).catch((error: unknown) => {
      // Its errors do not have the shape of this protocol's, and their messages are about another upstream.
      if (error instanceof UpstreamRejectedError || error instanceof UpstreamUnreachableError)
        throw new Problem(502, 'asset library unavailable', { cause: error })
      if (!(error instanceof Problem) || error.status !== 403) throw error
      throw new TextProblem(403, error.message, { param, code: 'asset_not_found', event: error.event })
    })
  }
}

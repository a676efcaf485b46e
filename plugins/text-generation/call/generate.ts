import { type Awaitable, isPromise } from '../../shared/awaitable.ts'
import { runInTurns, runSteps, type SteppedWork } from '../../shared/background/turns.ts'
import { readJsonBody } from '../../shared/http/body/body.ts'
import type { Disconnection } from '../../shared/http/disconnection.ts'
import type { WhenRevoked } from '../../shared/identity/revocation.ts'
import { isLarge, type Json } from '../../shared/json/json.ts'
import { type AssetOwnershipOptions, requireOwnAssets } from '../../shared/media/asset-ownership.ts'
import { type CallLimit, type CallLimitOptions, HeldLimit, reserveCall } from '../limits/call-limit.ts'
import { estimateInputTokens } from '../limits/input-tokens.ts'
import { modelNotFound, requirePermittedModels } from '../models/permitted.ts'
import type { ModelRoute } from '../models/routing.ts'
import type { RecordBackgroundUsage } from '../objects/background-responses.ts'
import type { IssuedObjects } from '../objects/issued.ts'
import type { CheckedRequest, ObjectOwnership } from '../objects/ownership.ts'
import { personsIn } from '../objects/persons.ts'
import { holderOfResponse, type TextObject, type TextObjectStore } from '../objects/store.ts'
import { withoutGatewayItems } from '../objects/stored/continuation.ts'
import { requestFor, type StoredResponses } from '../objects/stored/responses.ts'
import { indexInTurns } from '../protocol/index-in-turns.ts'
import { upstreamUnavailable } from '../protocol/problem.ts'
import type { Exchange, Protocol, TranslatedProtocol, ValidatedRequest } from '../protocol/protocol.ts'
import { shortStringOf } from '../protocol/validation.ts'
import type { DroppedTools } from '../upstream/dropped-tools.ts'
import { type RecordUsage, readTokens } from '../usage/usage.ts'
import type { GenerationContext } from './call.ts'
import { clientTimeoutOf, withinTimeout } from './deadline.ts'
import { respondNonStreaming } from './non-streaming.ts'
import { holdAssets, noRequestAssets, type RequestAssets } from './request-assets.ts'
import { RouteAttempts, type RouteAttemptsOptions } from './route-attempts.ts'
import { respondStreaming } from './streaming.ts'
import { respondTraced } from './trace.ts'

export interface GenerationOptions extends GenerationContext, RouteAttemptsOptions, AssetOwnershipOptions {
  /** Checks the owner of an object of the upstream account: a response, a conversation or an item. */
  readonly objects: ObjectOwnership
  /** Undefined: the gateway stores no responses. */
  readonly storedResponses: StoredResponses | undefined
  readonly recordBackground: RecordBackgroundUsage
  /** Undefined: objects have no owners, and there are no background responses. */
  readonly store: TextObjectStore | undefined
  readonly droppedTools: DroppedTools
  readonly maxBodyBytes: number
  readonly record: RecordUsage
  /** Undefined: no limits. */
  readonly callLimits: CallLimitOptions | undefined
}

/** A request and its caller. */
export interface GenerationRequest {
  readonly request: Request
  readonly user: string
  readonly token: string | undefined
  /** See `Identity.models`. Others do not exist for the caller. */
  readonly models: readonly string[] | undefined
  readonly whenRevoked: WhenRevoked | undefined
  /** Milliseconds since 1970. */
  readonly arrivedAt: number
}

/**
 * Handles a generation request: reads and validates it, selects the upstream of the model, and returns the response,
 * streaming or not.
 *
 * An attempt that has failed without generating anything may be followed by another one, see `RouteAttempts`.
 */
export const generate = async (
  { request, user, token, models, whenRevoked, arrivedAt }: GenerationRequest,
  given: Protocol | TranslatedProtocol,
  options: GenerationOptions,
): Promise<Response> => {
  const body = await readJsonBody(request, options.maxBodyBytes, given.bodyLimits)
  requirePermittedModels(body.json, models)
  // A large request may have 100,000 values. Each step handles some of them, and then the event loop serves other
  // requests.
  const run = <Result>(steps: SteppedWork<Result>): Awaitable<Result> =>
    isLarge(body.json) ? runInTurns(steps) : runSteps(steps)
  const { storedResponses, traceCall, callLimits } = options
  const translating =
    'translate' in given ? run(given.translate(body.json, user)) : { request: body.json, protocol: given }
  const { protocol, request: translated } = isPromise(translating) ? await translating : translating
  const json = translated !== body.json && isLarge(body.json) ? await indexInTurns(translated) : translated
  const attempts = new RouteAttempts({ user, model: shortStringOf(json.get('model')) ?? '' }, options)
  let { route } = attempts
  if (!route)
    throw options.routing.upstreams.length > 0
      ? modelNotFound()
      : upstreamUnavailable(new Error('no upstream is configured'), false)
  const validate = (capabilities: ModelRoute) => run(protocol.validate(json, capabilities))
  const validating = validate(route)
  let validated = isPromise(validating) ? await validating : validating
  // Stored items that the request refers to become part of it, so that all checks see them.
  const pending = validated.stores === undefined ? undefined : storedResponses?.continueRequest(body, { user, request })
  const continuation = isPromise(pending) ? await pending : pending
  const whole = continuation?.body ?? body
  const checkingAssets = requireOwnAssets(continuation?.body.json ?? json, user, request, options)
  const assets = isPromise(checkingAssets) ? await checkingAssets : checkingAssets
  const hold = assets.length > 0 ? options.assets?.hold : undefined
  const { clock, timeoutMs } = options
  using requestAssets = hold
    ? await holdAssets({ hold, user, assets, request, arrivedAt, whenRevoked, timeoutMs, clock })
    : noRequestAssets
  using held = new HeldLimit()
  for (;;) {
    const { model, stream, stores = false, background = false, bridged = false } = validated
    const sending = continuation ? requestFor(continuation, bridged) : withoutStored(json, validated)
    const placing = requestAssets.place(isPromise(sending) ? await sending : sending)
    const sent = isPromise(placing) ? await placing : placing
    let checked: CheckedRequest
    try {
      const pendingCheck = options.objects.check(sent, { user, route, bridged })
      checked = isPromise(pendingCheck) ? await pendingCheck : pendingCheck
    } catch (error) {
      route = attempts.selectOwner(error)
      validated = await validate(route)
      continue
    }
    const persons = personsIn(assets, checked.referenced)
    const recording = continuation && bridged && stores ? storedResponses?.recorder(continuation, user) : undefined
    const recorder = isPromise(recording) ? await recording : recording
    const storage = bridged && { store: recorder !== undefined, previous_response_id: continuation?.previous ?? null }
    const translation = protocol.toExchange(
      checked.request,
      storage ? { ...validated, storage } : validated,
      route,
      user,
    )
    const exchange = isPromise(translation) ? await translation : translation
    const issued =
      exchange.action === 'CreateResponse' || exchange.action === 'CompactResponse'
        ? options.objects.issuedObjects(
            { user, token, model, upstream: route.upstream.url, ...(persons.length > 0 && { persons }) },
            { stores, background },
          )
        : recorder
    const checking = issued?.requireRoom()
    if (isPromise(checking)) await checking
    const clientTimeoutMs = stream ? Number.POSITIVE_INFINITY : clientTimeoutOf(request.headers)
    if (!held.limit && callLimits && !exchange.unmetered) {
      const reserved = { user, token, model, stream, exchange, route }
      const within = (signal: Disconnection) => reserve(sent, reserved, signal, callLimits)
      const reserving = withinTimeout(clientTimeoutMs, request, within)
      held.limit = isPromise(reserving) ? await reserving : reserving
    }
    const { limit } = held
    if (persons.length > 0) await options.objects.markPersons(checked.referenced, persons)
    const usage = new CallUsage(
      { user, token, model, issued, limit, unmetered: exchange.unmetered, assets: requestAssets },
      options,
    )
    const { onAccepted, onEnd } = usage
    const call = {
      ...{ user, exchange, route, body: whole, issued, limit, request, clientTimeoutMs, arrivedAt, whenRevoked },
      ...{ onAccepted, onEnd },
    }
    const respond = stream ? respondStreaming : respondNonStreaming
    try {
      const response = await (traceCall
        ? respondTraced(call, options, { traceCall, respond, stream, model })
        : respond(call, options))
      attempts.succeed(route)
      if (exchange.droppedTools) options.droppedTools.report(response, exchange.droppedTools, route)
      if (limit) setHeaders(response.headers, limit.headers())
      if (stream) {
        held.continueWithStream()
        requestAssets.continueWithStream()
      }
      return response
    } catch (error) {
      route = attempts.next(requestAssets.withOwnIds(error), route, {
        exchange,
        accepted: usage.accepted,
        request: sent,
      })
      validated = await validate(route)
    }
  }
}

interface Reserved {
  readonly user: string
  readonly token: string | undefined
  readonly model: string
  readonly stream: boolean
  readonly exchange: Exchange
  readonly route: ModelRoute
}

/** Reserves what the call will probably use. A large request is counted in turns of the event loop. */
const reserve = (
  request: Json,
  { user, token, model, stream, exchange, route }: Reserved,
  signal: Disconnection,
  callLimits: CallLimitOptions,
): Awaitable<CallLimit | undefined> => {
  const inputOnly = exchange.action === 'CreateEmbedding'
  const unstoppable = route.streams === false || exchange.unassembled === true || exchange.respondsAtOnce === true
  const { maxTokens } = route
  const limited = { user, token, model, request, input: undefined, stream, inputOnly, unstoppable, maxTokens, signal }
  if (!isLarge(request)) return reserveCall(limited, callLimits)
  return runInTurns(estimateInputTokens(request)).then((input) => reserveCall({ ...limited, input }, callLimits))
}

const setHeaders = (headers: Headers, added: Readonly<Record<string, string>>): void => {
  for (const name in added) headers.set(name, added[name] as string)
}

/**
 * The request for an upstream of a gateway that stores no responses: an upstream of the Responses protocol would look
 * for the gateway's items.
 */
const withoutStored = (json: Json, { bridged, stores }: ValidatedRequest): Awaitable<Json> =>
  bridged || stores === undefined ? json : withoutGatewayItems(json)

interface CallUsageOptions {
  readonly user: string
  readonly token: string | undefined
  readonly model: string
  readonly issued: IssuedObjects | undefined
  readonly limit: CallLimit | undefined
  readonly unmetered: boolean | undefined
  readonly assets: Pick<RequestAssets, 'onEnd'>
}

/**
 * Records the usage of one call. It lives as long as a stream, so it refers to nothing that keeps the request in
 * memory.
 */
class CallUsage {
  /** Whether the upstream has begun a successful response. */
  accepted = false
  readonly #call: CallUsageOptions
  readonly #options: Pick<GenerationOptions, 'recordBackground' | 'record' | 'clock' | 'store'>

  constructor(
    call: CallUsageOptions,
    options: Pick<GenerationOptions, 'recordBackground' | 'record' | 'clock' | 'store'>,
  ) {
    this.#call = call
    this.#options = options
  }

  readonly onAccepted = (): void => {
    this.accepted = true
    this.#call.limit?.onAccepted()
  }

  readonly onEnd = (usage: object | undefined): void | Promise<void> => {
    const { user, token, model, issued, limit, unmetered, assets } = this.#call
    const { record, clock } = this.#options
    assets.onEnd(issued?.backgroundResponse !== undefined)
    // Usage of a background response is recorded when the response ends.
    if (issued?.backgroundResponse) return this.#continueInBackground(issued.backgroundResponse, usage)
    const tokens = readTokens(usage)
    limit?.onEnd(tokens)
    if (!unmetered) record({ user, token, model, at: clock.now(), tokens }, this.accepted)
  }

  async #continueInBackground(response: TextObject, usage: object | undefined): Promise<void> {
    const { limit } = this.#call
    const { recordBackground, store } = this.#options
    if (limit) {
      await limit.hold(holderOfResponse(response.id))
      await store?.keepResponseHold?.(response.id).catch(() => {})
    }
    if (usage) await recordBackground(response, usage)
  }
}

import type { Audit, AuditAction } from '../../shared/audit.ts'
import { disconnectionOf } from '../../shared/http/disconnection.ts'
import { isLarge, type Json } from '../../shared/json/json.ts'
import { parseJsonInTurns } from '../../shared/json/parse-in-turns.ts'
import { toResponse } from '../../shared/upstream/upstream-error.ts'
import type { ModelRouting, TextUpstream } from '../models/routing.ts'
import { isResponseEnded, type RecordBackgroundUsage } from '../objects/background-responses.ts'
import { isGatewayId } from '../objects/gateway-ids.ts'
import type { ObjectOwnership, OwnedResponse } from '../objects/ownership.ts'
import type { TextObjectStore } from '../objects/store.ts'
import type { RespondStored } from '../objects/stored/routes.ts'
import { TextProblem } from '../protocol/problem.ts'
import type { Exchange } from '../protocol/protocol.ts'
import { type ResponseAction, readJsonObject, readResponse } from '../upstream/client.ts'
import type { Call, GenerationContext } from './call.ts'
import { Deadline } from './deadline.ts'
import { respondStreaming } from './streaming.ts'
import { respondTraced } from './trace.ts'

interface Operation {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Path suffix after the id of the response. */
  readonly suffix: '' | '/cancel' | '/input_items'
  /** Query parameters to forward. */
  readonly query: readonly string[]
}

/** Query parameters that are cursors: item ids. */
const cursors: readonly string[] = ['after', 'before']

const operations: Readonly<Record<ResponseAction, Operation>> = {
  GetResponse: {
    method: 'GET',
    suffix: '',
    query: ['include', 'include[]', 'include_obfuscation', 'starting_after', 'stream'],
  },
  DeleteResponse: { method: 'DELETE', suffix: '', query: [] },
  CancelResponse: { method: 'POST', suffix: '/cancel', query: [] },
  ListInputItems: {
    method: 'GET',
    suffix: '/input_items',
    query: [...cursors, 'include', 'include[]', 'limit', 'order'],
  },
}

export interface ResponseRoutesOptions extends GenerationContext {
  readonly routing: ModelRouting
  readonly objects: ObjectOwnership
  /** Responds for responses that the gateway stores. Undefined: it stores none. */
  readonly respondStored: RespondStored | undefined
  /** Undefined: no response has an owner, so every request is a 404. */
  readonly store: TextObjectStore | undefined
  readonly recordBackground: RecordBackgroundUsage
  readonly audit: Audit
  /** Creates the exchange for the stream of a stored response. */
  readonly retrieval: (path: string) => Exchange
}

interface ResponseRequest {
  readonly request: Request
  readonly user: string
  readonly arrivedAt: number
  readonly whenRevoked?: Call['whenRevoked']
  /** Path parameters, decoded. */
  readonly params: Readonly<Record<string, string>>
}

/**
 * Creates the handler of a route of a response, stored by the gateway or by its upstream. It throws TextProblem 404 for
 * a response that is not the caller's.
 */
export const responseRoute =
  (action: ResponseAction, options: ResponseRoutesOptions) =>
  async ({ request, user, arrivedAt, whenRevoked, params }: ResponseRequest): Promise<Response> => {
    const id = params.response_id
    const response = isGatewayId(id) ? await options.respondStored?.(action, { request, user, id }) : undefined
    if (response) return response
    const own = await options.objects.response(user, id)
    return forwardOwned(action, own, { request, arrivedAt, whenRevoked }, options)
  }

const forwardOwned = async (
  action: ResponseAction,
  own: OwnedResponse,
  { request, arrivedAt, whenRevoked }: Pick<ResponseRequest, 'request' | 'arrivedAt' | 'whenRevoked'>,
  options: ResponseRoutesOptions,
): Promise<Response> => {
  // Records items that the upstream has added since the response was created.
  const issued = options.objects.issuedObjects(own, { stores: true, background: false, own })
  const query = queryOf(request, operations[action].query)
  if (action === 'GetResponse' && query.get('stream') === 'true')
    return streamOwned(own, { path: pathOf(own, query), issued, request, arrivedAt, whenRevoked }, options)
  for (const [name, item] of query) if (cursors.includes(name)) await options.objects.requireCursor(own, item, name)
  using deadline = new Deadline({
    clock: options.clock,
    at: arrivedAt + options.timeoutMs,
    caller: disconnectionOf(request),
  })
  // After the deletion, the usage cannot be retrieved any more.
  if (action === 'DeleteResponse' && own.dueAt !== undefined) {
    const found = await retrieve(own, deadline.signal, options).catch(() => undefined)
    if (found && isResponseEnded(found)) await options.recordBackground(own, found.usage)
  }
  const { status, headers, bytes, json } = await forward(
    action,
    own,
    { query, request, signal: deadline.signal },
    options,
  )
  if (action === 'ListInputItems') await options.objects.recordCursors(own, idsOf(json?.get('data')))
  if (action === 'GetResponse' && issued)
    await issued.recordResponse(json && isLarge(json) ? await parseJsonInTurns(json.raw) : json?.value())
  if (own.dueAt !== undefined) {
    const state = { status: json?.get('status')?.string(), usage: json?.get('usage')?.value() }
    // A response that is deleted before it ends will never end: its call is recorded now, without usage.
    if (action === 'DeleteResponse' || (action !== 'ListInputItems' && isResponseEnded(state)))
      await options.recordBackground(own, state.usage)
  }
  if (action === 'DeleteResponse') {
    await options.store?.removeTextObject(own).catch((err: unknown) => {
      options.log.warn(
        { err, response: own.id },
        'the record of a deleted response could not be removed; it expires later',
      )
    })
  }
  const auditAction = auditActions[action]
  if (auditAction) options.audit.note({ action: auditAction, target: { kind: 'response', id: own.id } }, request)
  return toResponse({ status, headers, bytes })
}

const auditActions: Readonly<Partial<Record<ResponseAction, AuditAction>>> = {
  CancelResponse: 'response.cancel',
  DeleteResponse: 'response.delete',
}

/** Retrieves the status and usage of a response, for polling. */
export const retrieve = async (own: OwnedResponse, signal: AbortSignal, options: ResponseRoutesOptions) => {
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(options.timeoutMs)])
  const { json } = await forward('GetResponse', own, { signal: deadline }, options)
  return { status: json?.get('status')?.string(), usage: json?.get('usage')?.value() }
}

const forward = async (
  action: ResponseAction,
  own: OwnedResponse,
  { query, request, signal }: { query?: URLSearchParams; request?: Request; signal: AbortSignal },
  { routing, client, maxResponseBytes }: ResponseRoutesOptions,
) => {
  const { method, suffix } = operations[action]
  const upstream = upstreamOf(own, routing)
  const { response, headers } = await client({
    upstream,
    action,
    method,
    path: pathOf(own, query, suffix),
    headers: request?.headers ?? new Headers(),
    signal,
  })
  const { bytes } = await readResponse(response, upstream, maxResponseBytes)
  // An empty body is valid only after a deletion.
  const json = bytes.length === 0 && action === 'DeleteResponse' ? undefined : await readJsonObject(bytes)
  return { status: response.status, headers, bytes, json }
}

const streamOwned = (
  own: OwnedResponse,
  request: Pick<Call, 'issued' | 'request' | 'arrivedAt' | 'whenRevoked'> & { readonly path: string },
  options: ResponseRoutesOptions,
): Promise<Response> => {
  const upstream = upstreamOf(own, options.routing)
  const exchange = options.retrieval(request.path)
  const onEnd = async (usage: object | undefined) => {
    if (own.dueAt !== undefined && usage) await options.recordBackground(own, usage)
  }
  const call = { ...request, user: own.user, exchange, route: { upstream }, onEnd }
  const { traceCall } = options
  return traceCall
    ? respondTraced(call, options, { traceCall, respond: respondStreaming, stream: true })
    : respondStreaming(call, options)
}

/** The only function that puts an object id into a path: always as one URL-encoded segment. */
const pathOf = (own: OwnedResponse, query?: URLSearchParams, suffix: Operation['suffix'] = ''): string => {
  const request = query && query.size > 0 ? `?${query}` : ''
  return `/responses/${encodeURIComponent(own.id)}${suffix}${request}`
}

/**
 * The upstream that stores a response. Of several with one URL, it is the one that serves the model: they may belong to
 * different accounts. A response of an upstream that is no longer configured is not found.
 */
const upstreamOf = (own: OwnedResponse, { upstreams, routesOf }: ModelRouting): TextUpstream => {
  const isOwn = ({ url }: TextUpstream) => url === own.upstream
  const route = routesOf(own.model).find(({ upstream }) => isOwn(upstream))
  const upstream = route?.upstream ?? upstreams.find(isOwn)
  if (!upstream) throw new TextProblem(404, `Response with id '${own.id}' not found.`)
  return upstream
}

const queryOf = ({ url }: Request, names: readonly string[]): URLSearchParams => {
  const [, query = ''] = url.split('?', 2)
  return new URLSearchParams([...new URLSearchParams(query)].filter(([name]) => names.includes(name)))
}

const idsOf = (items: Json | undefined): readonly unknown[] =>
  items?.isArray ? items.elements().map((item) => item.get('id')?.string()) : []

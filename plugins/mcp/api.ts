import type { Awaitable } from '../shared/awaitable.ts'
import { copyPeerAddress } from '../shared/http/client-address.ts'
import { countInFlight, inFlightOf } from '../shared/http/in-flight.ts'
import { membersOf, parsedJson } from '../shared/json/parsed.ts'

/** Handles a request of the app in this process. */
export type AppFetch = (request: Request) => Awaitable<Response>

/** The routes of the app, called on behalf of one caller. */
export interface CallerApi {
  /**
   * Resolves with the JSON of a successful response. Rejects with `ApiError` for any other response.
   *
   * @param path a path of this app, whose parts are encoded
   */
  call<Body>(method: 'GET' | 'POST', path: string, parts?: ApiRequest): Promise<Body>
}

/** The parts of a call beside its method and path. */
export interface ApiRequest {
  /** A member that is undefined is left out. */
  readonly query?: Readonly<Record<string, string | number | undefined>>
  /** Sent as JSON. */
  readonly json?: object
  /** Sent as they are. */
  readonly bytes?: Uint8Array<ArrayBuffer>
  readonly headers?: Readonly<Record<string, string>>
}

/** A route has refused a call. Its message is the route's, or the upstream's. */
export class ApiError extends Error {
  readonly status: number
  /** Empty: the response has none. */
  readonly code: string
  /** The wrong field. Empty: the response names none. */
  readonly param: string
  /** Seconds to wait. Undefined: the response names none. */
  readonly retryAfter: number | undefined

  constructor(response: Response, body: string) {
    const error = errorIn(body)
    super(textOf(error.message ?? error.Message) || `the request failed with status ${response.status}`)
    this.name = 'ApiError'
    this.status = response.status
    this.code = textOf(error.code ?? error.Code)
    this.param = textOf(error.param)
    const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
    this.retryAfter = Number.isFinite(seconds) ? seconds : undefined
  }
}

/**
 * Creates the API of the caller of a request.
 *
 * Each call is a request of its own to the app, with the caller's credentials: the routes authenticate it, and check
 * owners, scopes and limits, as if the caller had sent it.
 *
 * @param signal aborts the calls
 */
export const createCallerApi = (fetch: AppFetch, caller: Request, signal: AbortSignal): CallerApi => ({
  async call(method, path, { query = {}, json, bytes, headers = {} } = {}) {
    const url = new URL(path, caller.url)
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(name, String(value))
    const body = json ? JSON.stringify(json) : bytes
    const request = new Request(url.href, {
      ...{ method, body, signal },
      headers: {
        ...callerHeaders(caller.headers),
        ...(body !== undefined && { 'content-type': json ? 'application/json' : 'application/octet-stream' }),
        ...headers,
      },
    })
    const response = await fetch(ofSameCaller(request, caller))
    const text = await response.text()
    if (!response.ok) throw new ApiError(response, text)
    return JSON.parse(text)
  },
})

/** Marks a request as one of the same client: for the audit trail, and for what counts as in flight. */
export const ofSameCaller = (request: Request, caller: Request): Request => {
  copyPeerAddress(caller, request)
  const counted = inFlightOf(caller)
  if (counted) countInFlight(request, counted)
  return request
}

/** The headers of the caller that say who is calling, from where, and in which request. */
const callerHeaders = (headers: Headers): Record<string, string> =>
  Object.fromEntries([...headers].filter(([name]) => !ofThisRequest.test(name)))

/** Headers about this request, its body, its connection, and the protocol. */
const ofThisRequest =
  /^(?:content-.*|accept.*|transfer-encoding|connection|keep-alive|te|trailer|expect|upgrade.*|range|if-.*|mcp-.*|idempotency-key|last-event-id)$/

/** The error of the gateway's own forms and of the vendor's data plane, or that of the vendor's action interface. */
const errorIn = (body: string): ReturnType<typeof membersOf> => {
  const { error, ResponseMetadata } = membersOf(parsedJson(body))
  return membersOf(error ?? membersOf(ResponseMetadata).Error)
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value.slice(0, maxErrorText) : '')

/** Characters of one text of an error that a tool shows. */
const maxErrorText = 2_000

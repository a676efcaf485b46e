import {
  type Json,
  JsonError,
  type JsonLimits,
  maxBytesAtOnce,
  nextTurn,
  readJson,
  readJsonInTurns,
  readJsonUtf8,
} from '../../json/json.ts'
import { Problem } from '../../problem.ts'
import { decodeText } from '../../text.ts'
import { inFlightOf } from '../in-flight.ts'
import { decodeContent } from './content-coding.ts'
import { type BodySource, readAtMost, readKnownLength } from './read-body.ts'

/**
 * A body from the server: a stream, bytes, or a function that reads all bytes of a body with `Content-Length` at once.
 */
export type AttachedBody =
  | ReadableStream<Uint8Array>
  | Uint8Array<ArrayBuffer>
  | (() => Promise<Uint8Array<ArrayBuffer>>)

const delivered = Symbol('delivered body')
const deliveredStream = Symbol('stream of the delivered body')

type Delivered = Request & { [delivered]?: AttachedBody; [deliveredStream]?: () => ReadableStream<Uint8Array> }

/**
 * Attaches a body to a GET request, for a server that can read it (`node:http`).
 *
 * A `Request` for GET cannot have a body, and `Bun.serve` and `Deno.serve` discard it. The server calls this before it
 * passes the request to the app. Prefer a stream that reads nothing in advance (`highWaterMark: 0`): the app reads it
 * only after it has authenticated the caller.
 *
 * @param stream for a function that reads all bytes: another one that reads the same body as a stream
 */
export const attachBody = (request: Delivered, body: AttachedBody, stream?: () => ReadableStream<Uint8Array>): void => {
  request[delivered] = body
  if (stream) request[deliveredStream] = stream
}

/**
 * The body of a request, or the one that `attachBody` has attached, as a stream for a body of any length. Null: there
 * is none.
 */
export const bodyStream = (request: Delivered): ReadableStream<Uint8Array> | null => {
  const body = request[delivered]
  if (request[deliveredStream]) return request[deliveredStream]()
  return body instanceof ReadableStream ? body : request.body
}

/**
 * Reads the body of a request, or the body that `attachBody` has attached, and decodes its `Content-Encoding`. Resolves
 * with undefined if it exceeds `maxBytes`, as received or when decoded. Rejects with Problem 415 and 400 as
 * `decodeContent` does.
 */
export const readBytes = (request: Delivered, maxBytes: number): Promise<Uint8Array<ArrayBuffer> | undefined> => {
  const coding = request.headers.get('content-encoding')
  if (coding === null || coding === '' || coding === 'identity') return readReceived(request, maxBytes)
  return decodeContent(coding, () => readReceived(request, maxBytes), maxBytes, inFlightOf(request))
}

const readReceived = (request: Delivered, maxBytes: number): Promise<Uint8Array<ArrayBuffer> | undefined> => {
  const body = request[delivered]
  const inFlight = inFlightOf(request)
  // The server does not decode a Content-Encoding, so the body has the length in Content-Length.
  if (typeof body === 'function') {
    return readKnownLength(Number(request.headers.get('content-length')), body, maxBytes, inFlight)
  }
  return readAtMost(body ? readableOf(body, request) : request, maxBytes, inFlight)
}

const readableOf = (body: Exclude<AttachedBody, () => unknown>, { headers }: Request): BodySource => {
  const response = new Response(body)
  return { headers, body: response.body, bytes: () => response.bytes() }
}

/** Whether the headers of a request announce a body (RFC 9112 section 6). */
export const announcesBody = (headers: Headers): boolean =>
  headers.has('transfer-encoding') || !['0', null].includes(headers.get('content-length'))

/** Whether the content type is `application/json`, in upper or lower case, with or without parameters. */
export const isJson = (headers: Headers): boolean =>
  /^\s*application\/json\s*(?:;|$)/i.test(headers.get('content-type') ?? '')

/** Whether a request has a body, or says of which type one is. */
export const sendsBody = ({ headers }: Request): boolean => announcesBody(headers) || headers.has('content-type')

/** Like `readJsonBody`. Throws Problem 415 too, for any other content type than JSON. */
export const readJsonRequest = (request: Request, maxBytes: number, limits?: JsonLimits): Promise<JsonBody> => {
  if (!isJson(request.headers)) throw new Problem(415, 'content type must be application/json')
  return readJsonBody(request, maxBytes, limits)
}

/** A JSON body: the received bytes, which can be forwarded unchanged, and the parsed JSON. */
export class JsonBody {
  readonly json: Json
  readonly #bytes: Uint8Array | undefined

  /** @param bytes the received bytes. Default: the bytes of `json` */
  constructor(json: Json, bytes?: Uint8Array) {
    this.json = json
    this.#bytes = bytes
  }

  get bytes(): Uint8Array {
    return this.#bytes ?? this.json.bytes
  }

  /** The body with changed JSON. Returns this body, with the same bytes, if `change` returns its argument. */
  edit(change: (json: Json) => Json): JsonBody {
    const changed = change(this.json)
    return changed === this.json ? this : new JsonBody(changed)
  }
}

/**
 * Reads a body that must be a JSON object.
 *
 * Throws Problem 413 above `maxBytes`. Throws Problem 400 if the body is not a JSON object, is nested deeper than 64
 * levels, or has more than 100,000 values, or as `limits` says. Throws Problem 415 and 400 for its `Content-Encoding`,
 * as `decodeContent` does. Throws Problem 429 or 503 if concurrent requests have reached a limit on bytes of bodies.
 */
export const readJsonBody = async (request: Request, maxBytes: number, limits?: JsonLimits): Promise<JsonBody> => {
  const bytes = await readBytes(request, maxBytes)
  if (!bytes) throw tooLarge()
  const json = bytes.length > maxBytesAtOnce ? await parseInTurns(bytes, limits) : parseBody(bytes, limits)
  if (!json.isObject) throw new Problem(400, 'request body must be a JSON object')
  return new JsonBody(json, bytes)
}

/** Whether a GET request announces a JSON body. */
export const hasQueryBody = ({ headers }: Request): boolean => announcesBody(headers) && isJson(headers)

/**
 * Reads the JSON object in the body of a GET request. Resolves with undefined if the body is empty.
 *
 * Throws the errors of `readJsonBody`. Also throws Problem 400 if the server cannot read the body: the gateway must not
 * ignore its parameters.
 */
export const readQueryBody = async (request: Delivered, maxBytes: number): Promise<Json | undefined> => {
  if (!request[delivered]) {
    throw new Problem(400, 'this server cannot read a body on GET; give the parameters in the query string')
  }
  const bytes = await readBytes(request, maxBytes)
  if (!bytes) throw tooLarge()
  if (bytes.length === 0) return undefined
  const json = parseBody(bytes)
  if (!json.isObject) throw new Problem(400, 'request body must be a JSON object')
  return json
}

const parseInTurns = async (bytes: Uint8Array, limits?: JsonLimits): Promise<Json> => {
  // Many bodies may arrive at once.
  await nextTurn()
  return readJsonInTurns(bytes, limits).catch(throwProblem)
}

const parseBody = (bytes: Uint8Array, limits?: JsonLimits): Json => {
  try {
    const text = decodeText(bytes)
    return text === undefined ? readJson(bytes, limits) : readJsonUtf8(bytes, text, limits)
  } catch (error) {
    return throwProblem(error)
  }
}

const throwProblem = (error: unknown): never => {
  if (error instanceof JsonError) throw new Problem(400, `request body is ${error.message}`)
  throw error
}

const tooLarge = () => new Problem(413, 'request body is too large')

import { inFlightOf } from './in-flight.ts'
import { bytesInTurn, type Json, JsonError, readJson, readJsonInTurns, readUtf8 } from './json.ts'
import { Problem } from './problem.ts'
import { type BodySource, readAtMost, readKnownLength } from './read-body.ts'
import { decodeText } from './text.ts'

/** A stream, bytes, or what reads a body of announced length at one go, once it is wanted. */
export type DeliveredBody =
  | ReadableStream<Uint8Array>
  | Uint8Array<ArrayBuffer>
  | (() => Promise<Uint8Array<ArrayBuffer>>)

const delivered = Symbol('delivered body')

type Delivered = Request & { [delivered]?: DeliveredBody }

/**
 * Gives a request the body that its runtime cannot: a `Request` for GET has none, and `Bun.serve` and `Deno.serve` throw it away. A server that
 * can read it (`node:http`) hands it over here before it hands the request to the app. Best as a stream that brings nothing before it is read
 * (`highWaterMark: 0`): the app reads it when it knows who asks, or not at all.
 */
export const deliverBody = (request: Delivered, body: DeliveredBody): void => {
  request[delivered] = body
}

/** Reads a request's body, the delivered one if there is one; see `collect`. */
export const readBytes = (request: Delivered, maxBytes: number): Promise<Uint8Array<ArrayBuffer> | undefined> => {
  const body = request[delivered]
  const inFlight = inFlightOf(request)
  // A coding of its content is left in it, and so its length is the one announced.
  if (typeof body === 'function') {
    return readKnownLength(Number(request.headers.get('content-length')), body, maxBytes, inFlight)
  }
  return readAtMost(body ? readableOf(body, request) : request, maxBytes, inFlight)
}

const readableOf = (body: Exclude<DeliveredBody, () => unknown>, { headers }: Request): BodySource => {
  const response = new Response(body)
  return { headers, body: response.body, bytes: () => response.bytes() }
}

/** Whether the request announces a body (RFC 9112 section 6). */
export const announcesBody = (headers: Headers): boolean =>
  headers.has('transfer-encoding') || !['0', null].includes(headers.get('content-length'))

/** Whether the content type is application/json, with or without parameters, in any case. */
export const isJson = (headers: Headers): boolean =>
  /^\s*application\/json\s*(?:;|$)/i.test(headers.get('content-type') ?? '')

/** A JSON body: its bytes, to be forwarded as they are, and the JSON in them. */
export class JsonBody {
  readonly json: Json
  readonly #bytes: Uint8Array | undefined

  /** @param bytes as they came; default those of the JSON */
  constructor(json: Json, bytes?: Uint8Array) {
    this.json = json
    this.#bytes = bytes
  }

  get bytes(): Uint8Array {
    return this.#bytes ?? this.json.bytes
  }

  /** The body with its JSON changed; itself, byte for byte, when `change` gives back what it got. */
  edit(change: (json: Json) => Json): JsonBody {
    const changed = change(this.json)
    return changed === this.json ? this : new JsonBody(changed)
  }
}

/**
 * Reads a body that has to be a JSON object.
 *
 * Throws Problem 413 beyond `maxBytes`, 400 for what is not JSON or not an object, nested deeper than 64 or made of more than 100,000 values, and 429 or 503 where too much is being read at once.
 */
export const readJsonBody = async (request: Request, maxBytes: number): Promise<JsonBody> => {
  const bytes = await readBytes(request, maxBytes)
  if (!bytes) throw tooLarge()
  const json = bytes.length > bytesInTurn ? await readJsonInTurns(bytes).catch(refuse) : parse(bytes)
  if (!json.isObject) throw new Problem(400, 'request body must be a JSON object')
  return new JsonBody(json, bytes)
}

/** Whether a GET announces a body with JSON in it. */
export const hasQueryBody = ({ headers }: Request): boolean => announcesBody(headers) && isJson(headers)

/**
 * The JSON object in the body of a GET that has one; undefined when it is empty.
 *
 * Throws Problem 400 also when a body is announced that this server cannot read: the parameters in it must not be lost in silence.
 */
export const readQueryBody = async (request: Delivered, maxBytes: number): Promise<Json | undefined> => {
  if (!request[delivered]) {
    throw new Problem(400, 'this server cannot read a body on GET; give the parameters in the query string')
  }
  const bytes = await readBytes(request, maxBytes)
  if (!bytes) throw tooLarge()
  if (bytes.length === 0) return undefined
  const json = parse(bytes)
  if (!json.isObject) throw new Problem(400, 'request body must be a JSON object')
  return json
}

const parse = (bytes: Uint8Array): Json => {
  try {
    const text = decodeText(bytes)
    return text === undefined ? readJson(bytes) : readUtf8(bytes, text)
  } catch (error) {
    return refuse(error)
  }
}

const refuse = (error: unknown): never => {
  if (error instanceof JsonError) throw new Problem(400, `request body is ${error.message}`)
  throw error
}

const tooLarge = () => new Problem(413, 'request body is too large')

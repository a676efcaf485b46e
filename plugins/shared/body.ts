import { collect } from './bytes.ts'
import { type Json, JsonError, readJson } from './json.ts'
import { Problem } from './problem.ts'

const delivered = new WeakMap<Request, Uint8Array>()

/**
 * Gives a request the body that its runtime cannot: a `Request` for GET has none, and `Bun.serve` and `Deno.serve` throw it away. A server that
 * can read it (`node:http`) hands it over here before it hands the request to the app.
 */
export const deliverBody = (request: Request, bytes: Uint8Array): void => {
  delivered.set(request, bytes)
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
  readonly bytes: Uint8Array | string

  constructor(json: Json, bytes: Uint8Array | string = json.raw) {
    this.json = json
    this.bytes = bytes
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
 * Throws Problem 413 beyond `maxBytes`, 400 for what is not JSON or not an object, or nested deeper than 64.
 */
export const readJsonBody = async (request: Request, maxBytes: number): Promise<JsonBody> => {
  const bytes = await collect(request, maxBytes)
  if (!bytes) throw tooLarge()
  const json = parse(bytes)
  if (!json.isObject) throw new Problem(400, 'request body must be a JSON object')
  return new JsonBody(json, bytes)
}

/**
 * The JSON object in the body of a GET; undefined when there is none, or one of another content type.
 *
 * Throws Problem 400 also when a body is announced that this server cannot read: the parameters in it must not be lost in silence (reading 19).
 */
export const readQueryBody = (request: Request, maxBytes: number): Json | undefined => {
  if (!announcesBody(request.headers) || !isJson(request.headers)) return undefined
  const bytes = delivered.get(request)
  if (!bytes) throw new Problem(400, 'this server cannot read a body on GET; give the parameters in the query string')
  if (bytes.length > maxBytes) throw tooLarge()
  if (bytes.length === 0) return undefined
  const json = parse(bytes)
  if (!json.isObject) throw new Problem(400, 'request body must be a JSON object')
  return json
}

const parse = (bytes: Uint8Array): Json => {
  try {
    return readJson(bytes)
  } catch (error) {
    if (error instanceof JsonError) throw new Problem(400, `request body is ${error.message}`)
    throw error
  }
}

const tooLarge = () => new Problem(413, 'request body is too large')

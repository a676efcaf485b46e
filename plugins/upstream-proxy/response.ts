import { upstreamRequestId } from '../shared/http/headers.ts'
import { type Json, JsonError, parseJson, readJson, readJsonUtf8, responseLimits } from '../shared/json/json.ts'
import { asJsonObject, type JsonObject } from '../shared/json/parsed.ts'
import type { Log } from '../shared/problem.ts'
import { decodeText } from '../shared/text.ts'
import type { ContainsCredential } from '../shared/upstream/credentials.ts'
import { type RawResponse, UpstreamInvalidError, UpstreamRejectedError } from '../shared/upstream/upstream-error.ts'
import type { Operation } from './library/operation.ts'

/** A success. The gateway forwards its bytes unchanged and can read its JSON. */
export interface UpstreamResponse extends RawResponse {
  /** The JSON object as JavaScript values. Undefined for an empty response to an update or deletion. */
  readonly fields: JsonObject | undefined
  /** The JSON object with its source text, for extracting parts unchanged. Undefined in the same case. */
  readonly json: Json | undefined
}

/** Parses on first access. `fields` and `json` throw JsonError for the same responses. */
class Success implements UpstreamResponse {
  readonly status: number
  readonly headers: Headers
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly #text: string | undefined
  #fields: JsonObject | undefined
  #json: Json | undefined

  /** @param text the decoded bytes; undefined if they are not UTF-8 */
  constructor({ status, headers, bytes }: RawResponse, text: string | undefined) {
    this.status = status
    this.headers = headers
    this.bytes = bytes
    this.#text = text
  }

  get fields(): JsonObject | undefined {
    if (this.bytes.length === 0) return undefined
    this.#fields ??= asJsonObject(this.#text === undefined ? this.json?.value() : parseJson(this.#text, responseLimits))
    return this.#fields
  }

  get json(): Json | undefined {
    if (this.bytes.length === 0) return undefined
    this.#json ??=
      this.#text === undefined
        ? readJson(this.bytes, responseLimits)
        : readJsonUtf8(this.bytes, this.#text, responseLimits)
    return this.#json
  }
}

/**
 * Returns the response of an operation if it is a success. Throws UpstreamRejectedError or UpstreamInvalidError
 * otherwise.
 */
export const checkResponse = (
  operation: Operation,
  received: RawResponse,
  containsCredential: ContainsCredential,
  log: Log,
): UpstreamResponse => {
  const { status, headers, bytes } = received
  const text = decodeText(bytes)
  if (containsCredential(text ?? bytes, headers)) throw new UpstreamInvalidError('the response contains a credential')
  if (status >= 400 && status <= 599) {
    const { action } = operation
    const id = carriesSecret.has(action) ? undefined : (headers.get(upstreamRequestId) ?? undefined)
    log.info({ action, status, upstreamRequestId: id }, 'upstream rejected the request')
    throw new UpstreamRejectedError(received)
  }
  if (status < 200 || status >= 300) throw new UpstreamInvalidError(`status ${status}`)
  const success = new Success(received, text)
  if (bytes.length === 0 && mayBeEmpty.has(operation.action)) return success
  try {
    if (listActions.has(operation.action) ? success.json?.isObject : success.fields) return success
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
  }
  throw new UpstreamInvalidError(`the response to ${operation.action} has status ${status} and no JSON object`)
}

/**
 * Their requests contain the token or the callback state of a face verification. An upstream could repeat it in its
 * request id, which the log would show.
 */
const carriesSecret: ReadonlySet<string> = new Set([
  'CreateVisualValidateSession',
  'GetVisualValidateResult',
] satisfies Operation['action'][])

/** The gateway extracts the items of these with their source text, so it does not need `fields`. */
const listActions: ReadonlySet<string> = new Set([
  'ListAssetGroups',
  'FindAssetGroups',
  'ListAssets',
] satisfies Operation['action'][])

/** The body of a success may be empty. */
const mayBeEmpty: ReadonlySet<string> = new Set([
  'UpdateAssetGroup',
  'DeleteAssetGroup',
  'UpdateAsset',
  'DeleteAsset',
] satisfies Operation['action'][])

import type { ContainsCredential } from '../shared/credentials.ts'
import {
  answerLimits,
  asJsonObject,
  type Json,
  JsonError,
  type JsonObject,
  parseJson,
  readJson,
  readUtf8,
} from '../shared/json.ts'
import { responseOf } from '../shared/known-body.ts'
import { type Log, Problem } from '../shared/problem.ts'
import { decodeText } from '../shared/text.ts'
import type { Operation } from './library/operation.ts'

/** What an upstream has answered. */
export interface RawResponse {
  readonly status: number
  /** What a caller may see of the upstream's headers. */
  readonly headers: Headers
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** A success: its bytes are forwarded as they are, its JSON is looked into. */
export interface UpstreamResponse extends RawResponse {
  /** The answer's object as JavaScript sees it, to look into; undefined for an empty answer to a change. */
  readonly fields: JsonObject | undefined
  /** The same as it was written, to take parts of it. */
  readonly json: Json | undefined
}

/** Looked into when somebody does. Either look throws JsonError for the same answers. */
class Success implements UpstreamResponse {
  readonly status: number
  readonly headers: Headers
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly #text: string | undefined
  #fields: JsonObject | undefined
  #json: Json | undefined

  /** @param text of the bytes, where it is known */
  constructor({ status, headers, bytes }: RawResponse, text: string | undefined) {
    this.status = status
    this.headers = headers
    this.bytes = bytes
    this.#text = text
  }

  get fields(): JsonObject | undefined {
    if (this.bytes.length === 0) return undefined
    this.#fields ??= asJsonObject(this.#text === undefined ? this.json?.value() : parseJson(this.#text, answerLimits))
    return this.#fields
  }

  get json(): Json | undefined {
    if (this.bytes.length === 0) return undefined
    this.#json ??=
      this.#text === undefined ? readJson(this.bytes, answerLimits) : readUtf8(this.bytes, this.#text, answerLimits)
    return this.#json
  }
}

/** The upstream's own error, forwarded: status, body and content type as they came. */
export class UpstreamRefusedError extends Problem {
  readonly response: RawResponse

  constructor(answer: RawResponse) {
    super(answer.status, `upstream answered ${answer.status}`)
    this.response = answer
  }

  override toResponse(): Response {
    return toResponse(this.response)
  }
}

/** There was no answer. `sent` is false when the request certainly never left: then nothing has happened upstream. */
export class UpstreamUnreachableError extends Problem {
  readonly sent: boolean

  constructor(cause: unknown, sent: boolean) {
    super(502, 'Seedance upstream unavailable', { cause })
    this.sent = sent
  }
}

/** The upstream answered, but not with anything that can be passed on. */
export class UpstreamInvalidError extends Problem {
  constructor(cause: string) {
    super(502, 'upstream returned an invalid response', { cause })
  }
}

/** An answer as a response, byte for byte. */
export const toResponse = ({ status, headers, bytes }: RawResponse): Response =>
  bytes.length === 0 ? new Response(null, { status, headers }) : responseOf(bytes, { status, headers })

/** What came as an answer to an operation, when it is a success. Throws Refusal or Invalid for anything else. */
export const checkResponse = (
  operation: Operation,
  received: RawResponse,
  reveals: ContainsCredential,
  log: Log,
): UpstreamResponse => {
  const { status, headers, bytes } = received
  const text = decodeText(bytes)
  if (reveals(text ?? bytes, headers)) throw new UpstreamInvalidError('an answer that contains a credential')
  if (status >= 400 && status <= 599) {
    log.info({ action: operation.action, status }, 'upstream refused')
    throw new UpstreamRefusedError(received)
  }
  if (status < 200 || status >= 300) throw new UpstreamInvalidError(`status ${status}`)
  const answer = new Success(received, text)
  if (bytes.length === 0 && mayBeEmpty.has(operation.action)) return answer
  try {
    if (isList.has(operation.action) ? answer.json?.isObject : answer.fields) return answer
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
  }
  throw new UpstreamInvalidError(`${operation.action} answered ${status} without a JSON object`)
}

/** Of these, items are taken out as they were written. */
const isList: ReadonlySet<string> = new Set([
  'ListAssetGroups',
  'FindAssetGroups',
  'ListAssets',
] satisfies Operation['action'][])

const mayBeEmpty: ReadonlySet<string> = new Set([
  'UpdateAssetGroup',
  'DeleteAssetGroup',
  'UpdateAsset',
  'DeleteAsset',
] satisfies Operation['action'][])

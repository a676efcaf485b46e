import { Buffer } from 'node:buffer'
import {
  composeObject,
  type Json,
  JsonError,
  maxBytesAtOnce,
  readJson,
  readJsonInTurns,
  toJson,
} from '../../shared/json/json.ts'
import { TextProblem } from '../protocol/problem.ts'
import { fieldOf, isPresent, readBoolean, rejectField, requireField, shortStringOf } from '../protocol/validation.ts'

/** A `response.create` message: the request of `POST /v1/responses`, and fields for the connection. */
export interface CreateMessage {
  /** The lane. Undefined: the default lane. */
  readonly streamId: string | undefined
  /** Whether the model generates output. If not, the message only prepares the input of a later one. */
  readonly generates: boolean
  /** Whether a store keeps the response, so that the connection need not. */
  readonly stores: boolean
  readonly previousId: string | undefined
  /** The whole message. */
  readonly json: Json
}

/** Parses a message. Throws TextProblem 400 unless it is a JSON object. */
export const parseMessage = async (text: string): Promise<Json> => {
  try {
    const json = text.length > maxBytesAtOnce ? await readJsonInTurns(Buffer.from(text)) : readJson(text)
    if (json.isObject) return json
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    throw new TextProblem(400, `message is ${error.message}`)
  }
  throw new TextProblem(400, 'message must be a JSON object')
}

/** The lane of a message. Throws TextProblem 400 for an invalid one. */
export const readStreamId = (json: Json): string | undefined => {
  const field = fieldOf(json, 'stream_id')
  if (!isPresent(field)) return undefined
  const id = shortStringOf(field.json)
  if (id !== undefined && /^[\w.-]{1,256}$/.test(id)) return id
  const message = 'stream_id must be a string of 1 to 256 letters, digits, underscores, hyphens and periods'
  throw new TextProblem(400, message, { param: 'stream_id', code: 'invalid_stream_id' })
}

/** Reads the fields that the connection needs. The route checks all others. Throws TextProblem 400. */
export const readCreateMessage = (json: Json, streamId: string | undefined): CreateMessage => {
  if (readBoolean(fieldOf(json, 'background'))) rejectField('background', 'is not available over WebSocket')
  const previous = fieldOf(json, 'previous_response_id')
  if (isPresent(previous) && !previous.json.isString) rejectField(previous.param, 'must be a string')
  const input = requireField(fieldOf(json, 'input'))
  if (!input.json.isString && !input.json.isArray) rejectField(input.param, 'must be a string or an array of items')
  const generate = fieldOf(json, 'generate')
  return {
    streamId,
    generates: !isPresent(generate) || readBoolean(generate),
    stores: !fieldOf(json, 'store').json?.is('false'),
    previousId: shortStringOf(previous.json),
    json,
  }
}

export const isSteering = (type: string | undefined): boolean => type === 'response.steer'

/**
 * The answer to `response.steer`: upstreams get one request for each response, which cannot be steered. It returns the
 * input, as the protocol requires.
 */
export const steeringFailed = (message: Json): string =>
  composeObject({
    type: toJson('response.steer.failed'),
    sequence_number: toJson(0),
    // The input may be long: it is not parsed.
    steer: composeObject({ previous_response_id: message.get('previous_response_id'), input: message.get('input') }),
    error: toJson({ code: 'steering_not_supported', message: 'responses cannot be steered here' }),
  }).raw

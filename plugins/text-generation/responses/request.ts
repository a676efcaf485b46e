import { runSteps, type SteppedWork } from '../../shared/background/turns.ts'
import { type Json, toJson } from '../../shared/json/json.ts'
import type { Capabilities } from '../models/routing.ts'
import {
  checkArray,
  checkInteger,
  checkNumber,
  checkObject,
  fieldOf,
  isPresent,
  readBoolean,
  readModel,
  rejectField,
  requireField,
} from '../protocol/validation.ts'
import { checkInput } from './input.ts'

/** The fields of a Responses request that the gateway itself uses. */
export interface ResponsesRequest {
  /** Not empty. */
  readonly model: string
  readonly stream: boolean
  /** Whether the upstream generates in the background, and the caller fetches the response later. */
  readonly background: boolean
  /** Whether the upstream keeps the response. It does unless `store` is false. */
  readonly stores: boolean
}

/**
 * Checks the fields of `POST /v1/responses` that the gateway knows. Other fields, items and parts pass.
 *
 * `null` counts as absent. `input` may be empty.
 *
 * Throws TextProblem 400 for the first invalid field, and for a field that occurs twice. `param` is its path, for
 * example `input[0].content[1].text`.
 */
export const checkResponsesRequest = (
  request: Json,
  capabilities?: Pick<Capabilities, 'maxTemperature'>,
): ResponsesRequest => runSteps(validateResponsesRequest(request, capabilities))

/** The same in steps. */
export function* validateResponsesRequest(
  request: Json,
  { maxTemperature = 2 }: Pick<Capabilities, 'maxTemperature'> = {},
): SteppedWork<ResponsesRequest> {
  const model = readModel(request)
  yield* checkInput(requireField(fieldOf(request, 'input')))
  checkObject(fieldOf(request, 'reasoning'))
  checkArray(fieldOf(request, 'tools'))
  const choice = fieldOf(request, 'tool_choice')
  if (isPresent(choice) && !choice.json.isString && !choice.json.isObject)
    rejectField(choice.param, 'must be a string or an object')
  checkObject(fieldOf(request, 'text'))
  const stream = readBoolean(fieldOf(request, 'stream'))
  const background = readBoolean(fieldOf(request, 'background'))
  const stores = !fieldOf(request, 'store').json?.is('false')
  checkInteger(fieldOf(request, 'max_output_tokens'), 1)
  checkNumber(fieldOf(request, 'temperature'), 0, maxTemperature)
  checkNumber(fieldOf(request, 'top_p'), 0, 1)
  return { model, stream, background, stores }
}

/** The request with `stream: true`. */
export const asResponsesStream = (request: Json): Json => request.with('stream', toJson(true))

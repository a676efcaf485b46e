import { type Json, toJson } from '../../shared/json.ts'
import type { Capabilities } from '../upstream/model-routing.ts'
import {
  checkArray,
  checkInteger,
  checkNumber,
  checkObject,
  checkString,
  elementsOf,
  fieldOf,
  isPresent,
  type Present,
  readBoolean,
  readModel,
  refuseField,
  requireField,
  wordOf,
} from '../validation.ts'

/** What a relay has to know of a responses request. */
export interface ResponsesRequest {
  /** Not empty. */
  readonly model: string
  readonly stream: boolean
  /** Whether the caller wants to fetch the answer later. */
  readonly background: boolean
  /** Whether the upstream is to keep the answer: it does unless it is told not to. */
  readonly stores: boolean
}

/**
 * Checks what the document names of `POST /v1/responses`, in the order of its table, and then what both protocols share. `null` counts as
 * absent; what the document does not name passes, unknown items and parts too. `input` may be empty.
 *
 * Throws TextProblem 400 whose `param` is the first offending field, for example `input[0].content[1].text`; also for a field that stands twice.
 */
export const checkResponsesRequest = (
  request: Json,
  { maxTemperature = 2 }: Pick<Capabilities, 'maxTemperature'> = {},
): ResponsesRequest => {
  const model = readModel(request)
  checkInput(requireField(fieldOf(request, 'input')))
  checkObject(fieldOf(request, 'reasoning'))
  checkArray(fieldOf(request, 'tools'))
  const choice = fieldOf(request, 'tool_choice')
  if (isPresent(choice) && !choice.json.isString && !choice.json.isObject)
    refuseField(choice.param, 'must be a string or an object')
  checkObject(fieldOf(request, 'text'))
  const stream = readBoolean(fieldOf(request, 'stream'))
  const background = readBoolean(fieldOf(request, 'background'))
  const stores = !fieldOf(request, 'store').json?.is('false')
  checkInteger(fieldOf(request, 'max_output_tokens'), 1)
  checkNumber(fieldOf(request, 'temperature'), 0, maxTemperature)
  checkNumber(fieldOf(request, 'top_p'), 0, 1)
  return { model, stream, background, stores }
}

const checkInput = (input: Present): void => {
  if (input.json.isString) return
  if (!input.json.isArray) refuseField(input.param, 'must be a string or an array of items')
  for (const item of elementsOf(input)) checkItem(item)
}

const checkItem = ({ param, json }: Present): void => {
  checkObject({ param, json })
  const type = fieldOf(json, 'type', param)
  checkString(type)
  // An item without a type is a message; what is in items of other types is the upstream's to check.
  if (isPresent(type) && wordOf(type.json) !== 'message') return
  checkString(fieldOf(json, 'role', param))
  checkString(fieldOf(json, 'text', param))
  const content = fieldOf(json, 'content', param)
  if (!isPresent(content) || content.json.isString) return
  if (!content.json.isArray) refuseField(content.param, 'must be a string or an array of parts')
  for (const part of elementsOf(content)) checkPart(part)
}

const texts: readonly unknown[] = ['text', 'input_text', 'output_text']

const checkPart = ({ param, json }: Present): void => {
  const type = fieldOf(json, 'type', param)
  if (isPresent(type) && texts.includes(wordOf(type.json))) checkString(requireField(fieldOf(json, 'text', param)))
}

/** The request as a streaming one, whatever the caller asked for. */
export const asResponsesStream = (request: Json): Json => request.with('stream', toJson(true))

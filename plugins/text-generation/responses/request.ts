import { Pace, runSteps, type SteppedWork } from '../../shared/background/turns.ts'
import { type Json, readJson, toJson } from '../../shared/json/json.ts'
import type { Capabilities } from '../models/routing.ts'
import {
  checkArray,
  checkInteger,
  checkNumber,
  checkObject,
  checkString,
  elementsOf,
  fieldOf,
  isPresent,
  memberOf,
  type PresentField,
  readBoolean,
  readModel,
  rejectField,
  requireField,
  shortStringOf,
} from '../protocol/validation.ts'

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

/** The items of the input of a Responses request. A string is the message of a user. */
export const inputItemsOf = (request: Json): readonly Json[] => {
  const input = request.get('input')
  if (!input?.isString) return input?.elements() ?? []
  return [textMessage.edit([['content', input]])]
}

/** An edit of it knows its members without a look at a long text. */
const textMessage = readJson('{"type":"message","role":"user","content":null}')

/** Checks the items of an input, and the parts of their content, in steps. */
function* checkInput(input: PresentField): SteppedWork<void> {
  if (input.json.isString) return
  if (!input.json.isArray) rejectField(input.param, 'must be a string or an array of items')
  const pace = new Pace()
  for (const item of elementsOf(input)) {
    if (pace.isDue()) yield
    for (const part of checkItem(item)) {
      if (pace.isDue()) yield
      checkPart(part)
    }
  }
}

const noParts: readonly PresentField[] = []

/** Checks an item, and returns the parts of its content, which are to be checked. */
const checkItem = (item: PresentField): readonly PresentField[] => {
  checkObject(item)
  const type = memberOf(item, 'type')
  checkString(type)
  // An item without a type is a message. The upstream checks items of other types.
  if (isPresent(type) && shortStringOf(type.json) !== 'message') return noParts
  checkString(memberOf(item, 'role'))
  checkString(memberOf(item, 'text'))
  const content = memberOf(item, 'content')
  if (!isPresent(content) || content.json.isString) return noParts
  if (!content.json.isArray) rejectField(content.param, 'must be a string or an array of parts')
  return elementsOf(content)
}

const textTypes: readonly unknown[] = ['text', 'input_text', 'output_text']

const checkPart = (part: PresentField): void => {
  const type = memberOf(part, 'type')
  if (isPresent(type) && textTypes.includes(shortStringOf(type.json))) checkString(requireField(memberOf(part, 'text')))
}

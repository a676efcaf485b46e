import { Pace, type SteppedWork } from '../../shared/background/turns.ts'
import { type Json, readJson } from '../../shared/json/json.ts'
import {
  checkObject,
  checkString,
  elementsOf,
  fieldOf,
  isPresent,
  type PresentField,
  rejectField,
  requireField,
  shortStringOf,
} from '../protocol/validation.ts'

/** The items of the input of a Responses request. A string is the message of a user. */
export const inputItemsOf = (request: Json): readonly Json[] => {
  const input = request.get('input')
  if (!input?.isString) return input?.elements() ?? []
  return [textMessage.edit([['content', input]])]
}

/** An edit of it knows its members without a look at a long text. */
const textMessage = readJson('{"type":"message","role":"user","content":null}')

/** Checks the items of an input, and the parts of their content, in steps. */
export function* checkInput(input: PresentField): SteppedWork<void> {
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
const checkItem = ({ param, json }: PresentField): readonly PresentField[] => {
  checkObject({ param, json })
  const type = fieldOf(json, 'type', param)
  checkString(type)
  // An item without a type is a message. The upstream checks items of other types.
  if (isPresent(type) && shortStringOf(type.json) !== 'message') return noParts
  checkString(fieldOf(json, 'role', param))
  checkString(fieldOf(json, 'text', param))
  const content = fieldOf(json, 'content', param)
  if (!isPresent(content) || content.json.isString) return noParts
  if (!content.json.isArray) rejectField(content.param, 'must be a string or an array of parts')
  return elementsOf(content)
}

const textTypes: readonly unknown[] = ['text', 'input_text', 'output_text']

const checkPart = ({ param, json }: PresentField): void => {
  const type = fieldOf(json, 'type', param)
  if (isPresent(type) && textTypes.includes(shortStringOf(type.json)))
    checkString(requireField(fieldOf(json, 'text', param)))
}

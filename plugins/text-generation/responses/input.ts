import { composeJson, type Json } from '../../shared/json.ts'

/** The items of the input of a Responses request. A string is the message of a user. */
export const inputItemsOf = (request: Json): readonly Json[] => {
  const input = request.get('input')
  if (!input?.isString) return input?.elements() ?? []
  return [composeJson(['{"type":"message","role":"user","content":', input, '}'])]
}

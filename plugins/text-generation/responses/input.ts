import { type Json, readJson } from '../../shared/json/json.ts'

/** The items of the input of a Responses request. A string is the message of a user. */
export const inputItemsOf = (request: Json): readonly Json[] => {
  const input = request.get('input')
  if (!input?.isString) return input?.elements() ?? []
  return [textMessage.edit([['content', input]])]
}

/** An edit of it knows its members without a look at a long text. */
const textMessage = readJson('{"type":"message","role":"user","content":null}')

import { raise } from '../../shared/raise.ts'
import type { Reader } from '../../shared/reader.ts'
import { badRequest, OpenAIError, wrongType } from '../openai-error.ts'
import type { Item } from './items.ts'
import type { TextObjects } from './objects.ts'

/** The earlier items and the conversation that a Responses request continues. */
export interface Context {
  readonly earlier: readonly Item[]
  /** id of the conversation of the request */
  readonly conversation: string | undefined
}

/** Reads `previous_response_id` or `conversation`. Throws 400 when a request has both. */
export const contextOf = (request: Reader, objects: TextObjects): Context => {
  const previous = request.text('previous_response_id')
  const conversation = conversationIn(request)
  if (previous !== undefined && conversation !== undefined) {
    const errorMessage =
      "Mutually exclusive parameters: Ensure you are only providing one of: 'previous_response_id' or 'conversation'."
    throw badRequest('previous_response_id', 'mutually_exclusive_parameters', errorMessage)
  }
  if (conversation !== undefined) {
    checkId('conversation', conversation, 'conv')
    const found = objects.conversation(conversation) ?? raise(conversationUnknown(conversation))
    return { earlier: objects.conversationItems(found), conversation }
  }
  if (previous === undefined) return { earlier: [], conversation }
  checkId('previous_response_id', previous, 'resp')
  const found = objects.response(previous)
  if (found !== undefined) return { earlier: objects.itemsUntil(found), conversation }
  const errorMessage = `Previous response with id '${previous}' not found.`
  throw badRequest('previous_response_id', 'previous_response_not_found', errorMessage)
}

/** Throws 400 when an id does not have the prefix of its kind. */
export const checkId = (param: string, id: string, prefix: string): void => {
  if (id.startsWith(`${prefix}_`)) return
  throw badRequest(param, 'invalid_value', `Invalid '${param}': '${id}'. Expected an ID that begins with '${prefix}'.`)
}

/** 404 for an unknown conversation. */
export const conversationUnknown = (id: string): OpenAIError =>
  new OpenAIError(404, `Conversation with id '${id}' not found.`)

const conversationIn = (request: Reader): string | undefined => {
  const given = request.raw.conversation ?? undefined
  if (given === undefined || typeof given === 'string') return given
  const named = request.object('conversation') ?? raise(wrongType('conversation', 'a string or an object', given))
  return named.required('id')
}

/** The texts of the user messages among the items. */
export const recalledFrom = (items: readonly Item[]): string[] =>
  items.flatMap(({ turn }) => (turn?.role === 'user' ? [turn.text] : []))

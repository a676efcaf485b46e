import { raise } from '../../shared/raise.ts'
import type { Json } from '../../shared/reader.ts'
import { type CallContext, textIdOf } from '../output/call-context.ts'
import { jsonSteps, type Steps } from '../output/steps.ts'
import { readerOf } from '../reader.ts'
import { itemsIn } from '../request/input.ts'
import { checkId, conversationUnknown } from './context.ts'
import type { StoredConversation, TextObjects } from './objects.ts'
import type { ObjectCalls } from './stored-calls.ts'

/** CreateConversation: stores a conversation with optional items. */
export const createConversation = (body: Json, objects: TextObjects, callContext: CallContext): Steps => {
  const request = readerOf(body)
  const items = request.has('items') ? itemsIn(request, 'items', objects, callContext) : []
  const metadata = request.object('metadata')?.raw ?? {}
  const made = objects.addConversation({ id: textIdOf('conv_', callContext), at: callContext.at, metadata, items })
  return jsonSteps(200, conversationObject(made))
}

/** The handlers of calls that address an existing conversation. */
export const conversationCalls = (objects: TextObjects): ObjectCalls => {
  const found = (id: string): StoredConversation => {
    checkId('conversation_id', id, 'conv')
    return objects.conversation(id) ?? raise(conversationUnknown(id))
  }

  return {
    GetConversation: (id) => jsonSteps(200, conversationObject(found(id))),
    DeleteConversation(id) {
      objects.stored.delete(found(id).id)
      return jsonSteps(200, { id, object: 'conversation.deleted', deleted: true })
    },
  }
}

const conversationObject = ({ id, at, metadata }: StoredConversation): object => ({
  id,
  object: 'conversation',
  created_at: Math.floor(at / 1000),
  metadata,
})

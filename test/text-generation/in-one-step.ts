import { runSteps } from '../../plugins/shared/background/turns.ts'
import type { Json } from '../../plugins/shared/json/json.ts'
import {
  type ChatRequestOptions,
  type TranslatedRequest,
  translateRequest,
} from '../../plugins/text-generation/bridge/request/chat-request.ts'
import { type ChatRequest, validateChatRequest } from '../../plugins/text-generation/chat/request.ts'
import {
  type MessagesRequest,
  type ReadMessagesOptions,
  translateMessagesRequest,
} from '../../plugins/text-generation/messages/request/messages-request.ts'
import type { Capabilities } from '../../plugins/text-generation/models/routing.ts'

/** What the gateway does with requests in steps, at once. */
export const toChatRequest = (request: Json, options?: ChatRequestOptions): TranslatedRequest =>
  runSteps(translateRequest(request, options))

export const checkChatRequest = (request: Json, capabilities?: Pick<Capabilities, 'maxTemperature'>): ChatRequest =>
  runSteps(validateChatRequest(request, capabilities))

export const readMessagesRequest = (request: Json, options: ReadMessagesOptions): MessagesRequest =>
  runSteps(translateMessagesRequest(request, options))

import { raise } from '../../shared/raise.ts'
import type { Json, Reader } from '../../shared/reader.ts'
import type { Catalogue, Model } from '../catalogue.ts'
import type { Prompt, PromptMessage } from '../generation/prompt.ts'
import type { TextObjects } from '../objects/objects.ts'
import { badRequest, missingField, wrongValue } from '../openai-error.ts'
import { readerOf } from '../reader.ts'
import { contentOf } from './content.ts'
import { checkPrompt, readModel, readSampling, readStream, readTier } from './model-limits.ts'
import { referencedNames } from './references.ts'
import { schemaIn } from './response-format.ts'
import { stopsOf } from './stops.ts'
import { toolChoiceOf, toolsOf } from './tools.ts'

/** A validated chat completion request. */
export interface ChatRequest {
  readonly prompt: Prompt
  readonly streams: boolean
  readonly includeUsage: boolean
  readonly obfuscates: boolean
  readonly seed: number | undefined
  readonly tier: string
}

const roles = ['system', 'developer', 'user', 'assistant', 'tool', 'function'] as const

/** Validates a chat completion request against the API, its model and the account's objects. Throws a `OpenAIError`. */
export const readChat = (body: Json, catalogue: Catalogue, objects: TextObjects): ChatRequest => {
  const request = readerOf(body)
  const model = readModel(request, catalogue, 'chat')
  const turns = turnsOf(request)
  const referenced = referencedNames(request, objects)
  const { streams, options } = readStream(request, model)
  const tools = toolsOf(request, 'nested')
  const prompt: Prompt = {
    ...{ model, turns, referenced, tools, choice: toolChoiceOf(request, tools, 'nested') },
    parallel: request.boolean('parallel_tool_calls') ?? true,
    schema: schemaIn(request.object('response_format'), 'nested'),
    maxTokens: maxTokensOf(request, model),
    stops: stopsOf(request),
    count: request.integer('n', 1, 128) ?? 1,
    ...readSampling(request, model),
    searches: false,
    topLogprobs: topLogprobsOf(request),
  }
  return {
    prompt: checkPrompt(prompt, 'messages'),
    streams,
    includeUsage: options?.boolean('include_usage') ?? false,
    obfuscates: options?.boolean('include_obfuscation') ?? false,
    seed: request.integer('seed', Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
    tier: readTier(request),
  }
}

const turnsOf = (request: Reader): PromptMessage[] => {
  if (!request.has('messages')) throw missingField('messages')
  const messages = request.objects('messages')
  if (messages.length === 0) {
    const errorMessage =
      "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead."
    throw badRequest('messages', 'empty_array', errorMessage)
  }
  // ids of tool calls without a tool message so far
  let open = new Set<string>()
  const turns = messages.map((message) => {
    const role = message.oneOf('role', roles) ?? raise(missingField(message.path('role')))
    if (role === 'tool') {
      const id = message.required('tool_call_id')
      if (!open.delete(id)) {
        const errorMessage = "messages with role 'tool' must be a response to a preceding message with 'tool_calls'."
        throw badRequest(message.path('role'), 'invalid_value', errorMessage)
      }
    } else if (open.size > 0) {
      throw missingToolMessages(message.path('role'), open)
    }
    const calls = message.objects('tool_calls')
    if (role === 'assistant') open = new Set(calls.map(checkToolCall))
    else if (calls.length > 0) throw wrongValue(message.path('role'), role, ['assistant'])
    const optional =
      role === 'assistant' && (calls.length > 0 || message.has('refusal') || message.has('function_call'))
    return { role: roleOf(role), ...contentOf(message, 'content', optional) }
  })
  if (open.size > 0) throw missingToolMessages('messages', open)
  return turns
}

const checkToolCall = (call: Reader): string => {
  const kind = call.oneOf('type', ['function', 'custom']) ?? 'function'
  const named = call.object(kind) ?? raise(missingField(call.path(kind)))
  named.required('name')
  named.required(kind === 'function' ? 'arguments' : 'input')
  return call.required('id')
}

const missingToolMessages = (param: string, open: ReadonlySet<string>): Error => {
  const errorMessage =
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
    `The following tool_call_ids did not have response messages: ${[...open].join(', ')}.`
  return badRequest(param, 'invalid_value', errorMessage)
}

const roleOf = (role: (typeof roles)[number]): PromptMessage['role'] => {
  if (role === 'developer') return 'system'
  return role === 'function' ? 'tool' : role
}

const maxTokensOf = (request: Reader, { maxTokens: max, maxTokensField }: Model): number => {
  if (request.has('max_tokens') && request.has('max_completion_tokens')) {
    const errorMessage = "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported."
    throw badRequest('max_tokens', 'invalid_parameter_combination', errorMessage)
  }
  const field = request.has('max_tokens') ? 'max_tokens' : 'max_completion_tokens'
  if (maxTokensField !== 'either' && field !== maxTokensField && request.has(field)) {
    const errorMessage = `Unsupported parameter: '${field}' is not supported with this model. Use '${maxTokensField}' instead.`
    throw badRequest(field, 'unsupported_parameter', errorMessage)
  }
  const given = request.integer(field, 1, Number.MAX_SAFE_INTEGER) ?? Math.min(4096, max)
  if (given <= max) return given
  const errorMessage =
    `max_tokens is too large: ${given}. This model supports at most ${max} completion tokens, ` +
    `whereas you provided ${given}.`
  throw badRequest(field, 'invalid_value', errorMessage)
}

const topLogprobsOf = (request: Reader): number | undefined => {
  const enabled = request.boolean('logprobs') ?? false
  const top = request.integer('top_logprobs', 0, 20)
  if (top !== undefined && !enabled) {
    const errorMessage = "The 'top_logprobs' parameter is only allowed when 'logprobs' is enabled."
    throw badRequest('top_logprobs', 'invalid_value', errorMessage)
  }
  return enabled ? (top ?? 0) : undefined
}

import type { Catalogue } from './catalogue.ts'
import { schemaIn } from './format.ts'
import { type Conversation, conversationOf } from './input.ts'
import { checkPrompt, readModel, readSampling, readStream, readTier } from './limits.ts'
import type { Prompt } from './prompt.ts'
import { type Json, type Reader, readerOf } from './reader.ts'
import { refused } from './refusal.ts'
import { chosen, searchesIn, toolsOf } from './tools.ts'

/** A responses request that was found to make sense. */
export interface ResponsesRequest {
  readonly raw: Json
  readonly prompt: Prompt
  readonly conversation: Conversation
  readonly streams: boolean
  readonly obfuscates: boolean
  readonly tier: string
  readonly stores: boolean
  /** extras that were asked for */
  readonly include: readonly string[]
}

const LOGPROBS = 'message.output_text.logprobs'

/** Reads a responses request by the rules of the protocol and of its model; throws a `TextRefusal`. */
export function readResponses(
  body: Json,
  catalogue: Catalogue,
  recall: (id: string) => Conversation | undefined,
): ResponsesRequest {
  const request = readerOf(body)
  const model = readModel(request, catalogue, 'responses')
  const conversation = conversationOf(request, earlier(request, recall))
  const { streams, options } = readStream(request, model)
  if (request.flag('background')) {
    throw refused('background', 'unsupported_value', `The model \`${model.id}\` does not run in the background.`)
  }
  const tools = toolsOf(request, 'flat')
  const include = includeOf(request)
  const choice = chosen(request, tools, 'flat')
  const top = request.whole('top_logprobs', 0, 20)
  const instructions = request.text('instructions')
  const said = instructions === undefined ? [] : [{ role: 'system' as const, text: instructions, pieces: 0 }]
  const prompt: Prompt = {
    ...{ model, turns: [...said, ...conversation.turns], tools, choice },
    parallel: request.flag('parallel_tool_calls') ?? true,
    schema: schemaIn(request.object('text')?.object('format'), 'flat'),
    maxTokens: request.whole('max_output_tokens', 1, model.maxTokens) ?? model.maxTokens,
    ...{ stops: [], count: 1, ...readSampling(request, model) },
    searches: choice !== 'none' && searchesIn(request),
    topLogprobs: include.includes(LOGPROBS) ? (top ?? 0) : undefined,
  }
  return {
    ...{ raw: body, prompt: checkPrompt(prompt, 'input'), conversation, streams, include },
    obfuscates: options?.flag('include_obfuscation') ?? false,
    tier: readTier(request),
    stores: request.flag('store') ?? true,
  }
}

function earlier(request: Reader, recall: (id: string) => Conversation | undefined): Conversation | undefined {
  const id = request.text('previous_response_id')
  if (id === undefined) return undefined
  const found = recall(id)
  if (found !== undefined) return found
  throw refused('previous_response_id', 'previous_response_not_found', `Previous response with id '${id}' not found.`)
}

function includeOf(request: Reader): string[] {
  const given = request.raw.include ?? []
  if (Array.isArray(given) && given.every((one): one is string => typeof one === 'string')) return given
  throw refused('include', 'invalid_type', "Invalid type for 'include': expected an array of strings.")
}

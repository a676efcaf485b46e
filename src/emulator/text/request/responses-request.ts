import type { Json, Reader } from '../../shared/reader.ts'
import type { Catalogue } from '../catalogue.ts'
import type { Prompt } from '../generation/prompt.ts'
import { contextOf, recalledFrom } from '../objects/context.ts'
import { turnsOf } from '../objects/items.ts'
import type { TextObjects } from '../objects/objects.ts'
import { badRequest } from '../openai-error.ts'
import type { CallContext } from '../output/call-context.ts'
import { readerOf } from '../reader.ts'
import { inputOf } from './input.ts'
import { checkPrompt, readModel, readSampling, readStream, readTier } from './model-limits.ts'
import { referencedNames } from './references.ts'
import { schemaIn } from './response-format.ts'
import { searchesIn, toolChoiceOf, toolsOf } from './tools.ts'
import type { ResponsesRequest } from './validated-request.ts'

const logprobs = 'message.output_text.logprobs'

/** Validates a Responses request against the API, its model and the account's objects. Throws a `OpenAIError`. */
export const readResponses = (
  body: Json,
  catalogue: Catalogue,
  objects: TextObjects,
  callContext: CallContext,
): ResponsesRequest => {
  const request = readerOf(body)
  const model = readModel(request, catalogue, 'responses')
  const { earlier, conversation } = contextOf(request, objects)
  const input = inputOf(request, earlier, objects, callContext)
  const referred = input.filter((item) => objects.item(item.id) === item)
  const { streams, options } = readStream(request, model)
  const stores = request.boolean('store') ?? true
  const background = request.boolean('background') ?? false
  if (background && !stores) {
    throw badRequest('background', 'invalid_value', "Background mode requires 'store' to be true.")
  }
  const added = [...earlier, ...input].flatMap((item) => item.tools ?? [])
  const tools = [...toolsOf(request, 'flat'), ...added]
  const include = includeOf(request)
  const choice = toolChoiceOf(request, tools, 'flat')
  const top = request.integer('top_logprobs', 0, 20)
  const instructions = request.text('instructions')
  const systemTurns =
    instructions === undefined ? [] : [{ role: 'system' as const, text: instructions, attachments: 0 }]
  const prompt: Prompt = {
    ...{ model, turns: [...systemTurns, ...turnsOf(earlier), ...turnsOf(input)], tools, choice },
    referenced: [...recalledFrom([...earlier, ...referred]), ...referencedNames(request, objects)],
    parallel: request.boolean('parallel_tool_calls') ?? true,
    schema: schemaIn(request.object('text')?.object('format'), 'flat'),
    maxTokens: request.integer('max_output_tokens', 1, model.maxTokens) ?? model.maxTokens,
    ...{ stops: [], count: 1, ...readSampling(request, model) },
    searches: choice !== 'none' && searchesIn(request),
    topLogprobs: include.includes(logprobs) ? (top ?? 0) : undefined,
  }
  return {
    ...{ raw: body, prompt: checkPrompt(prompt, 'input'), earlier, input, conversation, streams, include },
    ...{ compacts: input.at(-1)?.json.type === 'compaction_trigger', sealing: objects.sealing },
    ...{ background, stores, obfuscates: options?.boolean('include_obfuscation') ?? false, tier: readTier(request) },
  }
}

const includeOf = (request: Reader): string[] => {
  const given = request.raw.include ?? []
  if (Array.isArray(given) && given.every((one): one is string => typeof one === 'string')) return given
  throw badRequest('include', 'invalid_type', "Invalid type for 'include': expected an array of strings.")
}

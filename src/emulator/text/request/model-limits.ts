import { raise } from '../../shared/raise.ts'
import type { Reader } from '../../shared/reader.ts'
import type { Catalogue, Model } from '../catalogue.ts'
import type { Prompt } from '../generation/prompt.ts'
import { costOf } from '../generation/tokens.ts'
import { badRequest, missingField, OpenAIError } from '../openai-error.ts'

const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const

/** The APIs of text generation, as fields of a model. */
export type TextApi = 'chat' | 'responses' | 'completions' | 'embeddings'

/** The model of a request. Throws 400 when it is missing, 404 when it does not exist or does not support this API. */
export const readModel = (request: Reader, catalogue: Catalogue, api: TextApi): Model => {
  const model = catalogue.find(request.required('model') || raise(missingField('model')))
  if (model[api]) return model
  throw unsupported[api](model)
}

const unsupportedIn = (api: string) => (model: Model) =>
  new OpenAIError(404, `The model \`${model.id}\` is not supported with the ${api} API.`, {
    ...{ param: 'model', code: 'unsupported_api' },
  })

const unsupported: Readonly<Record<TextApi, (model: Model) => OpenAIError>> = {
  chat: unsupportedIn('Chat Completions'),
  responses: unsupportedIn('Responses'),
  completions: () =>
    new OpenAIError(
      404,
      'This is a chat model and not supported in the v1/completions endpoint. Did you mean to use v1/chat/completions?',
      { param: 'model' },
    ),
  embeddings: () => new OpenAIError(403, 'You are not allowed to generate embeddings from this model'),
}

/** Whether the model generates reasoning. Throws 400 when the model does not support an effort. */
export const readEffort = (effort: string | undefined, param: string, { id, reasoning }: Model): boolean => {
  if (effort !== undefined && reasoning === 'never') {
    throw badRequest(
      param,
      'unsupported_parameter',
      `Unsupported parameter: '${param}' is not supported with \`${id}\`.`,
    )
  }
  if (reasoning === 'always') return true
  return effort !== undefined && effort !== 'none' && effort !== 'minimal'
}

/** Validates the sampling parameters, and reads whether the model generates reasoning. */
export const readSampling = (request: Reader, model: Model): { readonly reasons: boolean } => {
  request.number('temperature', 0, model.maxTemperature)
  request.number('top_p', 0, 1)
  request.number('presence_penalty', -2, 2)
  request.number('frequency_penalty', -2, 2)
  request.text('user')
  request.object('metadata')
  const nested = request.object('reasoning')
  const holder = nested ?? request
  const field = nested === undefined ? 'reasoning_effort' : 'effort'
  return { reasons: readEffort(holder.oneOf(field, efforts), holder.path(field), model) }
}

/** Throws 400 `context_length_exceeded` when the prompt exceeds the context of the model. */
export const checkPrompt = (prompt: Prompt, param: string): Prompt => {
  const cost = costOf(prompt.turns)
  const max = prompt.model.contextTokens
  if (cost <= max) return prompt
  const errorMessage = `This model's maximum context length is ${max} tokens. However, your messages resulted in ${cost} tokens.`
  throw badRequest(param, 'context_length_exceeded', `${errorMessage} Please reduce the length of the messages.`)
}

/** Reads `stream` and `stream_options`. Throws 400 when the model does not support them. */
export const readStream = (request: Reader, model: Model): { readonly streams: boolean; readonly options?: Reader } => {
  const streams = request.boolean('stream') ?? false
  if (streams && !model.streams) {
    throw badRequest(
      'stream',
      'unsupported_value',
      "Unsupported value: 'stream' does not support true with this model. Only the default (false) value is supported.",
    )
  }
  const options = request.object('stream_options')
  // an error without `param`, as older OpenAI-compatible servers send it
  if (options !== undefined && !model.streamOptions) {
    throw new OpenAIError(400, 'Unrecognized request argument supplied: stream_options.')
  }
  if (options === undefined || streams) return { streams, options }
  const errorMessage = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
  throw badRequest('stream_options', 'invalid_value', errorMessage)
}

/** The `service_tier` of the response. */
export const readTier = (request: Reader): string => {
  const tier = request.oneOf('service_tier', ['auto', 'default', 'flex', 'priority']) ?? 'auto'
  return tier === 'auto' ? 'default' : tier
}

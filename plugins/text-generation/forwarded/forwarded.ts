import { oneStep } from '../../shared/background/turns.ts'
import type { JsonLimits } from '../../shared/json/json.ts'
import type { JsonObject } from '../../shared/json/parsed.ts'
import { relayChat } from '../chat/relay.ts'
import { readIncludeUsage, withAdditions } from '../chat/request.ts'
import { doneText, eventText } from '../events/text.ts'
import { type Assembly, StreamError } from '../protocol/assembly.ts'
import { TextProblem, upstreamUnavailable } from '../protocol/problem.ts'
import type { Exchange, Protocol } from '../protocol/protocol.ts'
import { checkChoices, checkString, fieldOf, readBoolean, readModel, shortStringOf } from '../protocol/validation.ts'
import { outputMaximumChanges } from '../upstream/output-maximum.ts'

/** 300,000 tokens in 2,048 texts, as the OpenAI API permits, if they come as numbers. */
const bodyLimits: JsonLimits = { maxValues: 400_000, maxKeyBytes: 2 ** 23 }

/** `POST /v1/embeddings`: the request and the response pass unchanged. */
export const embeddings: Protocol = {
  bodyLimits,
  validate: (request) => oneStep(() => ({ model: readModel(request), stream: false })),
  toExchange: (request) => ({
    ...unassembled,
    action: 'CreateEmbedding',
    path: '/embeddings',
    body: () => request,
    isResponse: ({ data }: JsonObject) => Array.isArray(data),
  }),
}

/**
 * `POST /v1/completions`. A request without `stream` and its response pass unchanged. A stream is that of a chat, with
 * text in place of the messages.
 */
export const completions: Protocol = {
  bodyLimits,
  validate: (request) =>
    oneStep(() => {
      checkChoices(request)
      // Read by the gateway too, so they may occur only once.
      for (const field of ['prompt', 'max_tokens']) fieldOf(request, field)
      return {
        model: readModel(request),
        stream: readBoolean(fieldOf(request, 'stream')),
        includeUsage: readIncludeUsage(request),
      }
    }),
  toExchange: (request, { stream, includeUsage = false }, { maxTokens }) => ({
    ...unassembled,
    action: 'CreateCompletion',
    path: '/completions',
    // This API knows only `max_tokens`, and has a default of its own.
    body: (without) =>
      stream
        ? withAdditions(request, without, { maxTokens })
        : request.edit(outputMaximumChanges(request, { maxTokens }, undefined)),
    isResponse: ({ choices }: JsonObject) => Array.isArray(choices),
    toEventStream: (completion) => eventText(JSON.stringify(completion)) + doneText,
    relay: () => relayChat(includeUsage),
  }),
}

/** What all exchanges share whose non-streaming response is not built from a stream. */
const unassembled: Pick<
  Exchange,
  'native' | 'unassembled' | 'hasTerminalEvent' | 'toEventStream' | 'assemble' | 'relay'
> = {
  native: true,
  unassembled: true,
  hasTerminalEvent: false,
  toEventStream: unexpectedStream,
  relay: unexpectedStream,
  assemble: (): Assembly => ({
    push: unexpectedStream,
    complete: false,
    result: unexpectedStream,
    partial() {
      throw upstreamUnavailable(new Error('time limit exceeded'), true)
    },
    usage: undefined,
  }),
}

function unexpectedStream(): never {
  throw new StreamError('the upstream sent a stream that was not requested')
}

/**
 * `POST /v1/responses/compact` at an upstream that has a Responses API: the request and the response pass unchanged.
 * The items in the response are the caller's.
 */
export const compaction: Protocol = {
  validate: (request) => oneStep(() => ({ model: readModel(request), stream: false, stores: true })),
  toExchange: (request) => ({
    ...unassembled,
    action: 'CompactResponse',
    path: '/responses/compact',
    body: () => request,
    isResponse: ({ output }: JsonObject) => Array.isArray(output),
  }),
}

/** `POST /v1/responses/input_tokens`: the request and the response pass unchanged. It has no usage. */
export const inputTokens: Protocol = {
  validate: (request) =>
    oneStep(() => {
      const model = fieldOf(request, 'model')
      checkString(model)
      return { model: shortStringOf(model.json) ?? '', stream: false, stores: false }
    }),
  toExchange: (request) => ({
    ...unassembled,
    action: 'CountInputTokens',
    path: '/responses/input_tokens',
    unmetered: true,
    body: () => request,
    isResponse: ({ input_tokens: count }: JsonObject) => typeof count === 'number',
  }),
}

/** The same at an upstream that has chat completions only: a count of the gateway's own would be an estimate. */
export const uncountedTokens: Protocol = {
  validate: inputTokens.validate,
  toExchange() {
    const message = 'input tokens cannot be counted: the upstream of this model has chat completions only'
    throw new TextProblem(404, message, { param: 'model', code: 'unsupported_endpoint' })
  },
}

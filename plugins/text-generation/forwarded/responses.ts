import { oneStep } from '../../shared/background/turns.ts'
import type { JsonObject } from '../../shared/json/parsed.ts'
import { TextProblem } from '../protocol/problem.ts'
import type { Protocol } from '../protocol/protocol.ts'
import { checkString, fieldOf, readModel, shortStringOf } from '../protocol/validation.ts'
import { unassembled } from './forwarded.ts'

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

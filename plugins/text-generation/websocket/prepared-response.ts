import type { Clock } from '../../shared/clock.ts'
import type { Json } from '../../shared/json/json.ts'
import type { JsonObject } from '../../shared/json/parsed.ts'
import { initialResponse, repeatableFields } from '../responses/initial-response.ts'
import { checkResponsesRequest } from '../responses/request.ts'

/**
 * The response to a message with `generate: false`, which only prepares the input of a later message. It costs nothing,
 * and no upstream sees it.
 *
 * Throws TextProblem 400 for an invalid request.
 */
export const preparedResponse = (
  request: Json,
  clock: Clock,
): { readonly id: string; readonly events: JsonObject[] } => {
  checkResponsesRequest(request)
  const id = `resp_${crypto.randomUUID().replaceAll('-', '')}`
  const createdAt = Math.floor(clock.now() / 1_000)
  const response = initialResponse(repeatableFields(request), { id, createdAt })
  const tokens = { input_tokens: 0, output_tokens: 0, total_tokens: 0 }
  const details = { input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } }
  const complete = { ...response, status: 'completed', completed_at: createdAt, usage: { ...tokens, ...details } }
  const events = [
    { type: 'response.created', response },
    { type: 'response.in_progress', response },
    { type: 'response.completed', response: complete },
  ]
  return { id, events: events.map((event, sequence_number) => ({ ...event, sequence_number })) }
}

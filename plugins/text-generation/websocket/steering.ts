import type { Json } from '../../shared/json/json.ts'
import { parseLossless } from '../../shared/json/lossless.ts'
import { asJsonObject, type JsonObject } from '../../shared/json/parsed.ts'

export const isSteering = (type: string | undefined): boolean => type === 'response.steer'

/**
 * The answer to `response.steer`: upstreams get one request for each response, which cannot be steered. It returns the
 * input, as the protocol requires.
 */
export const steeringFailed = (message: Json): JsonObject => {
  const { input, previous_response_id } = asJsonObject(parseLossless(message.raw)) ?? {}
  return {
    type: 'response.steer.failed',
    sequence_number: 0,
    steer: { previous_response_id, input },
    error: { code: 'steering_not_supported', message: 'responses cannot be steered here' },
  }
}

import { composeObject, type Json, toJson } from '../../shared/json/json.ts'

export const isSteering = (type: string | undefined): boolean => type === 'response.steer'

/**
 * The answer to `response.steer`: upstreams get one request for each response, which cannot be steered. It returns the
 * input, as the protocol requires.
 */
export const steeringFailed = (message: Json): string =>
  composeObject({
    type: toJson('response.steer.failed'),
    sequence_number: toJson(0),
    // The input may be long: it is not parsed.
    steer: composeObject({ previous_response_id: message.get('previous_response_id'), input: message.get('input') }),
    error: toJson({ code: 'steering_not_supported', message: 'responses cannot be steered here' }),
  }).raw

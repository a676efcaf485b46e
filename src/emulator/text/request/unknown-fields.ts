import type { Json } from '../../shared/reader.ts'
import { badRequest } from '../openai-error.ts'

const commonFields =
  'model stream stream_options temperature top_p tools tool_choice parallel_tool_calls metadata store user service_tier ' +
  'top_logprobs safety_identifier prompt_cache_key prompt_cache_options prompt_cache_retention moderation'

/** The top-level fields of each API. */
const fields = {
  chat: new Set(
    `${commonFields} messages max_tokens max_completion_tokens n stop seed response_format logprobs logit_bias presence_penalty
    frequency_penalty reasoning_effort verbosity modalities audio prediction web_search_options function_call functions thinking`.split(
      /\s+/,
    ),
  ),
  responses: new Set(
    `${commonFields} input instructions max_output_tokens max_tool_calls reasoning text previous_response_id include background
    truncation conversation prompt context_management thinking access_programs image client_metadata`.split(/\s+/),
  ),
}

/** Throws 400 `unknown_parameter` for a top-level field that the API does not have. */
export const checkKnown = (body: Json, protocol: keyof typeof fields): void => {
  const unknown = Object.keys(body).find((name) => !fields[protocol].has(name))
  if (unknown !== undefined) throw badRequest(unknown, 'unknown_parameter', `Unknown parameter: '${unknown}'.`)
}

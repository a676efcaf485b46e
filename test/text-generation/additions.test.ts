import { describe, expect, test } from 'bun:test'
import { type Addition, rejectedAddition } from '../../plugins/text-generation/upstream/additions.ts'
import { UpstreamRejectedError } from '../../plugins/upstream-proxy/index.ts'

const refusal = (body: unknown, status = 400) =>
  new UpstreamRejectedError({
    status,
    headers: new Headers(),
    bytes: new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body)),
  })
const about = (body: unknown, status?: number) => rejectedAddition(refusal(body, status))

/** An error body in OpenAI's format. */
const error = (message: string, param: string | null = null, code: string | null = null) => ({
  error: { message, type: 'invalid_request_error', param, code },
})
/** The list of invalid fields that some frameworks return. */
const detail = (loc: readonly (string | number)[], msg = 'Extra inputs are not permitted') => ({
  detail: [{ type: 'extra_forbidden', loc: ['body', ...loc], msg, input: true }],
})

describe('the rejection of an added field is recognized by its param or message', () => {
  const rejections: readonly (readonly [Addition, boolean, unknown])[] = [
    [
      'stream',
      true,
      error(
        "Unsupported value: 'stream' does not support true with this model. Only the default (false) value is supported.",
        'stream',
        'unsupported_value',
      ),
    ],
    [
      'stream',
      true,
      error("Unsupported value: 'stream' does not support true with this model. Supported values are: false."),
    ],
    ['stream', true, error('Your organization must be verified to stream this model.', 'stream', 'unsupported_value')],
    ['stream', true, error('The model is unsupported for streaming')],
    ['stream', true, error('This model does not support streaming.')],
    ['stream', true, error("This model doesn't support streaming responses")],
    ['stream', true, error('Streaming is not supported for this model')],
    ['stream', true, error('Streaming is currently disabled for this deployment')],
    ['stream', true, error('Unrecognized request argument supplied: stream')],
    ['stream', true, error("'n' > 1 is not supported when streaming", 'n')],
    ['stream', true, error('tools are not supported in streaming mode', 'tools')],
    ['stream', true, { error: ['Error in `stream`: `stream` is not supported for this model'] }],
    ['stream', true, error('`stream` must be set to false when using this model')],
    ['stream', true, error('This model only supports non-streaming requests')],
    ['stream', true, detail(['stream'])],
    ['stream', true, { detail: "Extra parameters ['stream'] are not allowed when extra-parameters is not set" }],
    ['stream_options', true, error("Unknown parameter: 'stream_options'.", 'stream_options', 'unknown_parameter')],
    ['stream_options', true, error('Unrecognized request argument supplied: stream_options')],
    ['stream_options', true, error('Unknown field: include_usage', 'stream_options.include_usage')],
    [
      'stream_options',
      true,
      {
        detail:
          "Extra parameters ['stream_options'] are not allowed when extra-parameters is not set or set to be 'error'.",
      },
    ],
    ['stream_options', true, detail(['stream_options'])],
    ['stream_options', true, detail(['stream_options', 'include_usage'])],
    [
      'stream_options',
      true,
      { object: 'error', message: detail(['stream_options']), type: 'invalid_request_error', param: null },
    ],
    ['stream_options', true, { object: 'error', message: JSON.stringify(detail(['stream_options'])), param: null }],
    [
      'stream_options',
      true,
      { object: 'Error', ...detail(['stream_options']), message: detail(['stream_options']).detail },
    ],
    [
      'max_tokens',
      true,
      error(
        'max_tokens is too large: 4096. This model supports at most 2048 completion tokens, whereas you provided 4096.',
        'max_tokens',
        'invalid_value',
      ),
    ],
    [
      'max_tokens',
      true,
      error(
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        'max_tokens',
        'unsupported_parameter',
      ),
    ],
    [
      'max_tokens',
      true,
      error('Invalid max_tokens value, the valid range of max_tokens is [1, 2048]', null, 'invalid_request_error'),
    ],
    [
      'max_tokens',
      true,
      error(
        'The parameter `max_tokens` specified in the request are not valid: integer above maximum value, expected a value <= 2048, but got 4096 instead.',
        'max_tokens',
        'InvalidParameter',
      ),
    ],
    [
      'max_tokens',
      true,
      {
        code: 'InvalidParameter',
        message: '<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 2000]',
      },
    ],
    [
      'max_tokens',
      true,
      {
        code: 400,
        reason: 'INVALID_REQUEST_BODY',
        message: 'max_tokens (current value: 4096) must be between 0 and 4000 ',
        metadata: {},
      },
    ],
    [
      'max_tokens',
      true,
      error('`max_completion_tokens` must be less than or equal to `2048`', 'max_completion_tokens'),
    ],
    ['max_tokens', true, { error: 'max_tokens (4096) exceeds the maximum output tokens (2048) of the model' }],
    [
      'max_tokens',
      true,
      [
        error(
          'Unable to submit request because it has a maxOutputTokens value of 4096 but the supported range is from 1 (inclusive) to 2049 (exclusive). Update the value and try again.',
        ),
      ],
    ],
    ['max_tokens', true, { message: 'The maximum tokens you requested exceeds the model limit of 2048.' }],
    [
      'max_tokens',
      true,
      { message: 'too many tokens: max tokens must be less than or equal to 4000, the maximum output for this model' },
    ],
    ['max_tokens', false, error('Invalid request: Your request exceeded model token limit: 8192')],
    ['max_tokens', true, error('`budget_tokens` must be less than max_tokens', 'thinking.budget_tokens')],
    ['max_tokens', true, detail(['max_tokens'], 'Input should be less than or equal to 2048')],
    [
      'max_tokens',
      false,
      error(
        "This model's maximum context length is 4097 tokens. However, you requested 4127 tokens (31 in the messages, 4096 in the completion). Please reduce the length of the messages or completion.",
        'messages',
        'context_length_exceeded',
      ),
    ],
    [
      'max_tokens',
      false,
      {
        object: 'error',
        message:
          "This model's maximum context length is 4097 tokens, however you requested 4116 tokens (20 in your prompt; 4096 for the completion).",
        param: null,
        code: 400,
      },
    ],
    [
      'max_tokens',
      false,
      error(
        "This model's maximum context length is 8000 tokens. However, you requested 4096 output tokens and your prompt contains at least 7000 input tokens, for a total of at least 11096 tokens.",
      ),
    ],
    [
      'max_tokens',
      false,
      error(
        "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 4096 tokens and your request has 104 input tokens (4096 > 4096 - 104).",
        'max_tokens',
      ),
    ],
    [
      'max_tokens',
      false,
      error(
        "Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total of 4200 tokens: 104 tokens from the input messages and 4096 tokens for the completion.",
      ),
    ],
    [
      'max_tokens',
      false,
      {
        error:
          '`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 104 `inputs` tokens and 4096 `max_new_tokens`',
        error_type: 'validation',
      },
    ],
  ]
  for (const [addition, permanent, body] of rejections) {
    test(`${addition}: ${JSON.stringify(body).slice(0, 140)}`, () => {
      expect(about(body)).toEqual({ addition, permanent })
      expect(about(body, 422)).toEqual({ addition, permanent })
    })
  }
})

describe('a rejection is not about an added field', () => {
  const rejections: readonly unknown[] = [
    error("Invalid value: 'x'.", 'messages[0].role'),
    error('The model `x` does not exist', 'model', 'model_not_found'),
    error(
      "This model's maximum context length is 4096 tokens. However, your messages resulted in 5000 tokens. Please reduce the length of the messages.",
      'messages',
      'context_length_exceeded',
    ),
    error('Invalid image: unexpected end of stream', 'messages[0].content[1]'),
    error('The audio stream is not supported: mp4'),
    error('Could not decode the video stream; its codec is unsupported'),
    error('This model only support stream mode, please enable the stream parameter to access the model.'),
    error('Unknown tool. The upstream said so.'),
    error('temperature is not supported with this model', 'temperature'),
    error('You uploaded an unsupported image. Streaming media are fine.'),
    error('Input data may contain inappropriate content.', null, 'data_inspection_failed'),
    error('Token limit: the input has 4096 tokens', 'input'),
    detail(['messages', 0, 'user', 'name']),
    detail(['logprobs']),
    {},
    [],
    null,
    'not JSON',
    '',
    '{"error":',
    { error: null, message: 7, detail: [7, null, [[[[[['stream_options']]]]]]] },
    `{"error":{"message":"stream_options ${'x'.repeat(2 ** 16)}"}}`,
  ]
  for (const body of rejections) {
    test(`${JSON.stringify(body).slice(0, 140)}`, () => {
      expect(about(body)).toBeUndefined()
    })
  }

  test('or does not prove that the upstream has generated nothing', () => {
    for (const status of [401, 403, 404, 408, 409, 413, 429, 500, 502, 503]) {
      expect(about(error('stream is not supported', 'stream'), status)).toBeUndefined()
    }
  })
})

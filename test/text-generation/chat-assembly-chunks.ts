/** A stream of an upstream and its completion. */
export interface Recorded {
  /** Chunks as objects, or as JSON text where the spelling matters. Each is one event. `[DONE]` follows. */
  readonly chunks: readonly (object | string)[]
  /** The non-streaming completion, as an object or as JSON text. */
  readonly response: object | string
  /** Why the result of OpenAI's client differs. */
  readonly official?: string
}

export const head = { id: 'chatcmpl-1', created: 1_700_000_000, model: 'doubao-1' }

export const chunk = (choices: readonly object[], more: object = {}) => ({
  ...head,
  object: 'chat.completion.chunk',
  choices,
  ...more,
})

/** A chunk with one delta. */
export const say = (
  delta: unknown,
  { index = 0, ...more }: { readonly index?: number; readonly [key: string]: unknown } = {},
) => chunk([{ index, delta, logprobs: null, finish_reason: null, ...more }])

export const finish = (reason = 'stop', index = 0) =>
  chunk([{ index, delta: {}, logprobs: null, finish_reason: reason }])

export const start = say({ role: 'assistant', content: '', refusal: null })

export const usage = {
  prompt_tokens: 9,
  completion_tokens: 12,
  total_tokens: 21,
  prompt_tokens_details: { cached_tokens: 4, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 5, audio_tokens: 0, accepted_prediction_tokens: 0 },
}

export const response = (choices: readonly object[], more: object = {}) => ({
  ...head,
  object: 'chat.completion',
  choices,
  ...more,
})

export const choice = (message: object, reason = 'stop', more: object = {}) => ({
  index: 0,
  message: { role: 'assistant', content: null, refusal: null, ...message },
  logprobs: null,
  finish_reason: reason,
  ...more,
})

/** A completion with one choice. */
export const completionWith = (message: object, reason = 'stop', more: object = {}) =>
  response([choice(message, reason)], more)

export const call = (id: string, name: string, text: string) => ({
  id,
  type: 'function',
  function: { name, arguments: text },
})

/** Deltas of tool calls. */
export const calls = (...deltas: readonly object[]) => say({ tool_calls: deltas })

export const token = (text: string, logprob: number) => ({
  token: text,
  logprob,
  bytes: [...new TextEncoder().encode(text)],
  top_logprobs: [{ token: text, logprob, bytes: null }],
})

export const lastWins = 'it lets the last delta of a key that it does not know win'
export const noIndex = 'it rejects deltas without an index'
export const wholeText = 'it takes the text of pieces for the text of the whole'

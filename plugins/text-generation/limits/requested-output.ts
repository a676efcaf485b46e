import type { Json } from '../../shared/json/json.ts'

/** The most output that a request allows, in tokens. Infinity: it says nothing. */
export const maximumOf = (request: Json, defaultMaxTokens: number | undefined): number => {
  const maxima = maximumFields.map((field) => numberIn(request.get(field))).filter((maximum) => maximum >= 1)
  // Upstreams differ in which one decides.
  if (maxima.length > 0) return Math.max(...maxima, ownMaximumOf(request)) * choicesOf(request)
  return defaultMaxTokens !== undefined && request.get('messages')
    ? Math.max(defaultMaxTokens, ownMaximumOf(request)) * choicesOf(request)
    : Number.POSITIVE_INFINITY
}

const maximumFields = ['max_completion_tokens', 'max_tokens', 'max_output_tokens']

/** llama.cpp prefers its own field, whose -1 means no maximum. Other upstreams ignore it. */
const ownMaximumOf = (request: Json): number => {
  const maximum = numberIn(request.get('n_predict'))
  return maximum < 0 ? Number.POSITIVE_INFINITY : maximum || 0
}

/**
 * Responses that a request asks for at once: each counts as output. A request for completions may have several prompts,
 * and may have more generated than it receives (`best_of`).
 */
export const choicesOf = (request: Json): number => {
  const choices = [request.get('n'), request.get('best_of')].map(numberIn).filter((count) => count >= 1)
  return Math.max(1, ...choices) * promptsOf(request)
}

const promptsOf = (request: Json): number => {
  const prompt = request.get('prompt')
  if (!prompt?.isArray) return 1
  // A list of numbers is one prompt, as tokens.
  const prompts = prompt.elements().reduce((sum, { isNumber }) => sum + Number(!isNumber), 0)
  return Math.max(1, prompts)
}

/** A number, or a text that an upstream may read as one. NaN for any other value. */
const numberIn = (json: Json | undefined): number => {
  if (json?.isNumber) return json.value() as number
  const text = json && json.byteLength <= maxNumberBytes ? json.string() : undefined
  return text?.trim() ? Number(text) : Number.NaN
}

const maxNumberBytes = 64

import type { Json } from '../../shared/json/json.ts'

/**
 * The most output that a request allows, in tokens. Infinity: it says nothing.
 *
 * @param choices of the request: see `choicesOf`
 */
export const maximumOf = (request: Json, choices: number, defaultMaxTokens: number | undefined): number => {
  let maximum = 0
  // Upstreams differ in which one decides.
  for (const field of maximumFields) maximum = Math.max(maximum, countIn(request.get(field)))
  if (maximum === 0 && defaultMaxTokens !== undefined && request.get('messages')) maximum = defaultMaxTokens
  return maximum > 0 ? Math.max(maximum, ownMaximumOf(request)) * choices : Number.POSITIVE_INFINITY
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
  const choices = Math.max(1, countIn(request.get('n')), countIn(request.get('best_of')))
  return choices * promptsOf(request)
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

/** A number from 1. 0 for any other value. */
const countIn = (json: Json | undefined): number => {
  const count = json ? numberIn(json) : 0
  return count >= 1 ? count : 0
}

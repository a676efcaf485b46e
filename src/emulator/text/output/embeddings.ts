import { sha256 } from '../../shared/hash.ts'
import type { Json, Reader } from '../../shared/reader.ts'
import type { Catalogue } from '../catalogue.ts'
import { tokensOf } from '../generation/tokens.ts'
import { badRequest, missingField, wrongType } from '../openai-error.ts'
import { readerOf } from '../reader.ts'
import { readModel } from '../request/model-limits.ts'
import { jsonSteps, type Steps } from './steps.ts'

/** Maximum number of texts of a request. */
const maxInputs = 2048
/** Number of dimensions of a vector when the request does not set it. */
const fullSize = 1536

/** The response to a request for embeddings, and the number of its input tokens. */
export interface Embeddings {
  readonly steps: Steps
  readonly tokens: number
}

/**
 * Embeds texts. A vector has the length 1 and depends only on its text. Texts that share tokens are similar.
 *
 * Throws a `OpenAIError` for an invalid request.
 */
export const createEmbeddings = (body: Json, catalogue: Catalogue): Embeddings => {
  const request = readerOf(body)
  const model = readModel(request, catalogue, 'embeddings')
  const inputs = inputsOf(request)
  const size = request.integer('dimensions', 1, fullSize) ?? fullSize
  const format = request.oneOf('encoding_format', ['float', 'base64'] as const) ?? 'float'
  request.text('user')
  for (const [index, { length }] of inputs.entries()) {
    if (length <= model.contextTokens) continue
    const errorMessage = `Invalid 'input[${index}]': maximum input length is ${model.contextTokens} tokens.`
    throw badRequest('input', 'invalid_value', errorMessage)
  }
  const data = inputs.map((tokens, index) => {
    const vector = vectorOf(tokens, size)
    return { object: 'embedding', index, embedding: format === 'base64' ? base64Of(vector) : [...vector] }
  })
  const tokens = inputs.reduce((sum, { length }) => sum + length, 0)
  const usage = { prompt_tokens: tokens, total_tokens: tokens }
  return { tokens, steps: jsonSteps(200, { object: 'list', data, model: model.id, usage }) }
}

/** The inputs as tokens: one or several texts, or lists of token ids. */
const inputsOf = (request: Reader): readonly (readonly string[])[] => {
  const given = request.raw.input ?? undefined
  if (given === undefined) throw missingField('input')
  const list = Array.isArray(given) && typeof given[0] !== 'number' ? given : [given]
  if (list.length === 0 || list.length > maxInputs) {
    const errorMessage = `Invalid 'input': expected an array with 1 to ${maxInputs} elements, but got ${list.length}.`
    throw badRequest('input', list.length === 0 ? 'empty_array' : 'array_above_max_length', errorMessage)
  }
  return list.map((one, index) => {
    if (one === '' || (Array.isArray(one) && one.length === 0)) {
      throw badRequest('input', 'invalid_value', `Invalid 'input[${index}]': input cannot be an empty string.`)
    }
    if (typeof one === 'string') return tokensOf(one)
    if (Array.isArray(one) && one.every((id) => Number.isInteger(id))) return one.map(String)
    throw wrongType('input', 'a string, an array of strings, or an array of tokens', one)
  })
}

const vectorOf = (tokens: readonly string[], size: number): Float32Array => {
  const vector = new Float32Array(size)
  for (const token of tokens) {
    // a token points into a few directions of its own
    const hash = sha256(`token ${token.trim().toLowerCase()}`)
    for (let at = 0; at < 32; at += 8) {
      const number = Number.parseInt(hash.slice(at, at + 8), 16)
      const index = number % size
      vector[index] = (vector[index] ?? 0) + (number & 0x10000 ? 1 : -1)
    }
  }
  const length = Math.hypot(...vector)
  // opposite directions can add up to nothing
  if (length === 0) vector[0] = 1
  return vector.map((value) => value / (length || 1))
}

const base64Of = (vector: Float32Array): string => Buffer.from(vector.buffer).toString('base64')

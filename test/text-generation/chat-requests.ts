import { readJson, toJson } from '../../plugins/shared/json/json.ts'
import type { Capabilities } from '../../plugins/text-generation/models/routing.ts'
import { TextProblem } from '../../plugins/text-generation/protocol/problem.ts'
import { checkChatRequest } from './in-one-step.ts'

export const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }

/** The error for an invalid request. */
export const refusal = (request: unknown, rules?: Pick<Capabilities, 'maxTemperature'>): TextProblem => {
  try {
    checkChatRequest(typeof request === 'string' ? readJson(request) : toJson(request), rules)
  } catch (error) {
    if (error instanceof TextProblem) return error
    throw error
  }
  throw new Error('the request was accepted')
}

import { adviceFor, type FailureAdvice } from '../failure-advice/index.ts'
import type { ApiError } from './api.ts'

/** What a model is told about a refusal: the API's own words, and what to do about it. */
export interface ToolFailure {
  readonly error: {
    /** HTTP status of the route. */
    readonly status: number
    readonly message: string
    readonly code?: string
    /** The wrong field, by its name in the route. */
    readonly param?: string
    /** Seconds to wait before another try. */
    readonly retry_after?: number
  }
  readonly advice?: ToolAdvice
}

/** The advice for an error code, for a model: it reads English. */
export interface ToolAdvice extends Omit<FailureAdvice, 'code' | 'text'> {
  readonly text: string
}

export const failureOf = ({ status, message, code, param, retryAfter }: ApiError): ToolFailure => {
  const advice = toolAdviceFor(code, message)
  return {
    error: {
      ...{ status, message },
      ...(code !== '' && { code }),
      ...(param !== '' && { param }),
      ...(retryAfter !== undefined && { retry_after: retryAfter }),
    },
    ...(advice && { advice }),
  }
}

/** What to do about an error code. Undefined: nothing is known about it. */
export const toolAdviceFor = (code: string, message: string): ToolAdvice | undefined => {
  const advice = adviceFor(code, message)
  if (!advice) return undefined
  const { code: _, text, ...rest } = advice
  return { ...rest, text: text.en }
}

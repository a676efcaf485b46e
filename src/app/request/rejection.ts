import { withInertHeaders } from '../../../plugins/shared/http/headers.ts'
import { type Problem, type ProblemBody, problemBody } from '../../../plugins/shared/problem.ts'
import { messagesProblemBody, textProblemBody } from '../../../plugins/text-generation/index.ts'
import { videoProblemBody } from '../../../plugins/video-generation/index.ts'
import { withNewRequestId } from './id.ts'

/** Renders problems in the error shape of the API that the request target belongs to. */
export const renderRejection = (segment?: string) => {
  const bodyOf = problemBodies(segment)
  return (problem: Problem, target: string): Response =>
    withNewRequestId(withInertHeaders(problem.toResponse(bodyOf(target))))
}

/** The error shapes of all APIs, by the request target. A problem renders a shape once, so each is made once. */
export const problemBodies = (segment?: string) => {
  const others = problemBody(errorType(segment))
  return (target: string): ProblemBody => {
    if (/^\/api\/v3(?:[/?]|$)/.test(target)) return videoProblemBody
    if (/^\/v1\/messages(?:[/?]|$)/.test(target)) return messagesProblemBody
    return /^\/v1(?:[/?]|$)/.test(target) ? textProblemBody : others
  }
}

export const errorType = (segment = 'media'): string => `${segment}_proxy_error`

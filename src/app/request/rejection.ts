import { withInertHeaders } from '../../../plugins/shared/http/headers.ts'
import { type Problem, type ProblemBody, problemBody } from '../../../plugins/shared/problem.ts'
import { messagesProblemBody, textProblemBody } from '../../../plugins/text-generation/index.ts'
import { videoProblemBody } from '../../../plugins/video-generation/index.ts'
import { withNewRequestId } from './id.ts'

/** Renders problems in the error shape of the API that the request target belongs to. */
export const renderRejection =
  (segment?: string) =>
  (problem: Problem, target: string): Response =>
    withNewRequestId(withInertHeaders(problem.toResponse(problemBodyOf(target, segment))))

export const problemBodyOf = (target: string, segment: string | undefined): ProblemBody => {
  if (/^\/api\/v3(?:[/?]|$)/.test(target)) return videoProblemBody
  if (/^\/v1\/messages(?:[/?]|$)/.test(target)) return messagesProblemBody
  return /^\/v1(?:[/?]|$)/.test(target) ? textProblemBody : problemBody(errorType(segment))
}

export const errorType = (segment = 'media'): string => `${segment}_proxy_error`

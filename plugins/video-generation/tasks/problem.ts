import { accessDenied } from '../../shared/audit.ts'
import { FieldProblem } from '../../shared/field-problem.ts'
import type { ProblemBody } from '../../shared/problem.ts'
import { UpstreamUnreachableError } from '../../shared/upstream/upstream-error.ts'

/** A problem of video generation, with the vendor's code. */
export class VideoProblem extends FieldProblem {
  override toResponse(body: ProblemBody = videoProblemBody): Response {
    return super.toResponse(body)
  }
}

/** Throws VideoProblem 400 for a field. */
export const rejectParameter = (param: string, what: string, code?: string): never => {
  throw new VideoProblem(400, `${param} ${what}`, { param, code })
}

/** The video upstream gave no complete response. `sent`: see UpstreamUnreachableError. */
export const videoUnavailable = (cause: unknown, sent: boolean): UpstreamUnreachableError =>
  new UpstreamUnreachableError(cause, sent, 'upstream unavailable')

/** `{"error":{"code","message","param","type"}}`: the error object of the vendor's API. */
export const videoProblemBody: ProblemBody = (problem) => {
  const { status, message } = problem
  const { param = '', code } = problem instanceof FieldProblem ? problem : {}
  const [defaultCode, type] = words[status] ?? (status < 500 ? words[400] : words[500]) ?? []
  return { error: { code: (code && limitCodes[code]) ?? code ?? defaultCode, message, param, type } }
}

/** The codes of a limit that has been reached, in the vendor's form. */
const limitCodes: Readonly<Record<string, string>> = {
  insufficient_quota: 'QuotaExceeded',
  rate_limit_exceeded: 'RateLimitExceeded',
}

/** Code and type by status. */
const words: Readonly<Record<number, readonly [code: string, type: string]>> = {
  400: ['InvalidParameter', 'BadRequest'],
  401: ['AuthenticationError', 'Unauthorized'],
  403: ['AccessDenied', 'Forbidden'],
  404: ['NotFound', 'NotFound'],
  405: ['MethodNotAllowed', 'MethodNotAllowed'],
  409: ['Conflict', 'Conflict'],
  413: ['RequestBodyTooLarge', 'RequestEntityTooLarge'],
  429: ['TooManyRequests', 'TooManyRequests'],
  500: ['InternalServiceError', 'InternalServerError'],
  502: ['UpstreamUnavailable', 'BadGateway'],
  503: ['ServiceUnavailable', 'ServiceUnavailable'],
}

/** The error for a task of another user, and for one that does not exist. */
export const unknownTask = (id?: string): VideoProblem =>
  new VideoProblem(404, 'The task is not found.', {
    code: 'NotFound.Task',
    param: 'id',
    event: accessDenied('video', id),
  })

/** The error for a model that does not exist, or not for this caller, as the vendor words it. */
export const unknownModel = (model: string): VideoProblem =>
  new VideoProblem(404, `The model or endpoint ${model} does not exist or you do not have access to it.`, {
    code: 'InvalidEndpointOrModel.NotFound',
    param: 'model',
  })

/** The error for a task with an asset that another user has lent, and lends no longer. */
export const shareEnded = new VideoProblem(403, 'an asset of the task is in a group that is no longer lent to you', {
  code: 'share_ended',
})

/** The error for a task with an asset of a person who has withdrawn the consent to its use. */
export const consentWithdrawn = new VideoProblem(403, 'the person in an asset of the task has withdrawn the consent', {
  code: 'consent_withdrawn',
})

/** The error for one more waiting task than a user may have. */
export const tooManyWaiting = new VideoProblem(429, 'you have the maximum number of waiting tasks', {
  code: 'QuotaExceeded',
  headers: { 'retry-after': '30' },
})

/** The error for a callback with a wrong key. */
export const unknownCallback = new VideoProblem(404, 'not found')

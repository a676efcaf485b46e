import { FieldProblem, fieldProblemBody } from '../../shared/field-problem.ts'
import type { ProblemBody } from '../../shared/problem.ts'
import { UpstreamUnreachableError } from '../../shared/upstream/upstream-error.ts'

/** A problem of text generation, which may name the invalid field of the request. */
export class TextProblem extends FieldProblem {}

/** The text upstream gave no complete response. `sent`: see UpstreamUnreachableError. */
export const upstreamUnavailable = (cause: unknown, sent: boolean): UpstreamUnreachableError =>
  new UpstreamUnreachableError(cause, sent, 'upstream unavailable')

/** `{"error":{"message","type","param","code"}}`: the error object of the OpenAI API. */
export const textProblemBody: ProblemBody = fieldProblemBody

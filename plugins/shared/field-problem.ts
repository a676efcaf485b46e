import { Problem, type ProblemBody } from './problem.ts'

/** A problem that also names the invalid field of the request. */
export class FieldProblem extends Problem {
  /** Path of the invalid field, for example `messages[0].role`. */
  readonly param: string | undefined
  /** Machine-readable code, for example `model_not_found`. */
  readonly code: string | undefined
  /** Type of the error. Default: that of its status. */
  readonly type: string | undefined

  constructor(
    status: number,
    message: string,
    options: ConstructorParameters<typeof Problem>[2] & {
      readonly param?: string
      readonly code?: string
      readonly type?: string
    } = {},
  ) {
    super(status, message, options)
    this.param = options.param
    this.code = options.code
    this.type = options.type
  }

  override toResponse(body: ProblemBody = fieldProblemBody): Response {
    return super.toResponse(body)
  }
}

/** `{"error":{"message","type","param","code"}}`: the error object of the OpenAI API. */
export const fieldProblemBody: ProblemBody = (problem) => {
  const { status, message } = problem
  const { param = null, code = codeOf(status), type = typeOf(status) } = problem instanceof FieldProblem ? problem : {}
  return { error: { message, type, param, code } }
}

const typeOf = (status: number): string => {
  if (status >= 500) return 'server_error'
  return (
    { 401: 'authentication_error', 403: 'permission_error', 429: 'rate_limit_error' }[status] ?? 'invalid_request_error'
  )
}

const codeOf = (status: number): string | null => (status === 401 ? 'invalid_api_key' : null)

/** The error of a failed server, as the faults `status` and `error-event` send it. */
export const serverError = {
  message: 'The server had an error while processing your request.',
  ...{ type: 'server_error', param: null, code: null },
}

/** The fields of an error beside its message. */
export interface OpenAIErrorDetails {
  /** path of the invalid field, such as `messages[0].role` */
  readonly param?: string
  /** error code, such as `model_not_found` */
  readonly code?: string
  /** default `invalid_request_error` */
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
  /** the body of a server that does not write errors as OpenAI does */
  readonly body?: object
}

/** An error response of the text APIs: `{"error":{"message","type","param","code"}}`. */
export class OpenAIError extends Error {
  override readonly name = 'OpenAIError'

  constructor(
    readonly status: number,
    message: string,
    readonly details: OpenAIErrorDetails = {},
  ) {
    super(message)
  }

  get body(): object {
    const { type = 'invalid_request_error', param = null, code = null, body } = this.details
    return body ?? { error: { message: this.message, type, param, code } }
  }
}

/** 400 for an invalid field. */
export const badRequest = (param: string, code: string, message: string): OpenAIError =>
  new OpenAIError(400, message, { param, code })

/** 400 for a missing required field. */
export const missingField = (param: string): OpenAIError =>
  badRequest(param, 'missing_required_parameter', `Missing required parameter: '${param}'.`)

/** 400 for a field with the wrong JSON type. */
export const wrongType = (param: string, expected: string, value: unknown): OpenAIError =>
  badRequest(
    param,
    'invalid_type',
    `Invalid type for '${param}': expected ${expected}, but got ${typeName(value)} instead.`,
  )

/** 400 for a value that is not one of the supported values. */
export const wrongValue = (param: string, value: unknown, words: readonly string[]): OpenAIError => {
  const known = words.map((word) => `'${word}'`).join(', ')
  return badRequest(
    param,
    'invalid_value',
    `Invalid value: ${typeof value === 'string' ? `'${value}'` : value}. Supported values are: ${known}.`,
  )
}

const typeName = (value: unknown): string => {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'an integer' : 'a decimal number'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** The fields of an error beside its message. */
export interface VideoErrorDetails {
  /** the invalid field, such as `content[0].image_url` */
  readonly param?: string
  readonly headers?: Readonly<Record<string, string>>
}

const types: Readonly<Record<number, string>> = {
  ...{ 401: 'Unauthorized', 403: 'Forbidden', 404: 'NotFound', 409: 'Conflict', 429: 'TooManyRequests' },
  500: 'InternalServerError',
}

/** An error response of the data plane: `{"error":{"code","message","param","type"}}` (vendor page 1299023). */
export class VideoError extends Error {
  override readonly name = 'VideoError'

  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly details: VideoErrorDetails = {},
  ) {
    super(message)
  }
}

/** The body of an error response. As at the vendor, the message ends with the request id. */
export const errorBodyOf = ({ status, code, message, details }: VideoError, requestId: string): string =>
  JSON.stringify({
    error: {
      code,
      message: `${message} Request id: ${requestId}`,
      param: details.param ?? '',
      type: types[status] ?? 'BadRequest',
    },
  })

/** The error of a failed service. */
export const serviceError = (): VideoError =>
  new VideoError(500, 'InternalServiceError', 'The service encountered an unexpected internal error.')

/** 400 for a field with an invalid value. */
export const invalidField = (param: string, reason: string): VideoError =>
  new VideoError(
    400,
    'InvalidParameter',
    `The parameter \`${param}\` specified in the request is not valid: ${reason}.`,
    {
      param,
    },
  )

/** 400 for a missing field. */
export const missingField = (param: string): VideoError =>
  new VideoError(400, 'MissingParameter', `The request failed because it is missing the parameter \`${param}\`.`, {
    param,
  })

/** 400 for a field that the model does not have. */
export const unsupportedField = (param: string, model: string): VideoError =>
  new VideoError(
    400,
    'InvalidParameter.UnsupportedParameter',
    `The parameter \`${param}\` specified in the request is not supported by the model ${model}.`,
    { param },
  )

/** 400 for fields that do not fit a named task type. */
export const taskTypeConstraint = (param: string, type: string, issue: string): VideoError =>
  new VideoError(
    400,
    'InvalidParameter.TaskTypeConstraint',
    `The parameter \`${param}\` specified in the request is not valid. The task is determined as ${type}. Issues: ${issue}.`,
    { param },
  )

/** 404 for a task that does not exist, is of another account, or is too old. */
export const unknownTask = (id: string): VideoError =>
  new VideoError(404, 'NotFound.Task', `The task \`${id}\` is not found.`, { param: 'id' })

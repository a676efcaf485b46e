/**
 * The one way to refuse a request: throw a `Problem`. Elysia renders it through `toResponse`, so a plugin that throws one
 * answers correctly in an app that knows nothing about it.
 */
export class Problem extends Error {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  /**
   * @param status HTTP status, 400 to 599
   * @param message shown to the caller; never text of a database, a runtime or a socket
   * @param options.cause for the log, never shown
   * @param options.headers sent with the answer, for example `Allow` or `Retry-After`
   */
  constructor(status: number, message: string, options: { cause?: unknown; headers?: Record<string, string> } = {}) {
    super(message, { cause: options.cause })
    this.name = 'Problem'
    this.status = status
    this.headers = options.headers ?? {}
  }

  /** @param body shape of the body; default that of the asset library document, section "Errors" */
  toResponse(body: ProblemBody = problemBody()): Response {
    return new Response(JSON.stringify(body(this)), {
      status: this.status,
      headers: { ...this.headers, 'content-type': 'application/json' },
    })
  }
}

/** Turns a problem into the JSON that the caller reads. */
export type ProblemBody = (problem: Problem) => object

/** `{"success":false,"error":{"message","type"}}`, the asset library's shape; `type` is `media_proxy_error` by default. */
export const problemBody =
  (type = 'media_proxy_error'): ProblemBody =>
  (problem) => ({ success: false, error: { message: problem.message, type } })

/** Where plugins report what a caller must not see. The signature is pino's. */
export interface Log {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

const nothing = () => {}
/** Default of every `log` option. */
export const silent: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing }

const byCode: Readonly<Record<string, [number, string]>> = {
  NOT_FOUND: [404, 'not found'],
  PARSE: [400, 'request body could not be read'],
  VALIDATION: [400, 'request is not valid'],
}

/**
 * An `onError` hook that answers in one shape: problems as they are, the framework's own refusals by status, anything else as a 500 that
 * says nothing. Whatever has a cause, or is unexpected, is logged; not so what a caller's leaving brings about.
 */
export const renderProblems =
  (body: ProblemBody, log: Log = silent) =>
  ({ error, code, request }: { error: unknown; code: unknown; request?: Request }): Response => {
    const left = request?.signal.aborted === true
    if (error instanceof Problem) {
      if (error.cause !== undefined) {
        log[left ? 'debug' : 'warn']({ status: error.status, err: error.cause }, error.message)
      }
      return error.toResponse(body)
    }
    const known = byCode[String(code)]
    if (known) return new Problem(...known).toResponse(body)
    log[left ? 'debug' : 'error']({ err: error }, 'unexpected error')
    return new Problem(500, 'internal error').toResponse(body)
  }

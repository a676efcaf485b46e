import type { AuditEvent } from './audit.ts'
import { responseOf } from './http/body/known-body.ts'
import { noStoreHeaders } from './http/no-store.ts'
import { retrySecondsOf } from './no-space.ts'

/**
 * An HTTP error: throw it to reject a request. Elysia renders it with `toResponse`, so a plugin that throws one
 * responds correctly in any app, without an error handler.
 */
export class Problem extends Error {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly event: AuditEvent | undefined
  #rendered: { readonly body: ProblemBody; readonly text: string; readonly headers: Headers } | undefined

  /**
   * @param status HTTP status, 400 to 599. A 500 whose cause is that there is no room, or that a resource is in use
   * (`retrySecondsOf`), is a 503 with `Retry-After`: it is not a defect, and it passes
   * @param message the caller sees it; never the text of a database, runtime or socket error
   * @param options.cause for the log; the caller never sees it
   * @param options.headers sent with the response, for example `Allow` or `Retry-After`
   * @param options.event for the audit trail
   */
  constructor(
    status: number,
    message: string,
    options: { cause?: unknown; headers?: Record<string, string>; event?: AuditEvent } = {},
  ) {
    super(message, { cause: options.cause })
    this.name = 'Problem'
    const seconds = status === 500 ? retrySecondsOf(options.cause) : undefined
    this.status = seconds === undefined ? status : 503
    this.headers = { ...(seconds !== undefined && { 'retry-after': String(seconds) }), ...options.headers }
    this.event = options.event
  }

  /** Renders the response, which must not be cached. @param body shape of the JSON body; default: `problemBody()` */
  toResponse(body: ProblemBody = problemBody()): Response {
    // Some problems are created once and thrown many times: their body and headers are rendered once.
    if (this.#rendered?.body !== body || body.perRequest) {
      const headers = new Headers({ ...noStoreHeaders, ...this.headers, 'content-type': 'application/json' })
      this.#rendered = { body, text: JSON.stringify(body(this)), headers }
    }
    return responseOf(this.#rendered.text, { status: this.status, headers: this.#rendered.headers })
  }
}

/**
 * Renders a problem as the JSON body of a response. `perRequest`: the same problem has another body in another request.
 */
export type ProblemBody = ((problem: Problem) => object) & { readonly perRequest?: boolean }

/**
 * The error body `{"success":false,"error":{"message","type"}}`. The asset library and face verification have the
 * `type` `media_proxy_error`.
 *
 * @example
 * new Elysia().use(events({ store, identify, errors: problemBody('my_app_error') }))
 */
export const problemBody =
  (type = 'request_error'): ProblemBody =>
  (problem) => ({ success: false, error: { message: problem.message, type } })

/** The log of the plugins, for what a caller must not see. The signature is pino's. */
export interface Log {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

const ignore = () => {}
/** A log that discards all lines: the default of every `log` option. */
export const noLog: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore }

const problemOfCode: Readonly<Record<string, [number, string]>> = {
  NOT_FOUND: [404, 'not found'],
  PARSE: [400, 'request body could not be read'],
  VALIDATION: [400, 'request is not valid'],
}

/** The parts of Elysia's error context that the hook uses. */
interface ErrorContext {
  readonly error: unknown
  readonly code: unknown
  readonly request?: Request
}

/**
 * An `onError` hook that renders every error in one shape, for a host app: for its own routes, unknown paths, and
 * plugins with `errors: 'throw'`.
 *
 * A `Problem` keeps its status and message, Elysia's own errors get their status, and any other error becomes a 500
 * without details. The hook logs unexpected errors and causes (only at level `debug` when the client has disconnected).
 *
 * @example
 * new Elysia().onError(renderProblems(problemBody()))
 */
export const renderProblems =
  (body: ProblemBody, log: Log = noLog) =>
  ({ error, code, request }: ErrorContext): Response => {
    const known = error instanceof Problem ? undefined : problemOfCode[String(code)]
    return renderError(known ? new Problem(...known) : error, { body, log, request })
  }

/** Renders and logs an error. */
export const renderError = (
  error: unknown,
  { body, log, request }: { readonly body: ProblemBody; readonly log: Log; readonly request: Request | undefined },
): Response => {
  const clientDisconnected = () => request?.signal.aborted === true
  if (error instanceof Problem) {
    if (error.cause !== undefined) {
      log[clientDisconnected() ? 'debug' : 'warn']({ status: error.status, err: error.cause }, error.message)
    }
    return error.toResponse(body)
  }
  log[clientDisconnected() ? 'debug' : 'error']({ err: error }, 'unexpected error')
  return new Problem(500, 'internal error', { cause: error }).toResponse(body)
}

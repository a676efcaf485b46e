import { setImmediate } from 'node:timers'
import { type Audit, type AuditEvent, noAudit } from './audit.ts'
import { responseOf } from './known-body.ts'

/**
 * The one way to refuse a request: throw a `Problem`. Elysia renders it through `toResponse`, so a plugin that throws one
 * answers correctly in an app that knows nothing about it.
 */
export class Problem extends Error {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly event: AuditEvent | undefined
  #said: { readonly body: ProblemBody; readonly text: string; readonly headers: Headers } | undefined

  /**
   * @param status HTTP status, 400 to 599
   * @param message shown to the caller; never text of a database, a runtime or a socket
   * @param options.cause for the log, never shown
   * @param options.headers sent with the answer, for example `Allow` or `Retry-After`
   * @param options.event for the audit trail
   */
  constructor(
    status: number,
    message: string,
    options: { cause?: unknown; headers?: Record<string, string>; event?: AuditEvent } = {},
  ) {
    super(message, { cause: options.cause })
    this.name = 'Problem'
    this.status = status
    this.headers = options.headers ?? {}
    this.event = options.event
  }

  /** @param body shape of the body; default that of the asset library document, section "Errors" */
  toResponse(body: ProblemBody = problemBody()): Response {
    // Those that are made once are thrown time and again, and say the same each time.
    if (this.#said?.body !== body) {
      const headers = new Headers({ ...this.headers, 'content-type': 'application/json' })
      this.#said = { body, text: JSON.stringify(body(this)), headers }
    }
    return responseOf(this.#said.text, { status: this.status, headers: this.#said.headers })
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

/** What the hook uses of Elysia's context. */
interface ErrorContext {
  readonly error: unknown
  readonly code: unknown
  readonly request?: Request
  readonly set?: { status?: number | string }
}

/**
 * An `onError` hook that answers in one shape: problems as they are, the framework's own refusals by status, anything else as a 500 that
 * says nothing. Whatever has a cause, or is unexpected, is logged; not so what a caller's leaving brings about. What has an event is noted.
 */
export const renderProblems =
  (body: ProblemBody, log: Log = silent, audit: Audit = noAudit) =>
  ({ error, code, request, set }: ErrorContext): Response => {
    const left = () => request?.signal.aborted === true
    if (error instanceof Problem) {
      if (error.event) audit.note({ ...error.event, status: error.status }, request)
      if (error.cause !== undefined) {
        log[left() ? 'debug' : 'warn']({ status: error.status, err: error.cause }, error.message)
      }
      return uncopied(error.toResponse(body), set)
    }
    const known = byCode[String(code)]
    if (known) return uncopied(new Problem(...known).toResponse(body), set)
    log[left() ? 'debug' : 'error']({ err: error }, 'unexpected error')
    return uncopied(new Problem(500, 'internal error').toResponse(body), set)
  }

/**
 * The answer has its own status. Wherever `set` has one too, Elysia (1.4.30) copies the answer, and its body through a stream: so `set` gets it when the answer has been
 * made, and before hooks are told of it (`onAfterResponse`), which Elysia calls in the next turn.
 */
const uncopied = (response: Response, set: ErrorContext['set']): Response => {
  if (set) {
    set.status = 200
    setImmediate(tellStatus, set, response.status)
  }
  return response
}

const tellStatus = (set: { status?: number | string }, status: number): void => {
  set.status = status
}

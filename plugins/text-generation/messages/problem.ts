import { currentRequestId } from '../../shared/http/current-request.ts'
import type { ErrorHandler } from '../../shared/http/error-handler.ts'
import { requestPath } from '../../shared/http/request-path.ts'
import type { Problem, ProblemBody } from '../../shared/problem.ts'
import { type ErrorDetail, errorDetails } from '../../shared/upstream/error-details.ts'
import { UpstreamRejectedError } from '../../shared/upstream/upstream-error.ts'
import { errorStatus } from '../../sse-relay/index.ts'
import { type MessagesErrorType, messageEventText } from './response/events.ts'

/** What a caller sees of an error. */
interface ErrorParts {
  readonly status: number
  readonly message: string
  /** Machine-readable. */
  readonly code?: string | undefined
}

/** `{"type":"error","error":{"type","message"},"request_id"}`: the error object of Anthropic's API. */
export const messagesProblemBody: ProblemBody = Object.assign((problem: Problem) => errorBody(problem), {
  perRequest: true,
})

const errorBody = ({ status, message, code }: ErrorParts) => ({
  type: 'error' as const,
  error: { type: errorTypeOf(status), message, ...(code !== undefined && { details: { error_code: code } }) },
  request_id: currentRequestId() ?? null,
})

/** The error type of a status (https://platform.claude.com/docs/en/api/errors). */
const errorTypeOf = (status: number): MessagesErrorType =>
  errorTypes.get(status) ?? (status >= 500 ? 'api_error' : 'invalid_request_error')

const errorTypes: ReadonlyMap<number, MessagesErrorType> = new Map([
  [401, 'authentication_error'],
  [402, 'billing_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [408, 'timeout_error'],
  [409, 'conflict_error'],
  [413, 'request_too_large'],
  [429, 'rate_limit_error'],
  [503, 'overloaded_error'],
  [504, 'timeout_error'],
  [529, 'overloaded_error'],
])

/** The text of the event that ends a stream with an error. */
export const errorEvent = (parts: ErrorParts): string => messageEventText(errorBody(parts))

/** Status and message of an error event of a chat stream. */
export const messagesErrorOf = (error: object): ErrorParts => {
  const detail = errorDetails({ bytes: encoder.encode(JSON.stringify(error)) }).find(({ message }) => message !== '')
  return { status: errorStatus(error), message: detail ? messageForClients(detail) : 'upstream error' }
}

const encoder = new TextEncoder()

/**
 * An error handler that translates the errors of upstreams, which have the shape of OpenAI's API. Status and headers
 * stay.
 */
export const translatingErrors = (errors: ErrorHandler): ErrorHandler => ({
  handle: (context, work) => errors.handle(context, work),
  respond: (error, context) => errors.respond(translated(error), context),
  stop: (error, context) => errors.stop(translated(error), context),
})

export interface ErrorsByPathOptions {
  /** For `path` and all paths below it. */
  readonly messages: ErrorHandler
  readonly others: ErrorHandler
  readonly path: string
}

/**
 * An error handler that selects another one by the path of the request. A host app may have put its own prefix before
 * the path.
 */
export const errorsByPath = ({ messages, others, path }: ErrorsByPathOptions): ErrorHandler => {
  const of = ({ url }: Request): ErrorHandler => (`${requestPath(url)}/`.includes(`${path}/`) ? messages : others)
  return {
    handle: (context, work) => of(context.request).handle(context, work),
    respond: (error, context) => of(context.request).respond(error, context),
    stop: (error, context) => of(context.request).stop(error, context),
  }
}

const translated = (error: unknown): unknown => {
  if (!(error instanceof UpstreamRejectedError)) return error
  const { status, headers, bytes } = error.response
  // Other bodies are pages of proxies, which are no messages.
  const isJson = bytes[0] === openingBrace
  const detail = isJson ? errorDetails({ bytes }).find(({ message }) => message !== '') : undefined
  const translatedHeaders = new Headers(headers)
  translatedHeaders.set('content-type', 'application/json')
  const body = errorBody({ status, message: detail ? messageForClients(detail) : error.message })
  return new UpstreamRejectedError({ status, headers: translatedHeaders, bytes: encoder.encode(JSON.stringify(body)) })
}

const openingBrace = 0x7b

/**
 * The message of an error of an upstream, for clients of Anthropic's API.
 *
 * Agents such as Claude Code summarize the conversation and go on when a message says that the prompt is too long, in
 * Anthropic's words. Other vendors have words of their own, which follow.
 */
const messageForClients = ({ code, message }: Pick<ErrorDetail, 'code' | 'message'>): string => {
  if (!tooLongCodes.has(code) && !tooLong.test(message)) return message
  const limit = numberIn(limitIn.exec(message)?.[1])
  const actual = Math.max(...[...message.matchAll(/\d[\d,]{3,}/g)].map(([digits]) => numberIn(digits) ?? 0))
  const counts = limit !== undefined && actual > limit ? `${actual} tokens > ${limit} maximum. ` : ''
  return `prompt is too long: ${counts}${message}`
}

/** Of OpenAI's API, and of llama.cpp's server. */
const tooLongCodes: ReadonlySet<string> = new Set(['context_length_exceeded', 'exceed_context_size_error'])

const tooLong =
  /\bmaximum context length\b|\bexceeds?\b[^.]{0,60}\bcontext (?:length|size|window|limit)\b|\bcontext (?:length|size|window) (?:was |is )?exceeded\b|\binput tokens exceed\b/i

const limitIn = /\b(?:maximum context length|context (?:length|size|window|limit)|limit)\D{0,30}?(\d[\d,]{3,})/i

const numberIn = (digits: string | undefined): number | undefined =>
  digits === undefined ? undefined : Number(digits.replaceAll(',', ''))

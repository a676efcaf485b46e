import {
  type Context,
  context,
  createContextKey,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { type Awaitable, andThen } from '../shared/awaitable.ts'

type FetchHandler = (request: Request) => Awaitable<Response>

/** Options of `createTracing`. */
export interface TracingOptions {
  readonly tracer: Tracer
  /**
   * Whether a request's own trace context (`traceparent`, `tracestate`) is trusted: then its trace goes on. Default:
   * never, because any client can send these headers, and with them decide what is recorded, and in which trace.
   */
  readonly isTrusted?: (request: Request) => boolean
}

/** Wraps a handler with a span for each request. */
export const traceRequests =
  ({ tracer, isTrusted = () => false }: TracingOptions) =>
  (handle: FetchHandler): FetchHandler =>
  (request) => {
    const parent = isTrusted(request) ? propagation.extract(ROOT_CONTEXT, request.headers, headersGetter) : ROOT_CONTEXT
    const method = methods.has(request.method) ? request.method : '_OTHER'
    const attributes = { 'http.request.method': method }
    const span = tracer.startSpan(method === '_OTHER' ? 'HTTP' : method, { kind: SpanKind.SERVER, attributes }, parent)
    const requestTrace = new RequestTrace(span, method)
    const active = trace.setSpan(parent, span).setValue(requestTraceKey, requestTrace)
    return context.with(active, () =>
      andThen(
        handle(request),
        (response) => {
          requestTrace.responded(response.status)
          return response
        },
        (error: unknown) => {
          requestTrace.responded(500)
          throw error
        },
      ),
    )
  }

/**
 * The span of one request. It ends when the response has begun and all calls to upstreams have ended: the last event of
 * a stream comes from such a call.
 */
class RequestTrace {
  readonly #span: Span
  readonly #method: string
  #isRouted = false
  #pending = 1

  constructor(span: Span, method: string) {
    this.#span = span
    this.#method = method
  }

  /** The first route counts: further ones are of requests that the app sends to itself. */
  routed(route: string): void {
    if (this.#isRouted) return
    this.#isRouted = true
    this.#span.updateName(`${this.#method} ${route}`).setAttribute('http.route', route)
  }

  responded(status: number): void {
    this.#span.setAttribute('http.response.status_code', status)
    // An error of the caller is no error of the server:
    // https://opentelemetry.io/docs/specs/semconv/http/http-spans/#status
    if (status >= 500) this.#span.setAttribute('error.type', String(status)).setStatus({ code: SpanStatusCode.ERROR })
    this.callEnded()
  }

  callStarted(): void {
    this.#pending++
  }

  callEnded(): void {
    if (--this.#pending === 0) this.#span.end()
  }
}

const requestTraceKey = createContextKey('sluice request trace')

/** The trace of the request that a context belongs to. Undefined outside of `traceRequests`. */
export const requestTraceIn = (active: Context): RequestTrace | undefined =>
  active.getValue(requestTraceKey) as RequestTrace | undefined

/** Methods that callers cannot have invented. */
const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

const headersGetter = {
  get: (headers: Headers, name: string) => headers.get(name) ?? undefined,
  keys: (headers: Headers) => [...headers.keys()],
}

import { context } from '@opentelemetry/api'
import { type AnyElysia, Elysia } from 'elysia'
import type { RoutesPlugin } from '../shared/plugin/plugin.ts'
import type { TraceCall } from '../shared/upstream/trace-call.ts'
import { createTraceCall } from './call.ts'
import { requestTraceIn, type TracingOptions, traceRequests } from './request.ts'

export type { CallOutcome, CallTrace, TraceCall, TracedCall, TracedTokens } from '../shared/upstream/trace-call.ts'
export type { TracingOptions } from './request.ts'

/** Traces of requests and of calls to upstreams. */
export interface Tracing {
  /** Wraps a handler with a span for each request. */
  readonly traceRequests: (
    handle: (request: Request) => Response | Promise<Response>,
  ) => (request: Request) => Response | Promise<Response>
  /**
   * For the option `traceCall` of `gateway`, `upstream-proxy` and `text-generation`: a span for each call, below the
   * active span.
   */
  readonly traceCall: TraceCall
}

/**
 * Creates the traces of a server with a tracer of `@opentelemetry/api`.
 *
 * Calls find the span of their request through the API's context manager: the host app has to register one, and, for
 * trusted requests, a propagator.
 */
export const createTracing = (options: TracingOptions): Tracing => ({
  traceRequests: traceRequests(options),
  traceCall: createTraceCall(options.tracer),
})

/** An Elysia plugin that names the spans of `traceRequests` by the route. Routes that are added after it are named. */
export const tracing = (): RoutesPlugin => {
  const plugin: AnyElysia = new Elysia({ name: 'sluice/tracing' })
  return plugin.onTransform({ as: 'global' }, ({ route }) => requestTraceIn(context.active())?.routed(route))
}

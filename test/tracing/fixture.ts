import { context, propagation, type TextMapPropagator } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { createTracing, type TracingOptions, tracing } from '../../plugins/tracing/index.ts'
import { startGateway, type TestGateway, type TestGatewayOptions } from '../support/gateway.ts'

/** A gateway whose spans stay in memory. One at a time, because OpenTelemetry has one context manager for a process. */
export interface TracedGateway extends AsyncDisposable {
  readonly gateway: TestGateway
  /** The ended spans, in the order of their ends. */
  spans(): ReadableSpan[]
  /** Waits until the request's span has ended, and returns it with all ended spans of its trace, in the order of their starts. */
  traceOf(method: string): Promise<{ request: ReadableSpan; calls: ReadableSpan[] }>
  reset(): void
}

export const startTracedGateway = async (
  options: TestGatewayOptions = {},
  { isTrusted }: Pick<TracingOptions, 'isTrusted'> = {},
): Promise<TracedGateway> => {
  const exporter = new InMemorySpanExporter()
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] })
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  propagation.setGlobalPropagator(new W3CTraceContextPropagator() as TextMapPropagator)
  const gateway = await startGateway({
    ...options,
    tracing: {
      ...createTracing({ tracer: provider.getTracer('test'), isTrusted }),
      plugin: tracing(),
      stop: async () => {},
    },
  })
  const spans = () => exporter.getFinishedSpans()
  return {
    gateway,
    spans,
    async traceOf(method) {
      for (;;) {
        const request = spans().find((span) => span.attributes['http.request.method'] === method)
        if (request) {
          const { traceId } = request.spanContext()
          const calls = spans().filter((span) => span !== request && span.spanContext().traceId === traceId)
          return { request, calls }
        }
        await Bun.sleep(2)
      }
    },
    reset: () => exporter.reset(),
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]()
      context.disable()
      propagation.disable()
    },
  }
}

import { within } from '../plugins/shared/background/within.ts'
import type { Tracing, tracing } from '../plugins/tracing/index.ts'
import type { Config } from './config.ts'
import type { LeveledLog } from './log.ts'

/** The traces of the default server. */
export interface ServerTracing extends Tracing {
  /** Names the spans of requests by their routes. */
  readonly plugin: ReturnType<typeof tracing>
  /** Sends the remaining spans. Resolves after two seconds at the latest. */
  stop(): Promise<void>
}

/** Options of `startTracing`. */
export interface StartTracingOptions {
  readonly isTrusted: (request: Request) => boolean
  readonly log: LeveledLog
}

/**
 * Starts the OpenTelemetry SDK: it sends spans to a collector (OTLP over HTTP, in batches).
 *
 * Nothing of OpenTelemetry is loaded before.
 */
export const startTracing = async (
  { url, serviceName, sampledRatio }: NonNullable<Config['traces']>,
  { isTrusted, log }: StartTracingOptions,
): Promise<ServerTracing> => {
  const [api, { createTracing, tracing }, sdk, core, resources, asyncHooks, otlp] = await Promise.all([
    import('@opentelemetry/api'),
    import('../plugins/tracing/index.ts'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/core'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/context-async-hooks'),
    import('@opentelemetry/exporter-trace-otlp-proto'),
  ])
  const onError = (err: unknown) => log.warn({ err }, 'traces could not be exported')
  core.setGlobalErrorHandler(onError)
  api.context.setGlobalContextManager(new asyncHooks.AsyncLocalStorageContextManager().enable())
  api.propagation.setGlobalPropagator(new core.W3CTraceContextPropagator())
  const provider = new sdk.TracerProvider({
    resource: resources.resourceFromAttributes({ 'service.name': serviceName }),
    sampler: new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(sampledRatio) }),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter: new otlp.OTLPTraceExporter({ url }) })],
  })
  return {
    ...createTracing({ tracer: provider.getTracer('sluice'), isTrusted }),
    plugin: tracing(),
    stop: () => within(provider.shutdown().catch(onError), 2_000),
  }
}

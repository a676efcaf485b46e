import { address, headerValues, key, printableForm, ratio, webAddress } from './environment/parsers.ts'
import type { Read } from './environment/reader.ts'

/** Where traces go, and which. */
export interface TracesConfig {
  /** Where the OpenTelemetry collector receives traces. */
  readonly url: string
  readonly serviceName: string
  /** The part of traces that is recorded, from 0 to 1. */
  readonly sampledRatio: number
}

/**
 * Reads the variables of the OpenTelemetry specification, by its names. The exporter reads its other variables
 * `OTEL_EXPORTER_OTLP_…` itself; the values of its headers must never be logged.
 */
export const readTraces = (
  read: Read,
): { readonly traces: TracesConfig | undefined; readonly secrets: readonly string[] } => {
  const collector = read('OTEL_EXPORTER_OTLP_ENDPOINT', webAddress, address)
  const secrets = read('OTEL_EXPORTER_OTLP_HEADERS', 'must be name=value, separated by commas', headerValues) ?? []
  const sampledRatio = read('OTEL_TRACES_SAMPLER_ARG', 'must be a number from 0 to 1', ratio) ?? 1
  const serviceName = read('OTEL_SERVICE_NAME', printableForm, key) ?? 'sluice'
  return {
    traces: collector === undefined ? undefined : { url: `${collector}/v1/traces`, serviceName, sampledRatio },
    secrets,
  }
}

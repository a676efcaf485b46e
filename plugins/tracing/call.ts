import { type Attributes, context, type Span, SpanKind, SpanStatusCode, type Tracer } from '@opentelemetry/api'
import type { CallOutcome, CallTrace, TraceCall, TracedCall, TracedTokens } from '../shared/upstream/trace-call.ts'
import { requestTraceIn } from './request.ts'

/** Creates the function that starts a span for each call to an upstream, below the active span. */
export const createTraceCall =
  (tracer: Tracer): TraceCall =>
  (call) => {
    const active = context.active()
    const requestTrace = requestTraceIn(active)
    requestTrace?.callStarted()
    const { action, model } = call
    const name = model === undefined ? action : operationOf(action)
    const span = tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes: attributesOf(call) }, active)
    return new CallSpan(span, call, () => requestTrace?.callEnded())
  }

class CallSpan implements CallTrace {
  readonly #span: Span
  readonly #call: TracedCall
  readonly #onEnd: () => void
  #ended = false

  constructor(span: Span, call: TracedCall, onEnd: () => void) {
    this.#span = span
    this.#call = call
    this.#onEnd = onEnd
  }

  tokens({ input, cachedInput, output, reasoning }: TracedTokens): void {
    this.#span.setAttributes({
      'gen_ai.usage.input_tokens': input,
      'gen_ai.usage.cache_read.input_tokens': cachedInput,
      'gen_ai.usage.output_tokens': output,
      'gen_ai.usage.reasoning.output_tokens': reasoning,
    })
  }

  end({ status = 0, error }: CallOutcome): void {
    if (this.#ended) return
    this.#ended = true
    if (status > 0) this.#span.setAttribute('http.response.status_code', status)
    const { action, model } = this.#call
    const type = errorTypeOf(status, error)
    if (type !== undefined) this.#span.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR })
    // Only now the model is known to exist. Collectors keep metrics by span name, so callers must not be able to invent
    // names.
    else if (model !== undefined) this.#span.updateName(`${operationOf(action)} ${modelName(model)}`)
    this.#span.end()
    this.#onEnd()
  }
}

/** A status, or the name of an error. Never the message of an error, which may quote content. */
const errorTypeOf = (status: number, error: unknown): string | undefined => {
  if (status >= 400) return String(status)
  if (error !== undefined) return error instanceof Error ? error.constructor.name : 'Error'
  return status === 0 ? 'no response' : undefined
}

/** Attributes by the semantic conventions of OpenTelemetry for HTTP and generative AI, where they have one. */
const attributesOf = ({ action, url, queueSeconds, model, stream }: TracedCall): Attributes => ({
  'sluice.action': action,
  ...(url !== undefined && addressOf(url)),
  ...(queueSeconds !== undefined && { 'sluice.queue.seconds': queueSeconds }),
  ...(model !== undefined && {
    'gen_ai.operation.name': operationOf(action),
    // The protocol. The conventions allow that the provider is another one.
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': modelName(model),
    'gen_ai.request.stream': stream ?? false,
  }),
})

/** The operation by the semantic conventions. */
const operationOf = (action: string): string => operations.get(action) ?? 'chat'

const operations: ReadonlyMap<string, string> = new Map([
  ['CreateCompletion', 'text_completion'],
  ['CreateEmbedding', 'embeddings'],
])

const addressOf = (url: string): Attributes => {
  const { hostname, port, protocol } = new URL(url)
  return { 'server.address': hostname, 'server.port': Number(port) || (protocol === 'https:' ? 443 : 80) }
}

/** Callers choose the name: it may have any length. */
const modelName = (model: string): string => model.slice(0, 256)

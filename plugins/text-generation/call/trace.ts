import type { TraceCall } from '../../shared/upstream/trace-call.ts'
import { UpstreamRejectedError } from '../../shared/upstream/upstream-error.ts'
import { readTokens } from '../usage/usage.ts'
import type { Call, GenerationContext } from './call.ts'

export interface RespondTracedOptions {
  readonly traceCall: TraceCall
  readonly respond: (call: Call, context: GenerationContext) => Promise<Response>
  /** Whether the response is a stream: then the trace ends with the stream. */
  readonly stream: boolean
  /** Undefined: the call retrieves a stored response. */
  readonly model?: string
}

/** Responds to a call, and traces it until its response has ended. */
export const respondTraced = async (
  call: Call,
  context: GenerationContext,
  { traceCall, respond, stream, model }: RespondTracedOptions,
): Promise<Response> => {
  const trace = traceCall({ action: call.exchange.action, url: call.route.upstream.url, model, stream })
  const onEnd = (usage: object | undefined) => {
    const tokens = readTokens(usage)
    if (tokens) trace.tokens(tokens)
    if (stream) trace.end({ status: 200 })
    return call.onEnd(usage)
  }
  try {
    const response = await respond({ ...call, onEnd }, context)
    if (!stream) trace.end({ status: response.status })
    return response
  } catch (error) {
    trace.end(error instanceof UpstreamRejectedError ? { status: error.status } : { error })
    throw error
  }
}

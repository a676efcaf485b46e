import type { Clock } from '../../shared/clock.ts'
import { bridge } from '../bridge/bridge.ts'
import { bridgedCompaction } from '../bridge/compaction.ts'
import { chat } from '../chat/chat.ts'
import { compaction, completions, embeddings, inputTokens, uncountedTokens } from '../forwarded/forwarded.ts'
import { messages } from '../messages/messages.ts'
import type { Capabilities } from '../models/routing.ts'
import type { Exchange, Protocol, TranslatedProtocol } from '../protocol/protocol.ts'
import { createSealedReasoning } from '../protocol/sealed-reasoning.ts'
import { responses, retrieval } from '../responses/responses.ts'

export interface ProtocolsOptions {
  /** Tokens. Added to chat requests that set no maximum. Undefined: nothing is added. */
  readonly defaultMaxTokens: number | undefined
  readonly clock: Pick<Clock, 'now'>
  readonly maxResponseBytes: number
  /** For reasoning in bridged responses. The first encrypts, all decrypt. Undefined: a random one. */
  readonly secrets?: readonly string[]
  /** Whether the gateway stores the responses of upstreams that have no Responses API. */
  readonly storesResponses: boolean
}

/** The protocols of the routes. */
export interface Protocols {
  /** `POST /v1/chat/completions`. */
  readonly chat: Protocol
  /** `POST /v1/responses`. Bridged to chat completions where the model's upstream has no Responses API. */
  readonly responses: Protocol
  /** `POST /v1/responses/compact`. */
  readonly compaction: Protocol
  /** `POST /v1/responses/input_tokens`. */
  readonly inputTokens: Protocol
  /** `POST /v1/embeddings`. */
  readonly embeddings: Protocol
  /** `POST /v1/completions`. */
  readonly completions: Protocol
  /** `POST /v1/messages`. Always translated to chat completions. */
  readonly messages: TranslatedProtocol
  /** `GET /v1/responses/{id}`, by its path below the upstream's address. */
  readonly retrieval: (path: string) => Exchange
}

export const createProtocols = (options: ProtocolsOptions): Protocols => {
  const native = responses(options)
  const sealedReasoning = createSealedReasoning(options.secrets)
  const bridged = bridge({ ...options, sealedReasoning })
  const summaries = bridgedCompaction(bridged, sealedReasoning)
  return {
    chat: chat(options),
    responses: byApi(native, bridged),
    compaction: byApi(compaction, summaries),
    inputTokens: byApi(inputTokens, uncountedTokens),
    embeddings,
    completions,
    messages: messages({ ...options, sealedReasoning }),
    retrieval: retrieval(options),
  }
}

/**
 * A protocol of the Responses API: the one for upstreams that have this API, and the one for those that have chat
 * completions only.
 */
const byApi = (native: Protocol, chatOnly: Protocol): Protocol => {
  const select = (capabilities: Capabilities | undefined) => (capabilities?.chatOnly ? chatOnly : native)
  return {
    validate: (request, capabilities) => select(capabilities).validate(request, capabilities),
    toExchange: (request, validated, capabilities, user) =>
      select(capabilities).toExchange(request, validated, capabilities, user),
  }
}

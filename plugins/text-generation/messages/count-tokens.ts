import { runInTurns, runSteps } from '../../shared/background/turns.ts'
import { readJsonBody } from '../../shared/http/body/body.ts'
import { noStoreText } from '../../shared/http/no-store.ts'
import type { Identity } from '../../shared/identity/identify.ts'
import { isLarge } from '../../shared/json/json.ts'
import { estimateInputTokens } from '../limits/input-tokens.ts'
import { requirePermittedModels } from '../models/permitted.ts'
import { indexInTurns } from '../protocol/index-in-turns.ts'
import { translateMessagesRequest } from './request/request.ts'

/**
 * `POST /v1/messages/count_tokens`: estimates the input tokens of a Messages request, without an upstream, which has no
 * such route for chat completions. The header `x-token-count: estimate` says so.
 */
export const countTokens = async (
  { request, models }: Pick<Identity, 'models'> & { readonly request: Request },
  { maxBodyBytes }: { readonly maxBodyBytes: number },
): Promise<Response> => {
  const { json } = await readJsonBody(request, maxBodyBytes)
  requirePermittedModels(json, models)
  // Reasoning of earlier turns counts little: upstreams drop most of it.
  const steps = translateMessagesRequest(json, { openSignature: () => undefined, generates: false })
  const { chatRequest } = isLarge(json) ? await runInTurns(steps) : runSteps(steps)
  const tokens = isLarge(json)
    ? await runInTurns(estimateInputTokens(await indexInTurns(chatRequest)))
    : runSteps(estimateInputTokens(chatRequest))
  return noStoreText(JSON.stringify({ input_tokens: tokens }), { 'x-token-count': 'estimate' })
}

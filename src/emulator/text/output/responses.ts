import type { Generation } from '../generation/generation.ts'
import { responsesUsage, type Usage } from '../generation/usage.ts'
import type { ResponsesRequest } from '../request/validated-request.ts'
import { type CallContext, secondsOf, textIdOf } from './call-context.ts'
import { outputOf } from './output.ts'
import type { OutputItem } from './output-item.ts'
import { delta, eventOf, type Steps } from './steps.ts'

/** The input of the serialization of a response. */
export interface GeneratedResponse {
  readonly request: ResponsesRequest
  readonly generation: Generation
  readonly usage: Usage
  readonly callContext: CallContext
}

/** The complete response object. */
export const responseOf = (generated: GeneratedResponse): object => ({
  ...commonFields(generated),
  ...endOf(generated, itemsOf(generated)),
})

/** Streams the response as events. `done`: whether it ends with `[DONE]`. */
export function* responseEvents(generated: GeneratedResponse, done: boolean): Steps {
  const common = commonFields(generated)
  const items = itemsOf(generated)
  let number = 0
  const event = (type: string, fields: object) => eventOf({ type, sequence_number: number++, ...fields }, type)
  const { background } = generated.request
  const opened = startedOf(generated, background ? 'queued' : 'in_progress')
  yield event('response.created', { response: opened })
  if (background) yield event('response.queued', { response: opened })
  yield event('response.in_progress', { response: startedOf(generated, 'in_progress') })
  for (const [output_index, item] of items.entries()) {
    yield event('response.output_item.added', { output_index, item: item.added })
    for (const { type, fields, isToken } of item.events()) {
      const padding = isToken && generated.request.obfuscates ? { obfuscation: 'x'.repeat(1 + (number % 7)) } : {}
      const itemEvent = event(type, { item_id: item.id, output_index, ...fields, ...padding })
      if (isToken) yield* delta(itemEvent)
      else yield itemEvent
    }
    yield event('response.output_item.done', { output_index, item: item.done })
  }
  const end = endOf(generated, items)
  yield event(`response.${end.status}`, { response: { ...common, ...end } })
  if (done) yield eventOf('[DONE]')
}

/** The id of the response of a call. */
export const responseIdOf = (callContext: CallContext): string => textIdOf('resp_', callContext)

/** The response object before it has output. */
export const startedOf = (generated: GeneratedResponse, status: string): object => ({
  ...commonFields(generated),
  status,
})

const itemsOf = ({ request, generation, callContext }: GeneratedResponse): OutputItem[] =>
  outputOf(request, generation, callContext)

const endOf = ({ generation, usage }: GeneratedResponse, items: readonly OutputItem[]) => {
  const cut = generation.finish === 'length'
  return {
    status: cut ? 'incomplete' : 'completed',
    incomplete_details: cut ? { reason: 'max_output_tokens' } : null,
    output: items.map((item) => item.done),
    usage: responsesUsage(usage),
  }
}

/** The fields of a response that are known at its start: mostly the parameters of the request, with defaults. */
const commonFields = ({ request, callContext }: GeneratedResponse): object => {
  const { raw, prompt, tier, stores, background, conversation } = request
  const given = (name: string, otherwise: unknown) => raw[name] ?? otherwise
  return {
    ...{ id: responseIdOf(callContext), object: 'response', created_at: secondsOf(callContext) },
    ...{ status: 'in_progress', background, error: null, incomplete_details: null },
    ...(conversation === undefined ? {} : { conversation: { id: conversation } }),
    instructions: given('instructions', null),
    max_output_tokens: given('max_output_tokens', null),
    model: prompt.model.id,
    output: [],
    parallel_tool_calls: prompt.parallel,
    previous_response_id: given('previous_response_id', null),
    reasoning: { effort: null, summary: null, ...(raw.reasoning as object | undefined) },
    ...{ service_tier: tier, store: stores },
    temperature: given('temperature', 1),
    text: { format: { type: 'text' }, verbosity: 'medium', ...(raw.text as object | undefined) },
    tool_choice: given('tool_choice', 'auto'),
    tools: given('tools', []),
    top_logprobs: given('top_logprobs', 0),
    top_p: given('top_p', 1),
    truncation: given('truncation', 'disabled'),
    usage: null,
    user: given('user', null),
    metadata: given('metadata', {}),
  }
}

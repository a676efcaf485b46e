import { responsesUsage, type Usage } from '../generation/usage.ts'
import { turnsOf } from '../objects/items.ts'
import type { ResponsesRequest } from '../request/validated-request.ts'
import { type CallContext, secondsOf, textIdOf } from './call-context.ts'
import type { OutputItem } from './output-item.ts'

/** The longest part of a message in a summary. */
const maxPart = 60

/** The item that stands for everything before it. Its content is a summary, which only this account can read. */
export const compactionItem = (request: ResponsesRequest, callContext: CallContext): OutputItem => {
  const id = textIdOf('cmp_', callContext)
  const text = summaryOf(request)
  const item = { id, type: 'compaction', encrypted_content: request.sealing.seal({ id, text }) }
  return {
    ...{ id, added: { ...item, encrypted_content: '' }, done: item },
    *events() {
      yield { type: 'response.compaction.compacting', fields: {} }
    },
  }
}

/** The text of the summary of a request's items. */
export const summaryOf = ({ earlier, input }: ResponsesRequest): string =>
  turnsOf([...earlier, ...input])
    .map(({ role, text }) => `${role}: ${[...text].slice(0, maxPart).join('')}`)
    .join('\n')

/** The response of `/v1/responses/compact`: the user messages, then the item that stands for the rest. */
export const compactedOf = (request: ResponsesRequest, usage: Usage, callContext: CallContext): object => ({
  ...{ id: textIdOf('resp_', callContext), object: 'response.compaction', created_at: secondsOf(callContext) },
  output: [
    ...[...request.earlier, ...request.input].filter(({ turn }) => turn?.role === 'user').map(({ json }) => json),
    compactionItem(request, callContext).done,
  ],
  usage: responsesUsage(usage),
})

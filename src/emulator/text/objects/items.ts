import type { Json } from '../../shared/reader.ts'
import type { PromptMessage, Tool } from '../generation/prompt.ts'
import { type CallContext, textIdOf } from '../output/call-context.ts'

/** One item of the account, such as a message, a tool call or its output. */
export interface Item {
  readonly id: string
  /** the item object of the API, with its id */
  readonly json: Json
  /** its text for the prompt; absent: none */
  readonly turn?: PromptMessage
  /** for a tool call: its call id */
  readonly callId?: string
  /** for the output of a tool call: the id of that call */
  readonly outputOf?: string
  /** for the output of a tool search: the tools that it has loaded */
  readonly tools?: readonly Tool[]
}

const prefixes: Readonly<Record<string, string>> = {
  ...{ message: 'msg_', reasoning: 'rs_', web_search_call: 'ws_', function_call: 'fc_', custom_tool_call: 'ctc_' },
  ...{ function_call_output: 'fco_', custom_tool_call_output: 'ctco_' },
  ...{ local_shell_call: 'lsh_', local_shell_call_output: 'lsho_' },
  ...{ compaction: 'cmp_', additional_tools: 'at_' },
  ...{ tool_search_call: 'tsc_', tool_search_output: 'tso_' },
}

/** The id of the nth item of an input. */
export const inputIdOf = (type: string, callContext: CallContext, index: number): string =>
  textIdOf(prefixes[type] ?? 'item_', callContext, `input/${index}`)

/** The ids of tool calls without an output. */
export const openCallsIn = (items: readonly Item[]): string[] => {
  const completed = new Set(items.flatMap(({ outputOf }) => outputOf ?? []))
  return items.flatMap(({ callId }) => (callId === undefined || completed.has(callId) ? [] : [callId]))
}

/** The messages of the items for the prompt. */
export const turnsOf = (items: readonly Item[]): PromptMessage[] => items.flatMap(({ turn }) => turn ?? [])

/** Converts an output item of a response, for requests that continue the response. */
export const outputItem = (json: Json): Item => {
  const { id, call_id, content, action } = json
  const [part] = Array.isArray(content) ? content : []
  const value = part?.text ?? part?.refusal ?? json.arguments ?? json.input ?? action
  const text = typeof value === 'object' ? JSON.stringify(value) : value
  return {
    ...{ id: String(id), json },
    ...(typeof text === 'string' ? { turn: { role: 'assistant', text, attachments: 0 } } : {}),
    ...(typeof call_id === 'string' ? { callId: call_id } : {}),
  }
}

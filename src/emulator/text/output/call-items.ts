import { isJson, type Json } from '../../shared/reader.ts'
import type { ToolCall } from '../generation/generation.ts'
import type { ToolKind } from '../generation/prompt.ts'
import { type CallContext, textIdOf } from './call-context.ts'
import type { OutputItem } from './output-item.ts'

/** How the Responses API writes the calls of a kind of tool. */
interface Form {
  readonly idPrefix: string
  readonly type: string
  /** the fields of the item, from the generated text; empty text while the call is in progress */
  readonly fields: (text: string) => Json
  /** the events that stream the text, and the field of the last one */
  readonly streamed?: readonly [event: string, field: string]
}

const forms: Readonly<Record<ToolKind, Form>> = {
  function: {
    ...{ idPrefix: 'fc_', type: 'function_call', streamed: ['function_call_arguments', 'arguments'] },
    fields: (text) => ({ arguments: text }),
  },
  custom: {
    ...{ idPrefix: 'ctc_', type: 'custom_tool_call', streamed: ['custom_tool_call_input', 'input'] },
    fields: (text) => ({ input: text }),
  },
  local_shell: {
    ...{ idPrefix: 'lsh_', type: 'local_shell_call' },
    fields: (text) => ({ action: { type: 'exec', command: [], env: {}, ...parsed(text) } }),
  },
  tool_search: {
    ...{ idPrefix: 'tsc_', type: 'tool_search_call' },
    fields: (text) => ({ execution: 'client', arguments: parsed(text) }),
  },
}

/** The `call_id` of the nth tool call of a response. */
const callIdOf = (callContext: CallContext, index: number): string => textIdOf('call_', callContext, String(index))

/** The item of the nth tool call of a response. */
export const callItem = ({ tool, input, complete }: ToolCall, index: number, callContext: CallContext): OutputItem => {
  const { kind, name, namespace } = tool
  const { idPrefix, type, fields, streamed } = forms[kind]
  const id = textIdOf(idPrefix, callContext, String(index))
  const named = streamed === undefined ? {} : { name, ...(namespace === undefined ? {} : { namespace }) }
  const base = { id, type, call_id: callIdOf(callContext, index), ...named }
  const text = input.join('')
  return {
    ...{ id, added: { ...base, status: 'in_progress', ...fields('') } },
    done: { ...base, status: complete ? 'completed' : 'incomplete', ...fields(text) },
    *events() {
      if (streamed === undefined) return
      const [event, field] = streamed
      for (const delta of input) yield { type: `response.${event}.delta`, fields: { delta }, isToken: true }
      yield { type: `response.${event}.done`, fields: { [field]: text, ...(kind === 'function' ? { name } : {}) } }
    },
  }
}

const parsed = (text: string): Json => {
  try {
    const value: unknown = JSON.parse(text)
    return isJson(value) ? value : {}
  } catch {
    return {}
  }
}

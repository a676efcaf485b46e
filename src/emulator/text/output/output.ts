import { isJson, type Json } from '../../shared/reader.ts'
import { type Generation, source, type ToolCall } from '../generation/generation.ts'
import { lastText, type ToolKind } from '../generation/prompt.ts'
import { logprobOf } from '../generation/tokens.ts'
import type { ResponsesRequest } from '../request/validated-request.ts'
import { type CallContext, textIdOf } from './call-context.ts'
import { compactionItem } from './compaction.ts'
import type { OutputItem } from './output-item.ts'

/** The output items of a response: reasoning, a web search call, then a message or tool calls. */
export const outputOf = (request: ResponsesRequest, generation: Generation, callContext: CallContext): OutputItem[] => {
  const { reasoning, text, calls, searches, finish } = generation
  if (request.compacts) return [compactionItem(request, callContext)]
  const message = text.length > 0 || (calls.length === 0 && finish === 'stop')
  return [
    ...(reasoning.length > 0 ? [reasoningItem(request, reasoning, callContext)] : []),
    ...(searches ? [searchItem(request, callContext)] : []),
    ...(message ? [messageItem(request, generation, callContext)] : []),
    ...calls.map((call, index) => callItem(call, index, callContext)),
  ]
}

const reasoningItem = (
  { include, sealing }: ResponsesRequest,
  reasoning: readonly string[],
  callContext: CallContext,
): OutputItem => {
  const id = textIdOf('rs_', callContext)
  const text = reasoning.join('')
  const secret = include.includes('reasoning.encrypted_content')
    ? { encrypted_content: sealing.seal({ id, text }) }
    : {}
  const added = { id, type: 'reasoning', summary: [], ...secret }
  const at = { summary_index: 0 }
  const part = { type: 'summary_text', text }
  return {
    ...{ id, added, done: { ...added, summary: [part] } },
    *events() {
      yield { type: 'response.reasoning_summary_part.added', fields: { ...at, part: { ...part, text: '' } } }
      for (const delta of reasoning) {
        yield { type: 'response.reasoning_summary_text.delta', fields: { ...at, delta }, isToken: true }
      }
      yield { type: 'response.reasoning_summary_text.done', fields: { ...at, text } }
      yield { type: 'response.reasoning_summary_part.done', fields: { ...at, part } }
    },
  }
}

const searchItem = ({ prompt, include }: ResponsesRequest, callContext: CallContext): OutputItem => {
  const id = textIdOf('ws_', callContext)
  const sources = include.includes('web_search_call.action.sources')
    ? { sources: [{ type: 'url', url: source.url }] }
    : {}
  const action = { type: 'search', query: [...lastText(prompt, 'user')].slice(0, 60).join(''), ...sources }
  return {
    ...{ id, added: { id, type: 'web_search_call', status: 'in_progress' } },
    done: { id, type: 'web_search_call', status: 'completed', action },
    *events() {
      for (const state of ['in_progress', 'searching', 'completed']) {
        yield { type: `response.web_search_call.${state}`, fields: {} }
      }
    },
  }
}

const messageItem = ({ prompt }: ResponsesRequest, generation: Generation, callContext: CallContext): OutputItem => {
  const { text: tokens, isRefusal, finish } = generation
  const id = textIdOf('msg_', callContext)
  const text = tokens.join('')
  const logprobsOf = (tokens: readonly string[]) =>
    prompt.topLogprobs === undefined ? [] : tokens.map((token) => logprobOf(token, prompt.topLogprobs ?? 0))
  const from = prompt.searches ? text.indexOf(source.words) : -1
  const citation = { start_index: from, end_index: from + source.words.length, url: source.url, title: source.title }
  const annotations = from < 0 ? [] : [{ type: 'url_citation', ...citation }]
  const part = isRefusal
    ? { type: 'refusal', refusal: text }
    : { type: 'output_text', text, annotations, logprobs: logprobsOf(tokens) }
  const empty = isRefusal ? { ...part, refusal: '' } : { ...part, text: '', annotations: [], logprobs: [] }
  const at = { content_index: 0 }
  const status = finish === 'length' ? 'incomplete' : 'completed'
  const base = { id, type: 'message', role: 'assistant' }
  return {
    ...{ id, added: { ...base, status: 'in_progress', content: [] }, done: { ...base, status, content: [part] } },
    *events() {
      yield { type: 'response.content_part.added', fields: { ...at, part: empty } }
      for (const delta of tokens) {
        const type = isRefusal ? 'response.refusal.delta' : 'response.output_text.delta'
        yield { type, fields: { ...at, delta, ...(isRefusal ? {} : { logprobs: logprobsOf([delta]) }) }, isToken: true }
      }
      for (const [annotation_index, annotation] of annotations.entries()) {
        yield { type: 'response.output_text.annotation.added', fields: { ...at, annotation_index, annotation } }
      }
      if (isRefusal) yield { type: 'response.refusal.done', fields: { ...at, refusal: text } }
      else yield { type: 'response.output_text.done', fields: { ...at, text, logprobs: logprobsOf(tokens) } }
      yield { type: 'response.content_part.done', fields: { ...at, part } }
    },
  }
}

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
const callItem = ({ tool, input, complete }: ToolCall, index: number, callContext: CallContext): OutputItem => {
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

import type { Generation, ToolCall } from './generation.ts'
import { idOf, type Occasion } from './identity.ts'
import { lastSaid } from './prompt.ts'
import type { ResponsesRequest } from './responses-request.ts'
import { SOURCE } from './source.ts'
import { logprobOf } from './tokens.ts'

/** Something that happens to an item while it is made; item, place and number are added by whoever sends it. */
export interface ItemEvent {
  readonly type: string
  readonly fields: object
  /** whether it is a token that was generated */
  readonly counts?: boolean
}

/** One item of a response's output. */
export interface OutputItem {
  readonly id: string
  /** as it is announced */
  readonly opening: object
  /** as it is in the end */
  readonly done: object
  readonly events: () => Iterable<ItemEvent>
}

/** The output of a response: a thought, a search, then a message or calls, one after the other. */
export function outputOf(request: ResponsesRequest, made: Generation, occasion: Occasion): OutputItem[] {
  const { reasoning, said, calls, finish } = made
  const search = request.prompt.searches && calls.length === 0
  const message = calls.length === 0 && (said.length > 0 || finish === 'stop')
  return [
    ...(reasoning.length > 0 ? [thoughtItem(request, reasoning, occasion)] : []),
    ...(search ? [searchItem(request, occasion)] : []),
    ...(message ? [messageItem(request, made, occasion)] : []),
    ...calls.map((call, index) => callItem(call, index, occasion)),
  ]
}

/** The id by which the nth call of a response is answered. */
export function callIdOf(occasion: Occasion, index: number): string {
  return idOf('call_', occasion, String(index))
}

function thoughtItem({ include }: ResponsesRequest, reasoning: readonly string[], occasion: Occasion): OutputItem {
  const id = idOf('rs_', occasion)
  const text = reasoning.join('')
  const secret = include.includes('reasoning.encrypted_content') ? { encrypted_content: btoa(id) } : {}
  const opening = { id, type: 'reasoning', summary: [], ...secret }
  const at = { summary_index: 0 }
  const part = { type: 'summary_text', text }
  return {
    ...{ id, opening, done: { ...opening, summary: [part] } },
    *events() {
      yield { type: 'response.reasoning_summary_part.added', fields: { ...at, part: { ...part, text: '' } } }
      for (const delta of reasoning) {
        yield { type: 'response.reasoning_summary_text.delta', fields: { ...at, delta }, counts: true }
      }
      yield { type: 'response.reasoning_summary_text.done', fields: { ...at, text } }
      yield { type: 'response.reasoning_summary_part.done', fields: { ...at, part } }
    },
  }
}

function searchItem({ prompt, include }: ResponsesRequest, occasion: Occasion): OutputItem {
  const id = idOf('ws_', occasion)
  const sources = include.includes('web_search_call.action.sources')
    ? { sources: [{ type: 'url', url: SOURCE.url }] }
    : {}
  const action = { type: 'search', query: [...lastSaid(prompt, 'user')].slice(0, 60).join(''), ...sources }
  return {
    ...{ id, opening: { id, type: 'web_search_call', status: 'in_progress' } },
    done: { id, type: 'web_search_call', status: 'completed', action },
    *events() {
      for (const state of ['in_progress', 'searching', 'completed']) {
        yield { type: `response.web_search_call.${state}`, fields: {} }
      }
    },
  }
}

function messageItem({ prompt }: ResponsesRequest, made: Generation, occasion: Occasion): OutputItem {
  const { said, refuses, finish } = made
  const id = idOf('msg_', occasion)
  const text = said.join('')
  const shown = (tokens: readonly string[]) =>
    prompt.topLogprobs === undefined ? [] : tokens.map((token) => logprobOf(token, prompt.topLogprobs ?? 0))
  const from = prompt.searches ? text.indexOf(SOURCE.words) : -1
  const place = { start_index: from, end_index: from + SOURCE.words.length, url: SOURCE.url, title: SOURCE.title }
  const annotations = from < 0 ? [] : [{ type: 'url_citation', ...place }]
  const part = refuses
    ? { type: 'refusal', refusal: text }
    : { type: 'output_text', text, annotations, logprobs: shown(said) }
  const empty = refuses ? { ...part, refusal: '' } : { ...part, text: '', annotations: [], logprobs: [] }
  const at = { content_index: 0 }
  const status = finish === 'length' ? 'incomplete' : 'completed'
  const base = { id, type: 'message', role: 'assistant' }
  return {
    ...{ id, opening: { ...base, status: 'in_progress', content: [] }, done: { ...base, status, content: [part] } },
    *events() {
      yield { type: 'response.content_part.added', fields: { ...at, part: empty } }
      for (const delta of said) {
        const type = refuses ? 'response.refusal.delta' : 'response.output_text.delta'
        yield { type, fields: { ...at, delta, ...(refuses ? {} : { logprobs: shown([delta]) }) }, counts: true }
      }
      for (const [annotation_index, annotation] of annotations.entries()) {
        yield { type: 'response.output_text.annotation.added', fields: { ...at, annotation_index, annotation } }
      }
      if (refuses) yield { type: 'response.refusal.done', fields: { ...at, refusal: text } }
      else yield { type: 'response.output_text.done', fields: { ...at, text, logprobs: shown(said) } }
      yield { type: 'response.content_part.done', fields: { ...at, part } }
    },
  }
}

function callItem({ tool, input, whole }: ToolCall, index: number, occasion: Occasion): OutputItem {
  const { kind, name } = tool
  const [prefix, type, field, event] =
    kind === 'function'
      ? (['fc_', 'function_call', 'arguments', 'function_call_arguments'] as const)
      : (['ctc_', 'custom_tool_call', 'input', 'custom_tool_call_input'] as const)
  const id = idOf(prefix, occasion, String(index))
  const base = { id, type, call_id: callIdOf(occasion, index), name }
  const text = input.join('')
  return {
    ...{ id, opening: { ...base, status: 'in_progress', [field]: '' } },
    done: { ...base, status: whole ? 'completed' : 'incomplete', [field]: text },
    *events() {
      for (const delta of input) yield { type: `response.${event}.delta`, fields: { delta }, counts: true }
      yield { type: `response.${event}.done`, fields: { [field]: text, ...(kind === 'function' ? { name } : {}) } }
    },
  }
}

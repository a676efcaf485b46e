import { Buffer } from 'node:buffer'

/** A token of the response and its log probability (natural logarithm). */
export interface Logprob {
  token: string
  logprob: number
  /** UTF-8. Empty when the upstream gave none. */
  bytes: number[]
  top_logprobs: { token: string; logprob: number; bytes: number[] }[]
}

/** A citation, and the range of the text that it supports. */
export interface Citation {
  type: 'url_citation'
  url: string
  title: string
  start_index: number
  end_index: number
}

export interface TextPart {
  type: 'output_text'
  text: string
  annotations: Citation[]
  logprobs: Logprob[]
}

export interface RefusalPart {
  type: 'refusal'
  refusal: string
}

export interface ReasoningTextPart {
  type: 'reasoning_text'
  text: string
}

export interface SummaryPart {
  type: 'summary_text'
  text: string
}

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

export interface MessageItem {
  type: 'message'
  id: string
  status: ItemStatus
  role: 'assistant'
  content: (TextPart | RefusalPart)[]
}

export interface ReasoningItem {
  type: 'reasoning'
  id: string
  status: ItemStatus
  summary: SummaryPart[]
  /** Absent if the text is delivered as a summary. */
  content?: ReasoningTextPart[]
  /** The text for later turns, if the request asks for it. */
  encrypted_content?: string
}

interface ToolCallItem {
  id: string
  status: ItemStatus
  call_id: string
}

/** What the caller knows the called tool by. */
interface NamedToolCallItem extends ToolCallItem {
  name: string
  namespace?: string
}

export interface FunctionCallItem extends NamedToolCallItem {
  type: 'function_call'
  arguments: string
}

export interface CustomCallItem extends NamedToolCallItem {
  type: 'custom_tool_call'
  input: string
}

export interface LocalShellCallItem extends ToolCallItem {
  type: 'local_shell_call'
  action: {
    type: 'exec'
    command: string[]
    env: Record<string, string>
    timeout_ms?: number
    user?: string
    working_directory?: string
  }
}

export interface ToolSearchCallItem extends ToolCallItem {
  type: 'tool_search_call'
  execution: 'client'
  arguments: unknown
}

export type CallItem = FunctionCallItem | CustomCallItem | LocalShellCallItem | ToolSearchCallItem

export type Item = MessageItem | ReasoningItem | CallItem

interface ItemPosition {
  item_id: string
  output_index: number
}

interface PartPosition extends ItemPosition {
  content_index: number
}

interface SummaryPosition extends ItemPosition {
  summary_index: number
}

/** The bridge's events about items, without sequence numbers. */
export type ItemEvent =
  | { type: 'response.output_item.added' | 'response.output_item.done'; output_index: number; item: Item }
  | (PartPosition & {
      type: 'response.content_part.added' | 'response.content_part.done'
      part: TextPart | RefusalPart | ReasoningTextPart
    })
  | (PartPosition & { type: 'response.output_text.delta'; delta: string; logprobs: Logprob[] })
  | (PartPosition & { type: 'response.output_text.done'; text: string; logprobs: Logprob[] })
  | (PartPosition & { type: 'response.output_text.annotation.added'; annotation_index: number; annotation: Citation })
  | (PartPosition & { type: 'response.refusal.delta'; delta: string })
  | (PartPosition & { type: 'response.refusal.done'; refusal: string })
  | (PartPosition & { type: 'response.reasoning_text.delta'; delta: string })
  | (PartPosition & { type: 'response.reasoning_text.done'; text: string })
  | (SummaryPosition & {
      type: 'response.reasoning_summary_part.added' | 'response.reasoning_summary_part.done'
      part: SummaryPart
    })
  | (SummaryPosition & { type: 'response.reasoning_summary_text.delta'; delta: string })
  | (SummaryPosition & { type: 'response.reasoning_summary_text.done'; text: string })
  | (ItemPosition & { type: 'response.function_call_arguments.delta'; delta: string })
  | (ItemPosition & { type: 'response.function_call_arguments.done'; name: string; arguments: string })
  | (ItemPosition & { type: 'response.custom_tool_call_input.delta'; delta: string })
  | (ItemPosition & { type: 'response.custom_tool_call_input.done'; input: string })

/** The bridge's events about the response as a whole. */
export type LifecycleEvent =
  | {
      type:
        | 'response.created'
        | 'response.in_progress'
        | 'response.completed'
        | 'response.incomplete'
        | 'response.failed'
      response: object
    }
  | { type: 'error'; code: string; message: string; param: null }

/** Writes events as SSE text. Numbers them from 0. */
export interface EventWriter {
  emit(event: ItemEvent | LifecycleEvent): void
  /** The text of the events since the last call. Empty when there were none. */
  take(): string
}

export interface EventWriterOptions {
  /**
   * Whether deltas get the member `obfuscation`, so that the size of an event does not show the length of its delta to
   * those who see the encrypted traffic (`stream_options.include_obfuscation`). Default false.
   */
  readonly obfuscates?: boolean
}

export const createEventWriter = ({ obfuscates = false }: EventWriterOptions = {}): EventWriter => {
  let sequence = 0
  let text = ''
  return {
    emit({ type, ...fields }) {
      const padding = obfuscates && 'delta' in fields ? { obfuscation: paddingFor(fields.delta) } : undefined
      const data = { type, sequence_number: sequence++, ...fields, ...padding }
      text += `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`
    },
    take() {
      const taken = text
      text = ''
      return taken
    },
  }
}

/** For a response without a stream. */
export const silentWriter: EventWriter = { emit() {}, take: () => '' }

/** Random characters, so that the JSON of delta and padding together is a multiple of 32 bytes long. */
const paddingFor = (delta: string): string => {
  const missing = -Buffer.byteLength(JSON.stringify(delta)) & 31
  return crypto.randomUUID().replaceAll('-', '').slice(0, missing)
}

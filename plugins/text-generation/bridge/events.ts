/** A token of the answer, and how likely it was (natural logarithm). */
export interface Logprob {
  token: string
  logprob: number
  /** UTF-8. Empty when the upstream gave none. */
  bytes: number[]
  top_logprobs: { token: string; logprob: number; bytes: number[] }[]
}

/** Where in the text a source is referred to. */
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

export interface ThoughtPart {
  type: 'reasoning_text'
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
  summary: never[]
  content: ThoughtPart[]
}

interface CallItem {
  id: string
  status: ItemStatus
  call_id: string
  name: string
}

export interface FunctionCallItem extends CallItem {
  type: 'function_call'
  arguments: string
}

export interface CustomCallItem extends CallItem {
  type: 'custom_tool_call'
  input: string
}

export type Item = MessageItem | ReasoningItem | FunctionCallItem | CustomCallItem

interface InItem {
  item_id: string
  output_index: number
}

interface InPart extends InItem {
  content_index: number
}

/** What the bridge says of items, without sequence numbers (text-relay section 8). */
export type ItemEvent =
  | { type: 'response.output_item.added' | 'response.output_item.done'; output_index: number; item: Item }
  | (InPart & {
      type: 'response.content_part.added' | 'response.content_part.done'
      part: TextPart | RefusalPart | ThoughtPart
    })
  | (InPart & { type: 'response.output_text.delta'; delta: string; logprobs: Logprob[] })
  | (InPart & { type: 'response.output_text.done'; text: string; logprobs: Logprob[] })
  | (InPart & { type: 'response.output_text.annotation.added'; annotation_index: number; annotation: Citation })
  | (InPart & { type: 'response.refusal.delta'; delta: string })
  | (InPart & { type: 'response.refusal.done'; refusal: string })
  | (InPart & { type: 'response.reasoning_text.delta'; delta: string })
  | (InPart & { type: 'response.reasoning_text.done'; text: string })
  | (InItem & { type: 'response.function_call_arguments.delta'; delta: string })
  | (InItem & { type: 'response.function_call_arguments.done'; name: string; arguments: string })
  | (InItem & { type: 'response.custom_tool_call_input.delta'; delta: string })
  | (InItem & { type: 'response.custom_tool_call_input.done'; input: string })

/** What the bridge says of the response as a whole. */
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

/** Events on their way out, numbered from 0. */
export interface Events {
  emit(event: ItemEvent | LifecycleEvent): void
  /** Text of the events since it was last asked for. Empty when there were none. */
  take(): string
}

export const createEvents = (): Events => {
  let sequence = 0
  let text = ''
  return {
    emit({ type, ...fields }) {
      text += `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence++, ...fields })}\n\n`
    },
    take() {
      const taken = text
      text = ''
      return taken
    },
  }
}

import type { Json } from '../../shared/reader.ts'
import type { Model } from '../catalogue.ts'

/** One message of a conversation, independent of the API. */
export interface PromptMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly text: string
  /** number of images, videos and files; their content is ignored */
  readonly attachments: number
}

/** A tool of the request. */
export interface Tool {
  readonly kind: ToolKind
  readonly name: string
  /** name of the namespace that it belongs to */
  readonly namespace?: string
  /** JSON Schema of the arguments; empty for custom tools */
  readonly schema: Json
}

/** A kind of tool that the caller runs. Chat completions have only the first two. */
export type ToolKind = 'function' | 'custom' | 'local_shell' | 'tool_search'

/** The input of text generation, independent of the API. */
export interface Prompt {
  readonly model: Model
  readonly turns: readonly PromptMessage[]
  /** data of the account that the request references; generated texts quote it */
  readonly referenced: readonly string[]
  readonly tools: readonly Tool[]
  /** whether the model can, must not or must call a tool, or the name of the tool that it must call */
  readonly choice: 'auto' | 'none' | 'required' | { readonly name: string }
  /** whether it can make more than one tool call */
  readonly parallel: boolean
  /** undefined: plain text; an empty schema: any JSON object */
  readonly schema: Json | undefined
  readonly maxTokens: number
  readonly stops: readonly string[]
  /** number of choices */
  readonly count: number
  /** whether it generates reasoning first */
  readonly reasons: boolean
  /** whether it makes a web search first */
  readonly searches: boolean
  /** number of alternatives for each token; undefined: no log probabilities */
  readonly topLogprobs: number | undefined
}

/** The text of the last message with a role; empty when there is none. */
export const lastText = ({ turns }: Pick<Prompt, 'turns'>, role: PromptMessage['role']): string =>
  turns.findLast((turn) => turn.role === role)?.text ?? ''

import type { Model } from './catalogue.ts'
import type { Json } from './reader.ts'

/** One message of a conversation, whatever protocol it came in. */
export interface Turn {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly text: string
  /** images, videos and files, which are counted but not looked at */
  readonly pieces: number
}

/** A tool that the caller offers. */
export interface Tool {
  readonly kind: 'function' | 'custom'
  readonly name: string
  /** JSON Schema of the arguments; of functions only */
  readonly schema: Json
}

/** What a caller wants generated, whatever protocol it asked in. */
export interface Prompt {
  readonly model: Model
  readonly turns: readonly Turn[]
  /** what came from the account and not with the request: answers quote it */
  readonly recalled: readonly string[]
  readonly tools: readonly Tool[]
  /** whether the model may, must not or must call, or what it must call */
  readonly choice: 'auto' | 'none' | 'required' | { readonly name: string }
  /** whether it may call more than one tool at once */
  readonly parallel: boolean
  /** undefined: plain text; an empty schema: any JSON object */
  readonly schema: Json | undefined
  readonly maxTokens: number
  readonly stops: readonly string[]
  /** how many answers */
  readonly count: number
  readonly reasons: boolean
  /** searches the web first */
  readonly searches: boolean
  /** how many alternatives each token is shown with; undefined: no probabilities at all */
  readonly topLogprobs: number | undefined
}

/** What the last message of a kind says; empty when there is none. */
export function lastSaid({ turns }: Pick<Prompt, 'turns'>, role: Turn['role']): string {
  return turns.findLast((turn) => turn.role === role)?.text ?? ''
}

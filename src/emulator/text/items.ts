import { idOf, type Occasion } from './identity.ts'
import type { Turn } from './prompt.ts'
import type { Json } from './reader.ts'

/** One item of the account: a message, a call, an output, as lists show it and as the model reads it. */
export interface Item {
  readonly id: string
  /** as lists show it, with its id */
  readonly shown: Json
  /** absent: says nothing to the model */
  readonly turn?: Turn
  /** id of the call that it is */
  readonly calls?: string
  /** id of the call whose output it is */
  readonly answers?: string
}

const PREFIXES: Readonly<Record<string, string>> = {
  ...{ message: 'msg_', reasoning: 'rs_', web_search_call: 'ws_', function_call: 'fc_', custom_tool_call: 'ctc_' },
  ...{ function_call_output: 'fco_', custom_tool_call_output: 'ctco_' },
}

/** The id of the nth item of an input. */
export function inputIdOf(type: string, occasion: Occasion, index: number): string {
  return idOf(PREFIXES[type] ?? 'item_', occasion, `input/${index}`)
}

/** Calls among items that still want their output. */
export function openCallsIn(items: readonly Item[]): string[] {
  const answered = new Set(items.flatMap(({ answers }) => answers ?? []))
  return items.flatMap(({ calls }) => (calls === undefined || answered.has(calls) ? [] : [calls]))
}

/** What the model reads of items. */
export function turnsOf(items: readonly Item[]): Turn[] {
  return items.flatMap(({ turn }) => turn ?? [])
}

/** An item of an answer, for whoever continues it. */
export function outputItem(shown: Json): Item {
  const { id, call_id, content } = shown
  const [part] = Array.isArray(content) ? content : []
  const said = part?.text ?? part?.refusal ?? shown.arguments ?? shown.input
  return {
    ...{ id: String(id), shown },
    ...(typeof said === 'string' ? { turn: { role: 'assistant', text: said, pieces: 0 } } : {}),
    ...(typeof call_id === 'string' ? { calls: call_id } : {}),
  }
}

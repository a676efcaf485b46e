import type { Slot } from './items.ts'
import type { MutableObject } from './mutable-json.ts'

/**
 * Kinds of items of which a beginning is worth something, and whose status has a word for it. Whatever else is unfinished is left out: of a call nobody may
 * execute half, and an image, a compaction or a list of tools is of no use before it is there, nor could it be told from a whole one.
 */
const worthKeeping: ReadonlySet<unknown> = new Set([
  'message',
  'reasoning',
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
  'function_call_output',
  'computer_call_output',
  'shell_call_output',
  'tool_search_output',
])

/** The items that may be shown of an answer that has been cut off: finished ones as they are, beginnings marked incomplete, never half a call. */
export const truncateItems = (slots: readonly Slot[]): readonly MutableObject[] =>
  slots.flatMap(({ item, done }) => {
    if (worthKeeping.has(item.type)) return [done ? item : { ...item, status: 'incomplete' }]
    return done && item.status !== 'incomplete' && hasWholeArguments(item) ? [item] : []
  })

/** The items of an answer that the upstream has ended, in case it said no more of them than the events before. */
export const endedWith = (status: string, slots: readonly Slot[]): readonly MutableObject[] =>
  slots.flatMap((slot) => {
    if (slot.done) return [slot.item]
    if (status !== 'completed') return truncateItems([slot])
    return [typeof slot.item.status === 'string' ? { ...slot.item, status } : slot.item]
  })

const hasWholeArguments = ({ arguments: text }: MutableObject): boolean => {
  if (typeof text !== 'string') return true
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

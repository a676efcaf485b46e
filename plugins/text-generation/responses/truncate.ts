import type { Slot } from './items.ts'
import type { MutableObject } from './mutable-json.ts'

/**
 * Item types that are useful when incomplete, and whose status can be `incomplete`.
 *
 * Unfinished items of other types are left out. A client must not execute half a tool call. Part of an image, of a
 * compaction or of a tool list is useless, and looks like a whole one.
 */
const usefulIncomplete: ReadonlySet<unknown> = new Set([
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

/** The items of a response that was cut off: finished items as they are, useful parts with status `incomplete`, never half a tool call. */
export const truncateItems = (slots: readonly Slot[]): readonly MutableObject[] =>
  slots.flatMap(({ item, done }) => {
    if (usefulIncomplete.has(item.type)) return [done ? item : { ...item, status: 'incomplete' }]
    return done && item.status !== 'incomplete' && hasCompleteArguments(item) ? [item] : []
  })

/** The items of a response whose final event has no output: as the events before it have built them. */
export const finalItems = (status: string, slots: readonly Slot[]): readonly MutableObject[] =>
  slots.flatMap((slot) => {
    if (slot.done) return [slot.item]
    if (status !== 'completed') return truncateItems([slot])
    return [typeof slot.item.status === 'string' ? { ...slot.item, status } : slot.item]
  })

const hasCompleteArguments = ({ arguments: text }: MutableObject): boolean => {
  if (typeof text !== 'string') return true
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

import { contentOf } from './content.ts'
import type { Turn } from './prompt.ts'
import { type Reader, raise } from './reader.ts'
import { absent, refused, wrongType, wrongValue } from './refusal.ts'

/** What was said so far, instructions left aside, and the tool calls that still want their output. */
export interface Conversation {
  readonly turns: readonly Turn[]
  readonly openCalls: readonly string[]
}

const ROLES = ['user', 'assistant', 'system', 'developer'] as const
const CALLS: Readonly<Record<string, string>> = { function_call: 'arguments', custom_tool_call: 'input' }
const OUTPUTS: readonly string[] = ['function_call_output', 'custom_tool_call_output']
/** Items that models hand out and take back; they say nothing new. */
const SILENT: readonly string[] = ['reasoning', 'item_reference', 'web_search_call']

/** Reads `input` behind an earlier conversation. */
export function conversationOf(request: Reader, earlier?: Conversation): Conversation {
  const { input } = request.raw
  if (input === undefined || input === null) throw absent('input')
  const open = new Set(earlier?.openCalls)
  const turns = typeof input === 'string' ? [{ role: 'user' as const, text: input, pieces: 0 }] : itemsOf(request, open)
  const [unanswered] = open
  if (unanswered !== undefined) {
    throw refused('input', 'invalid_value', `No tool output found for function call ${unanswered}.`)
  }
  return { turns: [...(earlier?.turns ?? []), ...turns], openCalls: [] }
}

function itemsOf(request: Reader, open: Set<string>): Turn[] {
  if (!Array.isArray(request.raw.input)) {
    throw wrongType('input', 'one of a string or array of objects', request.raw.input)
  }
  return request.objects('input').flatMap((item) => {
    const type = item.text('type') ?? 'message'
    if (type === 'message') return messageOf(item)
    if (SILENT.includes(type)) return []
    if (OUTPUTS.includes(type)) return outputOf(item, open)
    const field = CALLS[type]
    if (field === undefined) {
      throw wrongValue(item.path('type'), type, ['message', ...Object.keys(CALLS), ...OUTPUTS, ...SILENT])
    }
    open.add(item.needed('call_id'))
    return { role: 'assistant', text: `${item.needed('name')}${item.needed(field)}`, pieces: 0 }
  })
}

function messageOf(item: Reader): Turn {
  const role = item.word('role', ROLES) ?? raise(absent(item.path('role')))
  const short = item.text('text')
  const content = contentOf(item, 'content', short !== undefined, 'responses')
  return { role: role === 'developer' ? 'system' : role, ...content, text: short ?? content.text }
}

function outputOf(item: Reader, open: Set<string>): Turn {
  const id = item.needed('call_id')
  if (!open.delete(id)) {
    throw refused('input', 'invalid_value', `No tool call found for function call output with call_id ${id}.`)
  }
  return { role: 'tool', ...contentOf(item, 'output', false, 'responses') }
}

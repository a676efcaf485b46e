import { contentOf } from './content.ts'
import type { Occasion } from './identity.ts'
import { type Item, inputIdOf, openCallsIn } from './items.ts'
import type { Turn } from './prompt.ts'
import { type Reader, raise } from './reader.ts'
import { absent, refused, TextRefusal, wrongType, wrongValue } from './refusal.ts'

/** Finds an item of the account. */
export type FindItem = (id: string) => Item | undefined

const ROLES = ['user', 'assistant', 'system', 'developer'] as const
const CALLS: Readonly<Record<string, string>> = { function_call: 'arguments', custom_tool_call: 'input' }
const OUTPUTS: readonly string[] = ['function_call_output', 'custom_tool_call_output']
/** Items that models hand out and take back; they say nothing new. */
const SILENT: readonly string[] = ['reasoning', 'web_search_call']
const TYPES = ['message', ...Object.keys(CALLS), ...OUTPUTS, ...SILENT, 'item_reference']

/** Reads `input` behind what was said before it. What refers to an item of the account becomes that item. */
export function inputOf(request: Reader, earlier: readonly Item[], find: FindItem, occasion: Occasion): Item[] {
  const items = itemsIn(request, 'input', find, occasion)
  const open = new Set(openCallsIn(earlier))
  for (const { calls, answers } of items) {
    if (calls !== undefined) open.add(calls)
    if (answers !== undefined && !open.delete(answers)) {
      throw refused('input', 'invalid_value', `No tool call found for function call output with call_id ${answers}.`)
    }
  }
  const [unanswered] = open
  if (unanswered === undefined) return items
  throw refused('input', 'invalid_value', `No tool output found for function call ${unanswered}.`)
}

/** Reads a field that is a text or an array of items. */
export function itemsIn(request: Reader, name: string, find: FindItem, occasion: Occasion): Item[] {
  const given = request.raw[name]
  if (given === undefined || given === null) throw absent(name)
  if (typeof given === 'string') {
    const content = [{ type: 'input_text', text: given }]
    const shown = { ...messageFrame(occasion, 0), role: 'user', content }
    return [{ id: shown.id, shown, turn: { role: 'user', text: given, pieces: 0 } }]
  }
  if (!Array.isArray(given)) throw wrongType(name, 'one of a string or array of objects', given)
  return request.objects(name).map((item, index) => itemOf(item, find, occasion, index))
}

function itemOf(item: Reader, find: FindItem, occasion: Occasion, index: number): Item {
  const type = item.text('type') ?? 'message'
  if (isReference(item, type)) {
    const id = item.needed('id')
    return find(id) ?? raise(new TextRefusal(404, `Item with id '${id}' not found.`, { param: 'input' }))
  }
  const id = item.text('id') ?? inputIdOf(type, occasion, index)
  const shown = { ...messageFrame(occasion, index), ...item.raw, type, id }
  if (type === 'message') return { id, shown, turn: messageOf(item) }
  if (SILENT.includes(type)) return { id, shown }
  if (OUTPUTS.includes(type)) {
    const turn = { role: 'tool' as const, ...contentOf(item, 'output', false, 'responses') }
    return { id, shown, turn, answers: item.needed('call_id') }
  }
  const field = CALLS[type] ?? raise(wrongValue(item.path('type'), type, TYPES))
  const text = `${item.needed('name')}${item.needed(field)}`
  return { id, shown, turn: { role: 'assistant', text, pieces: 0 }, calls: item.needed('call_id') }
}

/** A thought that does not bring its content along is looked up, like whatever is no more than an id. */
function isReference(item: Reader, type: string): boolean {
  if (type === 'item_reference') return true
  if (!item.has('type') && !item.has('role')) return item.has('id')
  return type === 'reasoning' && item.has('id') && !item.has('encrypted_content')
}

function messageFrame(occasion: Occasion, index: number) {
  return { id: inputIdOf('message', occasion, index), type: 'message', status: 'completed' }
}

function messageOf(item: Reader): Turn {
  const role = item.word('role', ROLES) ?? raise(absent(item.path('role')))
  const short = item.text('text')
  const content = contentOf(item, 'content', short !== undefined, 'responses')
  return { role: role === 'developer' ? 'system' : role, ...content, text: short ?? content.text }
}

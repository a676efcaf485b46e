import { raise } from '../../shared/raise.ts'
import type { Json, Reader } from '../../shared/reader.ts'
import type { PromptMessage, Tool } from '../generation/prompt.ts'
import { type Item, inputIdOf, openCallsIn } from '../objects/items.ts'
import type { Sealing } from '../objects/sealing.ts'
import { badRequest, missingField, OpenAIError, wrongType, wrongValue } from '../openai-error.ts'
import type { CallContext } from '../output/call-context.ts'
import { type Content, contentOf } from './content.ts'
import { toolsIn } from './tools.ts'

/** What the account knows of the items of an input. */
export interface KnownItems {
  /** an item of the account by its id */
  item(id: string): Item | undefined
  readonly sealing: Sealing
}

const roles = ['user', 'assistant', 'system', 'developer'] as const
/** The field of each type of tool call that has its text. */
const calls: Readonly<Record<string, string>> = {
  ...{ function_call: 'arguments', custom_tool_call: 'input' },
  ...{ local_shell_call: 'action', tool_search_call: 'arguments' },
}
/** The field of each type of tool output that has its text. */
const outputs: Readonly<Record<string, string>> = {
  ...{ function_call_output: 'output', custom_tool_call_output: 'output', local_shell_call_output: 'output' },
  tool_search_output: 'tools',
}
/** Items that a model returns and accepts as input, but that have no text for the prompt. */
const withoutText: readonly string[] = [
  ...['web_search_call', 'file_search_call', 'code_interpreter_call', 'image_generation_call'],
  ...['configuration_update', 'compaction_trigger'],
]
const others = ['reasoning', 'compaction', 'additional_tools', 'agent_message', 'item_reference']
const types = ['message', ...Object.keys(calls), ...Object.keys(outputs), ...withoutText, ...others]

/** Reads `input`, which follows the earlier items. A reference to an item of the account becomes that item. */
export const inputOf = (
  request: Reader,
  earlier: readonly Item[],
  known: KnownItems,
  callContext: CallContext,
): Item[] => {
  const items = itemsIn(request, 'input', known, callContext)
  checkReasoning(items)
  const open = new Set(openCallsIn(earlier))
  for (const { callId, outputOf } of items) {
    if (callId !== undefined) open.add(callId)
    if (outputOf !== undefined && !open.delete(outputOf)) {
      throw badRequest(
        'input',
        'invalid_value',
        `No tool call found for function call output with call_id ${outputOf}.`,
      )
    }
  }
  const [missing] = open
  if (missing === undefined) return items
  throw badRequest('input', 'invalid_value', `No tool output found for function call ${missing}.`)
}

/** Throws 400 when reasoning does not precede what the model generated after it. */
const checkReasoning = (items: readonly Item[]): void => {
  const isReasoning = ({ json }: Item) => json.type === 'reasoning'
  const lone = items.find((item, index) => {
    const next = items.slice(index).find((one) => !isReasoning(one))
    const role = next?.json.role
    return isReasoning(item) && item.json.encrypted_content && (next === undefined || role === 'user')
  })
  if (lone === undefined) return
  const errorMessage = `Item '${lone.id}' of type 'reasoning' was provided without its required following item.`
  throw new OpenAIError(400, errorMessage, { param: 'input' })
}

/** Reads a field that is a string or an array of items. */
export const itemsIn = (request: Reader, name: string, known: KnownItems, callContext: CallContext): Item[] => {
  const given = request.raw[name]
  if (given === undefined || given === null) throw missingField(name)
  if (typeof given === 'string') {
    const content = [{ type: 'input_text', text: given }]
    const json = { ...messageFrame(callContext, 0), role: 'user', content }
    return [{ id: json.id, json, turn: { role: 'user', text: given, attachments: 0 } }]
  }
  if (!Array.isArray(given)) throw wrongType(name, 'one of a string or array of objects', given)
  return request.objects(name).map((item, index) => itemOf(item, known, callContext, index))
}

const itemOf = (item: Reader, known: KnownItems, callContext: CallContext, index: number): Item => {
  const type = item.text('type') ?? 'message'
  if (isReference(item, type)) {
    const id = item.required('id')
    return known.item(id) ?? raise(new OpenAIError(404, `Item with id '${id}' not found.`, { param: 'input' }))
  }
  const id = item.text('id') ?? inputIdOf(type, callContext, index)
  const json = { ...messageFrame(callContext, index), ...item.raw, type, id }
  if (type === 'message') return { id, json, turn: messageOf(item) }
  if (withoutText.includes(type)) return { id, json }
  if (type === 'reasoning') return { id, json: checkSealed(item, json, known) }
  if (type === 'compaction') return { id, json, turn: summaryIn(item, known) }
  if (type === 'additional_tools') return { id, json, tools: additionalTools(item) }
  if (type === 'agent_message') return { id, json, turn: agentMessage(item) }
  const output = outputs[type]
  if (output !== undefined) {
    // a tool that the caller runs by itself names itself in place of a call
    const outputOf = item.has('name') ? item.text('call_id') : item.required('call_id')
    const turn = { role: outputOf === undefined ? ('user' as const) : ('tool' as const), ...outputIn(item, output) }
    return { id, json, turn, ...(outputOf === undefined ? {} : { outputOf }), ...loadedBy(item, type) }
  }
  const field = calls[type] ?? raise(wrongValue(item.path('type'), type, types))
  const text = callTextIn(item, type, field)
  return { id, json, turn: { role: 'assistant', text, attachments: 0 }, callId: item.required('call_id') }
}

const checkSealed = (item: Reader, json: Json, { sealing }: KnownItems): Json => {
  const sealed = item.text('encrypted_content')
  if (sealed !== undefined) sealing.open(sealed, item.text('id'))
  return json
}

const summaryIn = (item: Reader, { sealing }: KnownItems): PromptMessage => {
  const { text } = sealing.open(item.required('encrypted_content'), item.text('id'))
  return { role: 'system', text, attachments: 0 }
}

/**
 * A message between two agents of Codex. The emulator encrypts no arguments, so that what Codex takes for encrypted is
 * text.
 */
const agentMessage = (item: Reader): PromptMessage => {
  const texts = item
    .objects('content')
    .map((part) => part.required(part.text('type') === 'encrypted_content' ? 'encrypted_content' : 'text'))
  return { role: 'user', text: texts.join(''), attachments: 0 }
}

const additionalTools = (item: Reader): Tool[] => {
  if (item.oneOf('role', ['developer'] as const) === undefined) throw missingField(item.path('role'))
  return toolsIn(item.objects('tools'), 'flat')
}

const callTextIn = (item: Reader, type: string, field: string): string => {
  if (type === 'function_call' || type === 'custom_tool_call') return item.required('name') + item.required(field)
  return JSON.stringify((item.object(field) ?? raise(missingField(item.path(field)))).raw)
}

const outputIn = (item: Reader, field: string): Content =>
  field === 'output'
    ? contentOf(item, field, false, 'responses')
    : { text: JSON.stringify(item.objects(field).map(({ raw }) => raw.name)), attachments: 0 }

/** The tools that a tool search has found: the model can call them from then on. */
const loadedBy = (item: Reader, type: string): Pick<Item, 'tools'> =>
  type === 'tool_search_output' ? { tools: toolsIn(item.objects('tools'), 'flat') } : {}

/**
 * Whether an item is only an id to options up: an `item_reference`, a bare id, or reasoning without its encrypted
 * content.
 */
const isReference = (item: Reader, type: string): boolean => {
  if (type === 'item_reference') return true
  if (!item.has('type') && !item.has('role')) return item.has('id')
  return type === 'reasoning' && item.has('id') && !item.has('encrypted_content')
}

const messageFrame = (callContext: CallContext, index: number) => ({
  id: inputIdOf('message', callContext, index),
  type: 'message',
  status: 'completed',
})

const messageOf = (item: Reader): PromptMessage => {
  const role = item.oneOf('role', roles) ?? raise(missingField(item.path('role')))
  const short = item.text('text')
  const content = contentOf(item, 'content', short !== undefined, 'responses')
  return { role: role === 'developer' ? 'system' : role, ...content, text: short ?? content.text }
}

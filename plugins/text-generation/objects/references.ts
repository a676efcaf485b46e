import { type Json, toJson } from '../../shared/json.ts'
import { wordOf } from '../validation.ts'
import { allowances, foldKey, isFreeForm, meaningOf, type UnknownKind } from './fields.ts'
import type { ObjectKind } from './store.ts'

/** An id in a request. */
export interface ObjectReference {
  readonly kind: ObjectKind | UnknownKind
  /** As it was written: a string, or something else that is no id. */
  readonly id: Json
  /** Where it stands, for example `input[0].content[1].file_id`. */
  readonly param: string
  /** Names, folded, by which an operator may allow the field. */
  readonly fields: readonly string[]
}

/** The text of a longer request is not worth having only to see that there is no id in it. */
const longText = 2 ** 20

/**
 * The ids in a chat or responses request that name objects of the account, wherever they stand and however often; of more than `most`, some.
 */
export const objectReferences = (request: Json, most = Number.POSITIVE_INFINITY): readonly ObjectReference[] => {
  const found: ObjectReference[] = []
  if (request.byteLength <= longText && !suspicious.test(request.raw)) return found
  const steps: (string | number)[] = []

  /** @param parent folded name of the member that the value is in */
  const visit = (value: Json, parent: string): void => {
    if (value.isArray) each(value, (element) => visit(element, parent))
    const isItem = parent === 'input' && steps.length === 2
    let reference: boolean | undefined
    for (const { key, value: inner } of value.members()) {
      if (found.length > most) return
      const meaning = relevant.test(key) ? meaningOf(parent, key) : undefined
      if (meaning === 'label') continue
      const name = meaning !== undefined || inner.isObject || inner.isArray ? foldKey(key) : ''
      if (name === '' || isFreeForm(parent, name)) continue
      steps.push(key)
      const isItemId = meaning === 'item' && name === 'id'
      if (meaning === undefined || (isItemId && !isItem)) visit(inner, name)
      else {
        // An item is looked at once, however often it says its id.
        if (isItemId) reference ??= isReference(value)
        if (!isItemId || reference) ids(meaning, inner, name, allowances(parent, name))
      }
      steps.pop()
    }
  }

  /** The ids in the value of a field that holds some. */
  const ids = (kind: ObjectReference['kind'], value: Json, name: string, fields: readonly string[]): void => {
    if (value.is('null')) return
    if (value.isArray) each(value, (element) => ids(kind, element, name, fields))
    else if (value.isObject && spelledOut.has(name)) visit(value, name)
    else found.push({ kind, id: value, param: pathOf(steps), fields })
  }

  const each = (array: Json, look: (element: Json) => void): void => {
    array.elements().forEach((element, index) => {
      if (found.length > most) return
      steps.push(index)
      look(element)
      steps.pop()
    })
  }

  visit(request, '')
  return found
}

/** Fields that hold an id, or an object that says more. */
const spelledOut: ReadonlySet<string> = new Set(['conversation', 'container', 'batch'])

/** A key that may hold an id. */
const relevant = /(?:ids?|conversation|container|batch|cached[_-]?content)$/iu

/** In JSON's own text: the same, or escapes that might become it. Without Unicode's case folding, by which U+017F is an s, it takes a third of the time. */
const suspicious = /\\u|(?:id[s\u017f]?|conver[s\u017f]ation|container|batch|cached[_-]?content)"\s*:/i

/**
 * Items that say all that they are, so that their `id` is a mere label, by which a caller's program finds them again. Of the others (what a hosted tool did,
 * what a model thought, encrypted or not, a picture that it made) an upstream may look up by the id what the item does not say.
 */
const speaking: ReadonlySet<unknown> = new Set([
  ...['message', 'function_call', 'function_call_output', 'custom_tool_call', 'custom_tool_call_output'],
  ...['computer_call', 'computer_call_output', 'local_shell_call', 'local_shell_call_output'],
  ...['shell_call', 'shell_call_output', 'apply_patch_call', 'apply_patch_call_output'],
  ...['mcp_list_tools', 'mcp_approval_response', 'additional_tools', 'configuration_update', 'compaction_trigger'],
])

/** Whether an upstream may look up by an item's id what the item does not say, however strictly it reads the item's keys. */
export const isReference = (item: Json): boolean => {
  const type = item.get('type') ?? absent
  // What has no type is a message, or no more than an id.
  const speaks = type.is('null') ? item.get('role')?.isString === true : speaking.has(wordOf(type))
  return (
    !speaks ||
    item.members().some(({ key, value }) => key !== 'type' && foldKey(key) === 'type' && !speaking.has(wordOf(value)))
  )
}

const absent = toJson(null)

const pathOf = (steps: readonly (string | number)[]): string =>
  steps.map((step, nth) => (typeof step === 'number' ? `[${step}]` : nth === 0 ? step : `.${step}`)).join('')

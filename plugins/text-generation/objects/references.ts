import { type Json, toJson } from '../../shared/json.ts'
import { wordOf } from '../validation.ts'
import { allowedNames, foldKey, isFreeForm, meaningOf, type UnknownKind } from './fields.ts'
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
const maxSearchLength = 2 ** 20

/**
 * The ids in a chat or responses request that name objects of the account, wherever they stand and however often; of more than `most`, some.
 */
export const objectReferences = (request: Json, max = Number.POSITIVE_INFINITY): readonly ObjectReference[] => {
  const found: ObjectReference[] = []
  if (request.byteLength <= maxSearchLength && !mayHoldReference.test(request.raw)) return found
  const path: (string | number)[] = []

  /** @param parent folded name of the member that the value is in */
  const visit = (value: Json, parent: string): void => {
    if (value.isArray) forEach(value, (element) => visit(element, parent))
    const isItem = parent === 'input' && path.length === 2
    let reference: boolean | undefined
    for (const { key, value: inner } of value.members()) {
      if (found.length > max) return
      const meaning = mayHoldId.test(key) ? meaningOf(parent, key) : undefined
      if (meaning === 'label') continue
      const name = meaning !== undefined || inner.isObject || inner.isArray ? foldKey(key) : ''
      if (name === '' || isFreeForm(parent, name)) continue
      path.push(key)
      const isItemId = meaning === 'item' && name === 'id'
      if (meaning === undefined || (isItemId && !isItem)) visit(inner, name)
      else {
        // An item is looked at once, however often it says its id.
        if (isItemId) reference ??= isReference(value)
        if (!isItemId || reference) addIds(meaning, inner, name, allowedNames(parent, name))
      }
      path.pop()
    }
  }

  /** The ids in the value of a field that holds some. */
  const addIds = (kind: ObjectReference['kind'], value: Json, name: string, fields: readonly string[]): void => {
    if (value.is('null')) return
    if (value.isArray) forEach(value, (element) => addIds(kind, element, name, fields))
    else if (value.isObject && idOrObject.has(name)) visit(value, name)
    else found.push({ kind, id: value, param: pathOf(path), fields })
  }

  const forEach = (array: Json, visitElement: (element: Json) => void): void => {
    array.elements().forEach((element, index) => {
      if (found.length > max) return
      path.push(index)
      visitElement(element)
      path.pop()
    })
  }

  visit(request, '')
  return found
}

/** Fields that hold an id, or an object that says more. */
const idOrObject: ReadonlySet<string> = new Set(['conversation', 'container', 'batch'])

/** A key that may hold an id. */
const mayHoldId = /(?:ids?|conversation|container|batch|cached[_-]?content)$/iu

/** In JSON's own text: the same, or escapes that might become it. Without Unicode's case folding, by which U+017F is an s, it takes a third of the time. */
const mayHoldReference = /\\u|(?:id[s\u017f]?|conver[s\u017f]ation|container|batch|cached[_-]?content)"\s*:/i

/**
 * Items that say all that they are, so that their `id` is a mere label, by which a caller's program finds them again. Of the others (what a hosted tool did,
 * what a model thought, encrypted or not, a picture that it made) an upstream may look up by the id what the item does not say.
 */
const selfContained: ReadonlySet<unknown> = new Set([
  ...['message', 'function_call', 'function_call_output', 'custom_tool_call', 'custom_tool_call_output'],
  ...['computer_call', 'computer_call_output', 'local_shell_call', 'local_shell_call_output'],
  ...['shell_call', 'shell_call_output', 'apply_patch_call', 'apply_patch_call_output'],
  ...['mcp_list_tools', 'mcp_approval_response', 'additional_tools', 'configuration_update', 'compaction_trigger'],
])

/** Whether an upstream may look up by an item's id what the item does not say, however strictly it reads the item's keys. */
export const isReference = (item: Json): boolean => {
  const type = item.get('type') ?? absent
  // What has no type is a message, or no more than an id.
  const isSelfContained = type.is('null') ? item.get('role')?.isString === true : selfContained.has(wordOf(type))
  return (
    !isSelfContained ||
    item
      .members()
      .some(({ key, value }) => key !== 'type' && foldKey(key) === 'type' && !selfContained.has(wordOf(value)))
  )
}

const absent = toJson(null)

const pathOf = (path: readonly (string | number)[]): string =>
  path.map((step, index) => (typeof step === 'number' ? `[${step}]` : index === 0 ? step : `.${step}`)).join('')

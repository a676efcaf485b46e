import { Pace, runSteps, type SteppedWork } from '../../shared/background/turns.ts'
import { entriesPerTurn, type Json, toJson } from '../../shared/json/json.ts'
import { shortStringOf } from '../protocol/validation.ts'
import { allowedNames, foldFieldName, isFreeForm, meaningOf, type UntrackedKind } from './id-fields.ts'
import type { ObjectKind } from './store.ts'

/** An id in a request. */
export interface ObjectReference {
  readonly kind: ObjectKind | UntrackedKind
  /** The value in the request: a string, or anything else, which is no id. */
  readonly id: Json
  /** Path of the field, for example `input[0].content[1].file_id`. */
  readonly param: string
  /** Folded names by which `allowedFields` can allow the field. */
  readonly fields: readonly string[]
}

/** In bytes. For a longer request, decoding the text for one search costs more than it saves. */
const maxSearchLength = 2 ** 20

/**
 * Finds all ids in a chat or responses request that refer to objects of the account. It stops soon after `max` of them.
 */
export const objectReferences = (request: Json, max?: number): readonly ObjectReference[] =>
  runSteps(findReferences(request, max))

/** The same in steps. */
export function* findReferences(
  request: Json,
  max = Number.POSITIVE_INFINITY,
): SteppedWork<readonly ObjectReference[]> {
  const found: ObjectReference[] = []
  if (request.byteLength <= maxSearchLength && !mayHoldReference.test(request.raw)) return found
  const path: (string | number)[] = []
  const pace = new Pace(entriesPerTurn)

  /** @param parent folded name of the member that contains the value */
  function* visit(value: Json, parent: string): SteppedWork<void> {
    if (value.isArray) yield* forEach(value, (element) => (isContainer(element) ? visit(element, parent) : undefined))
    const isItem = parent === 'input' && path.length === 2
    let reference: boolean | undefined
    for (const { key, value: inner } of value.members()) {
      if (found.length > max) return
      if (pace.isDue()) yield
      const meaning = mayHoldId.test(key) ? meaningOf(parent, key) : undefined
      if (meaning === 'label') continue
      const name = meaning !== undefined || isContainer(inner) ? foldFieldName(key) : ''
      if (name === '' || isFreeForm(parent, name)) continue
      path.push(key)
      const isItemId = meaning === 'item' && name === 'id'
      if (meaning === undefined || (isItemId && !isItem)) yield* visit(inner, name)
      else {
        // The item is classified once, even if it repeats its id.
        if (isItemId) reference ??= isItemReference(value)
        if (!isItemId || reference) yield* addIds(meaning, inner, name, allowedNames(parent, name))
      }
      path.pop()
    }
  }

  /** Adds the ids in the value of an id field. */
  function* addIds(
    kind: ObjectReference['kind'],
    value: Json,
    name: string,
    fields: readonly string[],
  ): SteppedWork<void> {
    if (value.is('null')) return
    if (value.isArray) yield* forEach(value, (element) => addIds(kind, element, name, fields))
    else if (value.isObject && idOrObject.has(name)) yield* visit(value, name)
    else found.push({ kind, id: value, param: pathOf(path), fields })
  }

  function* forEach(array: Json, visitElement: (element: Json) => SteppedWork<void> | undefined): SteppedWork<void> {
    for (const [index, element] of array.elements().entries()) {
      if (found.length > max) return
      if (pace.isDue()) yield
      path.push(index)
      const more = visitElement(element)
      if (more) yield* more
      path.pop()
    }
  }

  yield* visit(request, '')
  return found
}

const isContainer = (value: Json): boolean => value.isObject || value.isArray

/** Fields whose value is an id, or an object that contains ids. */
const idOrObject: ReadonlySet<string> = new Set(['conversation', 'container', 'batch'])

/** Keys that may hold an id. */
const mayHoldId = /(?:ids?|conversation|container|batch|cached[_-]?content)$/iu

/**
 * The same in JSON source, or an escape that could hide such a key. Without the `u` flag the search takes a third of
 * the time; so U+017F, which case folding turns into "s", is listed.
 */
const mayHoldReference = /\\u|(?:id[s\u017f]?|conver[s\u017f]ation|container|batch|cached[_-]?content)"\s*:/i

/**
 * Types of items with complete content in some member, so that their `id` is a mere label. Without that member, an
 * upstream may look it up by the id.
 */
const contentMembers: ReadonlyMap<string, readonly string[]> = new Map([
  ['message', ['content', 'text']],
  ['function_call', ['arguments']],
  ['function_call_output', ['output']],
  ['custom_tool_call', ['input']],
  ['custom_tool_call_output', ['output']],
])

/**
 * Further types of items with complete content.
 *
 * For other items (calls of hosted tools, reasoning, generated images) an upstream may look up missing content by the
 * id.
 */
const selfContained: ReadonlySet<string> = new Set([
  ...['computer_call', 'computer_call_output', 'local_shell_call', 'local_shell_call_output'],
  ...['shell_call', 'shell_call_output', 'apply_patch_call', 'apply_patch_call_output'],
  ...['mcp_list_tools', 'mcp_approval_response', 'additional_tools', 'configuration_update', 'compaction_trigger'],
  ...['tool_search_output', 'agent_message'],
])

/**
 * Whether an upstream may look up the content of an item by its id. It considers every key that a lenient upstream may
 * read as `type`.
 */
export const isItemReference = (item: Json): boolean => {
  const type = item.get('type') ?? absent
  // An item without a type is a message if it has a role, and otherwise only an id.
  const name = type.is('null') && item.get('role')?.isString ? 'message' : shortStringOf(type)
  return (
    !isSelfContained(item, name) ||
    item
      .members()
      .some(
        ({ key, value }) =>
          key !== 'type' && foldFieldName(key) === 'type' && !isSelfContained(item, shortStringOf(value)),
      )
  )
}

const isSelfContained = (item: Json, type: string | undefined): boolean => {
  if (type === undefined) return false
  const members = contentMembers.get(type)
  return members ? members.some((member) => !(item.get(member) ?? absent).is('null')) : selfContained.has(type)
}

const absent = toJson(null)

const pathOf = (path: readonly (string | number)[]): string =>
  path.map((step, index) => (typeof step === 'number' ? `[${step}]` : index === 0 ? step : `.${step}`)).join('')

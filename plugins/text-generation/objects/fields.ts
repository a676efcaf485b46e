import type { ObjectKind } from './store.ts'

/** What an id in a request names: an object whose owner the gateway may know, one whose owner it cannot know, or no object of the account at all. */
export type FieldMeaning = ObjectKind | UnknownKind | 'label'

/** Kinds of objects that are made elsewhere, or in ways that the gateway does not see. `object`: of a kind that nobody here has heard of. */
export type UnknownKind =
  | 'file'
  | 'vector store'
  | 'container'
  | 'prompt'
  | 'batch'
  | 'cache'
  | 'skill'
  | 'tunnel'
  | 'recording'
  | 'voice'
  | 'object'

/**
 * Fields of both protocols that hold ids, by their name or by that of the object around them and their own. A field that is not here and whose name ends in `id` or
 * `ids` names an object of a kind that nobody here knows. Both protocols share the table: what one does not know, its upstream may.
 */
export const objectFields: ReadonlyMap<string, FieldMeaning> = new Map<string, FieldMeaning>([
  ['previous_response_id', 'response'],
  ['comparison_response_id', 'response'],
  ['response_id', 'response'],
  ['conversation', 'conversation'],
  ['conversation.id', 'conversation'],
  ['conversation_id', 'conversation'],
  // Not every item's: see `isReference`.
  ['input.id', 'item'],
  ['item_id', 'item'],
  ['approval_request_id', 'item'],
  ['file_id', 'file'],
  ['file_ids', 'file'],
  ['file.id', 'file'],
  ['vector_store_ids', 'vector store'],
  ['vector_store_id', 'vector store'],
  ['container', 'container'],
  ['container_id', 'container'],
  ['container.id', 'container'],
  ['prompt.id', 'prompt'],
  ['prompt_id', 'prompt'],
  ['batch', 'batch'],
  ['batch_id', 'batch'],
  ['batch.id', 'batch'],
  // What one vendor keeps of an input, to be gone on behind.
  ['cached_content', 'cache'],
  ['skill_id', 'skill'],
  ['tunnel_id', 'tunnel'],
  // What a model said aloud before, kept for some hours.
  ['audio.id', 'recording'],
  ['voice.id', 'voice'],
  // One of the vendor's own services, used with credentials that the caller brings along.
  ['connector_id', 'label'],
  // Which call an answer belongs to, within the very conversation.
  ['call_id', 'label'],
  ['tool_call_id', 'label'],
  ['tool_calls.id', 'label'],
  ['caller_id', 'label'],
  ['pending_safety_checks.id', 'label'],
  ['acknowledged_safety_checks.id', 'label'],
  // Where words came from. The words are there; nothing is fetched.
  ['annotations.file_id', 'label'],
  ['annotations.container_id', 'label'],
  ['results.file_id', 'label'],
  // Of the caller's own: people, traces, and keys for a cache of nothing but what its callers send anew. (Not so `request_id`: some servers name the response by it.)
  ['user_id', 'label'],
  ['trace_id', 'label'],
  ['safety_identifier', 'label'],
  ['prompt_cache_key', 'label'],
])

/** A key as the most lenient upstream reads it: in any case, and whatever stands between its words. */
export const foldKey = (key: string): string => {
  if (commonKey.test(key)) return key.replaceAll('_', '')
  // Through upper case, where letters end up that look like ASCII and are not (U+017F).
  return key.slice(0, maxKeyLength).replaceAll(/[_-]/g, '').toUpperCase().toLowerCase()
}

const commonKey = /^[a-z_]{1,64}$/

/** Longer than any field's name. */
const maxKeyLength = 128

const folded = new Map([...objectFields].map(([field, meaning]) => [foldKey(field), meaning]))

/** Of a field whose name nobody here knows: `thread_id`, `threadId`. */
const looksLikeId = /(?:^|[_-])ids?$/iu
const camelId = /[\p{Ll}\d]I[dD]s?$/u

/** What the ids in a field name; undefined: it holds none. @param parent folded name of the object around */
export const meaningOf = (parent: string, key: string): FieldMeaning | undefined => {
  const name = foldKey(key)
  return (
    folded.get(`${parent}.${name}`) ??
    folded.get(name) ??
    // An `id` says of what it is only by where it stands; anywhere else it is a name that the caller gave to something.
    (name !== 'id' && (looksLikeId.test(key) || camelId.test(key)) ? 'object' : undefined)
  )
}

/** Members whose own members have any names: tags, headers, variables of a shell, attributes of files, and the schemas of callers' functions and answers. */
const freeForm: ReadonlySet<string> = new Set(
  [
    ...['metadata', 'headers', 'env', 'attributes', 'logit_bias', 'arguments'],
    ...['tools', 'function', 'functions'].flatMap((tool) => [
      `${tool}.parameters`,
      `${tool}.input_schema`,
      `${tool}.output_schema`,
    ]),
    ...['json_schema', 'format', 'response_format'].map((tool) => `${tool}.schema`),
  ].map((field) => foldKey(field)),
)

/** Whether the members of a member have any names, which say nothing. @param parent folded name of the object around */
export const isFreeForm = (parent: string, name: string): boolean =>
  freeForm.has(name) || freeForm.has(`${parent}.${name}`)

/** By which names, folded, an operator may allow a field: `prompt` and `prompt.id` are one, as are `file_id` and `file.file_id`. */
export const allowedNames = (parent: string, name: string): readonly string[] => {
  if (name !== 'id') return [name, `${parent}.${name}`]
  return parent === 'input' ? [itemReference] : [parent, `${parent}.id`]
}

/** By which an operator allows the ids of items. */
export const itemReference = 'itemreference'

import type { ObjectKind } from './store.ts'

/**
 * What an id in a request refers to: a kind with recorded owners, a kind without, or (`label`) no object of the
 * account.
 */
export type FieldMeaning = ObjectKind | UntrackedKind | 'label'

/**
 * Kinds of objects whose owners the gateway cannot know, because they are created without it. `object`: an unknown
 * kind.
 */
export type UntrackedKind =
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
 * Id fields of both protocols, by their own name or by the name of the object that contains them and their own.
 *
 * A field that is not in this table and whose name ends in `id` or `ids` refers to an object of an unknown kind. Both
 * protocols share the table, because an upstream may accept the fields of the other one.
 */
export const objectFields: ReadonlyMap<string, FieldMeaning> = new Map<string, FieldMeaning>([
  ['previous_response_id', 'response'],
  ['comparison_response_id', 'response'],
  ['response_id', 'response'],
  ['conversation', 'conversation'],
  ['conversation.id', 'conversation'],
  ['conversation_id', 'conversation'],
  // Only of some items: see `isItemReference`.
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
  // Gemini's OpenAI-compatible API continues a cached input by this name.
  ['cached_content', 'cache'],
  ['skill_id', 'skill'],
  ['tunnel_id', 'tunnel'],
  // Audio output of a model, which the upstream keeps for some hours.
  ['audio.id', 'recording'],
  ['voice.id', 'voice'],
  // A service of the vendor, used with credentials in the caller's request.
  ['connector_id', 'label'],
  // The tool call that an output belongs to, within the same conversation.
  ['call_id', 'label'],
  ['tool_call_id', 'label'],
  ['tool_calls.id', 'label'],
  ['caller_id', 'label'],
  ['pending_safety_checks.id', 'label'],
  ['acknowledged_safety_checks.id', 'label'],
  // Citations in earlier output. The upstream does not fetch them.
  ['annotations.file_id', 'label'],
  ['annotations.container_id', 'label'],
  ['results.file_id', 'label'],
  // The caller's own ids: users, traces, cache keys. A prompt cache key gives no access to the content of other
  // requests. Not so `request_id`: some servers use it for the id of the response.
  ['user_id', 'label'],
  ['trace_id', 'label'],
  ['safety_identifier', 'label'],
  ['prompt_cache_key', 'label'],
])

/** Normalises a key as the most lenient upstream might: it ignores case, `_` and `-`. */
export const foldFieldName = (key: string): string => {
  if (commonKey.test(key)) return key.replaceAll('_', '')
  // Via upper case, which maps letters like U+017F to the ASCII letter that they resemble.
  return key.slice(0, maxKeyLength).replaceAll(/[_-]/g, '').toUpperCase().toLowerCase()
}

const commonKey = /^[a-z_]{1,64}$/

const maxKeyLength = 128

const folded = new Map([...objectFields].map(([field, meaning]) => [foldFieldName(field), meaning]))

/** Names of unknown id fields: `thread_id`, `threadId`. */
const looksLikeId = /(?:^|[_-])ids?$/iu
const camelId = /[\p{Ll}\d]I[dD]s?$/u

/**
 * What the ids in a field refer to. Undefined: the field holds no ids. @param parent folded name of the object that
 * contains the field
 */
export const meaningOf = (parent: string, key: string): FieldMeaning | undefined => {
  const name = foldFieldName(key)
  return (
    folded.get(`${parent}.${name}`) ??
    folded.get(name) ??
    // What an `id` refers to depends on the object that contains it. In any other object it is a name that the caller
    // has chosen.
    (name !== 'id' && (looksLikeId.test(key) || camelId.test(key)) ? 'object' : undefined)
  )
}

/**
 * Members whose own keys are arbitrary: tags, headers, environment variables, file attributes, and JSON schemas of the
 * caller.
 */
const freeForm: ReadonlySet<string> = new Set(
  [
    // Codex describes its session in `client_metadata`.
    ...['metadata', 'client_metadata', 'headers', 'env', 'attributes', 'logit_bias', 'arguments'],
    ...['tools', 'function', 'functions'].flatMap((tool) => [
      `${tool}.parameters`,
      `${tool}.input_schema`,
      `${tool}.output_schema`,
    ]),
    ...['json_schema', 'format', 'response_format'].map((tool) => `${tool}.schema`),
  ].map((field) => foldFieldName(field)),
)

/**
 * Whether the keys inside a member are arbitrary and therefore no fields. @param parent folded name of the object that
 * contains the member
 */
export const isFreeForm = (parent: string, name: string): boolean =>
  freeForm.has(name) || freeForm.has(`${parent}.${name}`)

/**
 * The folded names by which `allowedFields` can allow a field. `prompt` and `prompt.id` are the same, and so are
 * `file_id` and `file.file_id`.
 */
export const allowedNames = (parent: string, name: string): readonly string[] => {
  if (name !== 'id') return [name, `${parent}.${name}`]
  return parent === 'input' ? [itemReference] : [parent, `${parent}.id`]
}

/** The name by which `allowedFields` allows item ids. */
export const itemReference = 'itemreference'

import type { Json } from '../../../shared/json/json.ts'
import { rejectParameter } from '../problem.ts'
import type { VideoServiceTier } from '../task.ts'
import { defaultExpirySeconds, expiryBounds, type OwnFields, type TaskFields } from './fields.ts'

/** What the gateway needs of a create request. */
export interface VideoRequest extends Pick<TaskFields, 'own' | 'shown'> {
  readonly model: string
  readonly serviceTier: VideoServiceTier
  /** Seconds until the task expires. */
  readonly expiresAfter: number
  /** Id of the caller's own task, and the index of its item in `content`. */
  readonly draft: { readonly id: string; readonly index: number } | undefined
  /** The first text, if it is no longer than a prompt of the OpenAI API may be. */
  readonly prompt: string | undefined
  /** Whether pictures that the upstream refuses for a person become assets: `references: "auto"`. */
  readonly registersPictures: boolean
}

/** The fields that the gateway removes from a request and sets itself. */
export const ownNames = [
  ...['priority', 'execution_expires_after', 'callback_url', 'safety_identifier', 'dry_run', 'references'],
] as const

/** Fields that a task object repeats. */
const shownNames = [
  ...['resolution', 'ratio', 'duration', 'frames', 'seed', 'generate_audio', 'output_format', 'draft'],
]

/**
 * Fields whose meaning the gateway must know. Their names must be spelled exactly: an upstream may ignore case and
 * separators.
 */
const knownNames = ['model', 'content', 'service_tier', ...ownNames]

const draftNames = ['draft_task', 'draft_task_id']

/**
 * Bytes of a request besides the addresses of media. An upstream repeats the prompt in its lists (`revised_prompt`), a
 * hundred of which a poll reads at once. A prompt of 32,000 characters fits, however it is written in JSON.
 */
const maxTextBytes = 2 ** 18
const maxModelLength = 256
const maxIdentifierLength = 64
const maxUrlLength = 2_048

/**
 * Reads what the gateway needs of a create request. The vendor validates all else.
 *
 * Throws VideoProblem 400 for an invalid field that the gateway owns, for a key of such a field that stands twice or is
 * spelled in another way, and for an id of a task anywhere but in `content[].draft_task.id`.
 */
export const readVideoRequest = (json: Json): VideoRequest => {
  const values = topLevelOf(json)
  const model = textOf(values, 'model', maxModelLength)
  if (model === undefined || model === '') return rejectParameter('model', 'is required', 'MissingParameter')
  const serviceTier = textOf(values, 'service_tier', maxModelLength) ?? 'default'
  if (serviceTier !== 'default' && serviceTier !== 'flex')
    return rejectParameter('service_tier', 'must be default or flex')
  const own = ownFieldsOf(values)
  const content = values.get('content')
  // A text in its place would be a prompt, in which the search for assets does not look.
  if (content && !content.isArray) return rejectParameter('content', 'must be an array')
  const draft = draftOf(content)
  const mediaBytes = forbidTaskIds(json, draft)
  if (json.byteLength - mediaBytes > maxTextBytes)
    rejectParameter('content', `must have at most ${maxTextBytes} bytes besides the addresses of media`)
  return {
    model,
    serviceTier,
    own,
    shown: shownOf(json),
    expiresAfter: own.execution_expires_after ?? defaultExpirySeconds,
    draft,
    prompt: promptOf(content),
    registersPictures: registersPictures(values, serviceTier),
  }
}

const registersPictures = (values: ReadonlyMap<string, Json>, tier: VideoServiceTier): boolean => {
  const value = values.get('references')
  if (value === undefined) return false
  if (value.byteLength > maxIdBytes || value.string() !== 'auto') rejectParameter('references', 'must be auto')
  // Such a task waits in the queue meanwhile, which those of the tier never do.
  if (tier === 'flex') rejectParameter('references', 'must not be auto with the service tier flex')
  return true
}

/** The most characters of a prompt in the OpenAI API. */
export const maxPromptLength = 32_000

const promptOf = (content: Json | undefined): string | undefined => {
  const text = content?.elements().find((item) => item.get('type')?.string() === 'text')
  const value = text?.get('text')
  // A character takes at most six bytes in JSON.
  const prompt = value && value.byteLength <= 6 * maxPromptLength + 2 ? value.string() : undefined
  return prompt === undefined || prompt.length > maxPromptLength ? undefined : prompt
}

/** Whether a request asks only what would happen. Throws VideoProblem 400 for anything but true and false. */
export const isDryRun = (json: Json): boolean => {
  const value = json.get('dry_run')
  if (value === undefined || value.is('null') || value.is('false')) return false
  return value.is('true') || rejectParameter('dry_run', 'must be true or false')
}

/** The values of the fields that the gateway must know. `null` counts as absent. */
const topLevelOf = (json: Json): ReadonlyMap<string, Json> => {
  const values = new Map<string, Json>()
  for (const { key, value } of json.members()) {
    const known = knownSpellings.get(foldName(key))
    if (known === undefined) continue
    if (key !== known) rejectParameter(key.slice(0, 64), `must be spelled ${known}`)
    if (values.has(key)) rejectParameter(key, 'is given more than once')
    values.set(key, value)
  }
  for (const [key, value] of values) if (value.is('null')) values.delete(key)
  return values
}

/** Longer than any spelling of a name. */
const maxKeyLength = 256

/**
 * Two keys that an upstream might read as the same name become equal: it may ignore case (also of the letters that
 * Unicode folds into ASCII) and separators.
 */
const foldName = (key: string): string => {
  const start = key.slice(0, maxKeyLength)
  // Most keys are ASCII. To normalize others costs fifty times as much.
  const ascii = /^[\0-\x7f]*$/.test(start) ? start : start.normalize('NFKC').toUpperCase()
  return ascii.toLowerCase().replace(/[^a-z0-9]/g, '')
}

const knownSpellings: ReadonlyMap<string, string> = new Map(knownNames.map((name) => [foldName(name), name]))
const draftSpellings: ReadonlySet<string> = new Set(draftNames.map(foldName))

const textOf = (values: ReadonlyMap<string, Json>, name: string, max: number): string | undefined => {
  const value = values.get(name)
  if (value === undefined) return undefined
  // A character takes at most six bytes in JSON.
  const text = value.byteLength <= 6 * max + 2 ? value.string() : undefined
  if (!value.isString || text === undefined || text.length > max || !text.isWellFormed() || text.includes('\0'))
    return rejectParameter(name, `must be a string of at most ${max} characters`)
  return text
}

const integerOf = (values: ReadonlyMap<string, Json>, name: string, min: number, max: number): number | undefined => {
  const value = values.get(name)
  if (value === undefined) return undefined
  const number = value.isNumber ? Number(value.value()) : Number.NaN
  return Number.isInteger(number) && number >= min && number <= max
    ? number
    : rejectParameter(name, `must be an integer from ${min} to ${max}`)
}

const ownFieldsOf = (values: ReadonlyMap<string, Json>): OwnFields => {
  const callback = textOf(values, 'callback_url', maxUrlLength)
  if (callback !== undefined && !/^https?:$/.test(URL.parse(callback)?.protocol ?? ''))
    rejectParameter('callback_url', 'must be an http or https URL')
  const fields = {
    priority: integerOf(values, 'priority', 0, 9),
    execution_expires_after: integerOf(values, 'execution_expires_after', expiryBounds.min, expiryBounds.max),
    callback_url: callback,
    safety_identifier: textOf(values, 'safety_identifier', maxIdentifierLength),
  }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

const shownOf = (json: Json): TaskFields['shown'] => {
  const shown: Record<string, unknown> = {}
  for (const [name, value] of shownNames.map((name) => [name, json.get(name)] as const))
    if (value && value.byteLength <= 64 && !value.isObject && !value.isArray && !value.is('null'))
      shown[name] = value.value()
  return shown
}

const draftOf = (content: Json | undefined): VideoRequest['draft'] => {
  let draft: VideoRequest['draft']
  for (const [index, item] of (content?.elements() ?? []).entries()) {
    const tasks = item.all('draft_task')
    if (tasks.length === 0) continue
    const param = `content[${index}].draft_task`
    if (tasks.length > 1) rejectParameter(param, 'is given more than once')
    if (draft) rejectParameter(param, 'is given more than once')
    const ids = tasks[0]?.members() ?? []
    const [only] = ids
    const id = only?.key === 'id' && only.value.byteLength <= 1_024 ? only.value.string() : undefined
    if (ids.length !== 1 || id === undefined)
      return rejectParameter(`${param}.id`, 'must be a string, and the only member of draft_task')
    draft = { id, index }
  }
  return draft
}

/** How ids of tasks begin. */
const taskIdStart = /^\W*cgt-/i

/** Longer than any id, so that texts and files are not decoded. */
const maxIdBytes = 1_024

/**
 * Rejects what an upstream could read as the id of a task of its account, except the one that the gateway replaces.
 * Returns the bytes of the addresses of media, among them pictures in base64.
 */
const forbidTaskIds = (request: Json, draft: VideoRequest['draft']): number => {
  let mediaBytes = 0
  const visit = (json: Json, path: string): void => {
    if (json.isArray) {
      for (const [index, element] of json.elements().entries()) visit(element, `${path}[${index}]`)
    } else if (json.isObject) {
      for (const { key, value } of json.members()) {
        const inner = path === '' ? key.slice(0, 64) : `${path}.${key.slice(0, 64)}`
        const isDraft = draft !== undefined && path === `content[${draft.index}]` && key === 'draft_task'
        if (isDraft) continue
        if (draftSpellings.has(foldName(key))) rejectParameter(inner, 'is not supported here')
        if (key === 'url' && value.isString) mediaBytes += value.byteLength
        if (key !== 'text' || !value.isString) visit(value, inner)
      }
    } else if (json.isString && json.byteLength <= maxIdBytes && taskIdStart.test(json.string() ?? ''))
      rejectParameter(path, 'must not be the id of a task: name a draft in content[].draft_task.id')
  }
  visit(request, '')
  return mediaBytes
}

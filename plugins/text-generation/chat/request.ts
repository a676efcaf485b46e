import { type Json, type MemberChange, toJson } from '../../shared/json.ts'
import { withoutStreamFields } from '../stream-fields.ts'
import type { Addition } from '../upstream/additions.ts'
import type { Capabilities } from '../upstream/model-routing.ts'
import {
  checkArray,
  checkInteger,
  checkNumber,
  checkObject,
  checkString,
  elementsOf,
  fieldOf,
  isPresent,
  type Present,
  readBoolean,
  readModel,
  refuseField,
  requireField,
  wordOf,
} from '../validation.ts'

/** What a relay has to know of a chat request. */
export interface ChatRequest {
  /** Not empty. */
  readonly model: string
  readonly stream: boolean
  /** Whether the caller asked for a chunk with `usage` at the end of a stream. */
  readonly includeUsage: boolean
}

/**
 * Checks what the document names of `POST /v1/chat/completions`, in the order of its tables. `null` counts as absent; what the document does
 * not name passes, unknown block types too.
 *
 * Throws TextProblem 400 whose `param` is the first offending field, for example `messages[2].role`; also for a field that stands twice.
 */
export const checkChatRequest = (
  request: Json,
  { maxTemperature = 2 }: Pick<Capabilities, 'maxTemperature'> = {},
): ChatRequest => {
  const model = readModel(request)
  const messages = requireField(fieldOf(request, 'messages'))
  const all = elementsOf(messages)
  if (all.length === 0) refuseField(messages.param, 'must be a non-empty array')
  for (const message of all) checkMessage(message)
  const stream = readBoolean(fieldOf(request, 'stream'))
  checkInteger(fieldOf(request, 'max_tokens'), 1)
  // Its newer name is the upstream's to check, but decides whether there is a maximum.
  fieldOf(request, 'max_completion_tokens')
  checkNumber(fieldOf(request, 'temperature'), 0, maxTemperature)
  checkNumber(fieldOf(request, 'top_p'), 0, 1)
  checkArray(fieldOf(request, 'tools'))
  const format = fieldOf(request, 'response_format')
  checkObject(format)
  if (isPresent(format)) checkString(requireField(fieldOf(format.json, 'type', format.param)))
  const options = fieldOf(request, 'stream_options')
  checkObject(options)
  const usage = isPresent(options) ? fieldOf(options.json, 'include_usage', options.param).json : undefined
  return { model, stream, includeUsage: usage?.is('true') ?? false }
}

/** The document's four roles, and two more that client libraries send. */
const roles: readonly unknown[] = ['system', 'user', 'assistant', 'tool', 'developer', 'function']

const checkMessage = ({ param, json }: Present): void => {
  checkObject({ param, json })
  const field = requireField(fieldOf(json, 'role', param))
  const role = wordOf(field.json)
  if (!roles.includes(role)) refuseField(field.param, `must be one of ${roles.join(', ')}`)
  checkContent({ param, json }, role)
  if (role !== 'tool') return
  const call = requireField(fieldOf(json, 'tool_call_id', param))
  if (!call.json.isString || call.json.byteLength === 2) refuseField(call.param, 'must be a non-empty string')
}

const checkContent = (message: Present, role: string | undefined): void => {
  const content = fieldOf(message.json, 'content', message.param)
  if (role === 'assistant' && !isPresent(content) && saysOtherwise(message)) return
  const { param, json } = requireField(content)
  if (json.isString) return
  if (!json.isArray) refuseField(param, 'must be a string or an array of content blocks')
  for (const block of elementsOf({ param, json })) checkBlock(block)
}

/** Whether an assistant message holds something that client libraries send in place of content. */
const saysOtherwise = ({ param, json }: Present): boolean =>
  ['tool_calls', 'function_call', 'refusal', 'audio'].some((key) => {
    const instead = fieldOf(json, key, param)
    return isPresent(instead) && (!instead.json.isArray || instead.json.elements().length > 0)
  })

const checkBlock = ({ param, json }: Present): void => {
  checkObject({ param, json })
  const type = requireField(fieldOf(json, 'type', param))
  checkString(type)
  const name = wordOf(type.json) ?? ''
  blocks.get(name)?.(requireField(fieldOf(json, name, param)))
}

const checkAddress = ({ param, json }: Present): void => {
  checkObject({ param, json })
  checkString(requireField(fieldOf(json, 'url', param)))
}

const checkFrames = (frames: Present): void => {
  const all = elementsOf(frames)
  if (all.length === 0) refuseField(frames.param, 'must be a non-empty array of image addresses')
  for (const frame of all) checkString(frame)
}

/** The document's four blocks. Each has a field named after its type. */
const blocks: ReadonlyMap<string, (field: Present) => void> = new Map([
  ['text', checkString],
  ['image_url', checkAddress],
  ['video_url', checkAddress],
  ['video', checkFrames],
])

const yes = toJson(true)

/**
 * The request with what the gateway puts in, in one edit: a stream that reports its usage, whatever the caller asked for, and `maxTokens` where it names no
 * maximum of its own, under its old or its new name. Less what is in `without`; without `stream` it says nothing of streams at all.
 */
export const withAdditions = (request: Json, without: ReadonlySet<Addition>, maxTokens?: number): Json => {
  const changes: MemberChange[] = []
  if (maxTokens !== undefined && !without.has('max_tokens') && !maxima.some((key) => isNamed(request, key)))
    changes.push(['max_tokens', toJson(maxTokens)])
  if (without.has('stream')) return request.edit([...changes, ...withoutStreamFields])
  changes.push(['stream', yes])
  if (!without.has('stream_options')) changes.push(['stream_options', reportingUsage(request.get('stream_options'))])
  return request.edit(changes)
}

const maxima = ['max_tokens', 'max_completion_tokens']

const isNamed = (request: Json, key: string): boolean => !(request.get(key)?.is('null') ?? true)

/** Stream options that ask for usage; others stay. */
const reportingUsage = (options: Json | undefined): Json =>
  options?.isObject ? options.with('include_usage', yes) : onlyUsage

const onlyUsage = toJson({ include_usage: true })

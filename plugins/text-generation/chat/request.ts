import { Pace, type SteppedWork } from '../../shared/background/turns.ts'
import { type Json, toJson } from '../../shared/json/json.ts'
import type { Capabilities } from '../models/routing.ts'
import {
  checkArray,
  checkChoices,
  checkInteger,
  checkNumber,
  checkObject,
  checkString,
  elementsOf,
  fieldOf,
  isPresent,
  memberOf,
  type PresentField,
  readBoolean,
  readModel,
  rejectField,
  requireField,
  shortStringOf,
} from '../protocol/validation.ts'
import { type Addition, withoutStreamFields } from '../upstream/additions.ts'
import { isNoMaximum, outputMaximumChanges } from '../upstream/output-maximum.ts'

/** The fields of a chat request that the gateway itself uses. */
export interface ChatRequest {
  /** Not empty. */
  readonly model: string
  readonly stream: boolean
  /** Whether the caller asked for a chunk with `usage` at the end of a stream. */
  readonly includeUsage: boolean
}

/**
 * Checks the fields of `POST /v1/chat/completions` that the gateway knows. Other fields and unknown block types pass.
 *
 * `null` counts as absent.
 *
 * Throws TextProblem 400 for the first invalid field, and for a field that occurs twice. `param` is its path, for
 * example `messages[2].role`.
 */
export function* validateChatRequest(
  request: Json,
  { maxTemperature = 2 }: Pick<Capabilities, 'maxTemperature'> = {},
): SteppedWork<ChatRequest> {
  const model = readModel(request)
  const messages = requireField(fieldOf(request, 'messages'))
  const elements = elementsOf(messages)
  if (elements.length === 0) rejectField(messages.param, 'must be a non-empty array')
  const pace = new Pace()
  for (const message of elements) {
    if (pace.isDue()) yield
    for (const block of checkMessage(message)) {
      if (pace.isDue()) yield
      checkBlock(block)
    }
  }
  const stream = readBoolean(fieldOf(request, 'stream'))
  const maxTokens = fieldOf(request, 'max_tokens')
  if (!isNoMaximum(maxTokens.json)) checkInteger(maxTokens, 1)
  // The upstream checks its value. The gateway reads whether the request sets a maximum, so it may occur only once.
  fieldOf(request, 'max_completion_tokens')
  checkChoices(request)
  checkNumber(fieldOf(request, 'temperature'), 0, maxTemperature)
  checkNumber(fieldOf(request, 'top_p'), 0, 1)
  checkArray(fieldOf(request, 'tools'))
  const format = fieldOf(request, 'response_format')
  checkObject(format)
  if (isPresent(format)) checkString(requireField(memberOf(format, 'type')))
  return { model, stream, includeUsage: readIncludeUsage(request) }
}

/** Whether the caller asks for usage at the end of a stream. */
export const readIncludeUsage = (request: Json): boolean => {
  const options = fieldOf(request, 'stream_options')
  checkObject(options)
  const includeUsage = isPresent(options) ? memberOf(options, 'include_usage').json : undefined
  return includeUsage?.is('true') ?? false
}

/** The last two are the roles that some client libraries send besides the usual four. */
const roles: readonly unknown[] = ['system', 'user', 'assistant', 'tool', 'developer', 'function']

const noBlocks: readonly PresentField[] = []

/** Checks a message, and returns the blocks of its content, which are to be checked. */
const checkMessage = (message: PresentField): readonly PresentField[] => {
  checkObject(message)
  const field = requireField(memberOf(message, 'role'))
  const role = shortStringOf(field.json)
  if (!roles.includes(role)) rejectField(field.param, `must be one of ${roles.join(', ')}`)
  const blocks = blocksOf(message, role)
  if (role !== 'tool') return blocks
  const callId = requireField(memberOf(message, 'tool_call_id'))
  if (!callId.json.isString || callId.json.byteLength === 2) rejectField(callId.param, 'must be a non-empty string')
  return blocks
}

const blocksOf = (message: PresentField, role: string | undefined): readonly PresentField[] => {
  const content = memberOf(message, 'content')
  if (role === 'assistant' && !isPresent(content) && hasContentSubstitute(message)) return noBlocks
  const present = requireField(content)
  if (present.json.isString) return noBlocks
  if (!present.json.isArray) rejectField(present.param, 'must be a string or an array of content blocks')
  return elementsOf(present)
}

/** Whether an assistant message has one of the members that client libraries send without content. */
const hasContentSubstitute = (message: PresentField): boolean =>
  ['tool_calls', 'function_call', 'refusal', 'audio'].some((key) => {
    const substitute = memberOf(message, key)
    return isPresent(substitute) && (!substitute.json.isArray || substitute.json.elements().length > 0)
  })

const checkBlock = (block: PresentField): void => {
  checkObject(block)
  const type = requireField(memberOf(block, 'type'))
  checkString(type)
  const name = shortStringOf(type.json) ?? ''
  blockChecks.get(name)?.(requireField(memberOf(block, name)))
}

const checkAddress = (field: PresentField): void => {
  checkObject(field)
  checkString(requireField(memberOf(field, 'url')))
}

const checkFrames = (frames: PresentField): void => {
  const elements = elementsOf(frames)
  if (elements.length === 0) rejectField(frames.param, 'must be a non-empty array of image addresses')
  for (const address of elements) checkString(address)
}

/** The blocks that the gateway checks, by type. Each has a field named after its type. */
const blockChecks: ReadonlyMap<string, (field: PresentField) => void> = new Map([
  ['text', checkString],
  ['image_url', checkAddress],
  ['video_url', checkAddress],
  ['video', checkFrames],
])

const jsonTrue = toJson(true)

/**
 * The request with the gateway's additions, in one edit.
 *
 * It always requests a stream that reports usage, whatever the caller requested. For the maximum of the output see
 * `outputMaximumChanges`. Additions in `without` are left out; without `stream`, all fields about streaming are
 * removed.
 */
export const withAdditions = (
  request: Json,
  without: ReadonlySet<Addition>,
  capabilities: Capabilities = {},
  defaultMaxTokens?: number,
): Json => {
  const changes = outputMaximumChanges(request, capabilities, without.has('max_tokens') ? undefined : defaultMaxTokens)
  if (without.has('stream')) return request.edit([...changes, ...withoutStreamFields])
  changes.push(['stream', jsonTrue])
  if (!without.has('stream_options')) changes.push(['stream_options', withUsage(request.get('stream_options'))])
  return request.edit(changes)
}

/** The stream options with `include_usage`. Other options stay. */
const withUsage = (options: Json | undefined): Json =>
  options?.isObject ? options.with('include_usage', jsonTrue) : usageOnly

const usageOnly = toJson({ include_usage: true })

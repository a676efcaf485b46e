import type { SteppedWork } from '../../../shared/background/turns.ts'
import { composeArray, composeObject, type Json, type Members, toJson } from '../../../shared/json/json.ts'
import { TextProblem } from '../../protocol/problem.ts'
import {
  checkArray,
  checkInteger,
  checkNumber,
  checkObject,
  checkString,
  elementsOf,
  type Field,
  fieldOf,
  isPresent,
  memberOf,
  type PresentField,
  readBoolean,
  readModel,
  requireField,
  shortStringOf,
} from '../../protocol/validation.ts'
import { blockType, toSystemTexts, unsupported } from './content.ts'
import { type HostedTool, ToolNames, toChatTools } from './tools.ts'
import { messagesOf, toChatMessages } from './turns.ts'

/** A Messages request, and the chat request for it. */
export interface MessagesRequest {
  /** Not empty. */
  readonly model: string
  readonly stream: boolean
  /** The chat request, without fields about streaming. It has no field that this gateway does not know. */
  readonly chatRequest: Json
  /** What the caller wants of the model's reasoning: nothing, the text, or only the signature. */
  readonly thinking: 'none' | 'shown' | 'omitted'
  readonly stopSequences: ReadonlySet<string>
  /** Tools and earlier output of tools that only Anthropic's API runs. They are not in the chat request. */
  readonly hosted: readonly HostedTool[]
  /** The choice of a tool, if it demands one of these. */
  readonly demanded: HostedTool | undefined
  /** The first of these, if the request has no other tool. */
  readonly only: HostedTool | undefined
  /** The names of tools by the names of their functions, where they differ. */
  readonly toolNames: ReadonlyMap<string, string>
}

export interface ReadMessagesOptions {
  /** Opens the signature of a thinking block. Undefined: it is not ours, or it has been changed. */
  readonly openSignature: (signature: string) => string | undefined
  /** Whether the request generates text: then `max_tokens` is required. */
  readonly generates: boolean
}

/**
 * Reads a request of Anthropic's Messages API, and translates it to a chat request.
 *
 * Unknown fields are ignored, and so are those about caches, tiers and the editing of the context: without them, the
 * response means the same.
 *
 * Throws TextProblem 400 for the first field that is malformed, or that chat completions cannot express. `param` is its
 * path, for example `messages[0].content[1].source.url`.
 */
export function* translateMessagesRequest(
  request: Json,
  { openSignature, generates }: ReadMessagesOptions,
): SteppedWork<MessagesRequest> {
  const model = readModel(request)
  for (const [key, code] of rejectedFields) {
    const { param, json } = fieldOf(request, key)
    if (json) throw new TextProblem(400, `${param} cannot be translated to chat completions`, { param, code })
  }
  const stream = readBoolean(fieldOf(request, 'stream'))
  const maxTokens = fieldOf(request, 'max_tokens')
  if (generates) requireField(maxTokens)
  checkInteger(maxTokens, 1)
  const toolNames = new ToolNames()
  const tools = yield* toChatTools(request, toolNames)
  const hosted = [...tools.hosted, ...toHostedServers(request)]
  const system = toSystemPrompt(request)
  const onHostedBlock = (param: string, type: string) => hosted.push({ param, type })
  const messages = yield* toChatMessages(system, messagesOf(request), { openSignature, onHostedBlock, toolNames })
  const stop = toStop(request)
  const chatRequest = composeObject({
    model: request.get('model'),
    messages: composeArray(messages),
    max_tokens: maxTokens.json,
    ...toSampling(request),
    ...toUser(request),
    stop: stop.length === 0 ? undefined : composeArray(stop),
    ...tools.fields,
    ...toOutputFields(request),
  })
  const stopSequences = new Set(stop.map((sequence) => sequence.string() ?? ''))
  return {
    model,
    stream,
    chatRequest,
    thinking: readThinking(request),
    stopSequences,
    hosted,
    demanded: tools.demanded,
    only: tools.only,
    toolNames: toolNames.changed,
  }
}

/**
 * Fields for objects of the account, or for where the request is processed: without them, the response would be another
 * one. Their codes are those of Anthropic's API: its client goes on without a thread when it reads that code.
 */
const rejectedFields = [
  ['container', 'unsupported_parameter'],
  ['thread', 'thread_unsupported_request'],
  ['inference_geo', 'unsupported_parameter'],
] as const

const toHostedServers = (request: Json): readonly HostedTool[] => {
  const servers = fieldOf(request, 'mcp_servers')
  checkArray(servers)
  return isPresent(servers) && servers.json.elements().length > 0 ? [{ param: servers.param, type: 'mcp' }] : []
}

/** What Claude Code puts first for the accounts of Anthropic. Its text changes, so that no prompt cache would hit. */
const billingText = 'x-anthropic-billing-header:'

/** The texts of the system prompt. */
const toSystemPrompt = (request: Json): readonly Json[] => {
  const system = fieldOf(request, 'system')
  return isPresent(system) ? toSystemTexts(system).filter((text) => !text.string()?.startsWith(billingText)) : []
}

const toStop = (request: Json): readonly Json[] => {
  const sequences = fieldOf(request, 'stop_sequences')
  checkArray(sequences)
  const elements = isPresent(sequences) ? elementsOf(sequences) : []
  for (const sequence of elements) checkString(sequence)
  return elements.map(({ json }) => json)
}

const toSampling = (request: Json): Members => {
  const temperature = fieldOf(request, 'temperature')
  const topP = fieldOf(request, 'top_p')
  const topK = fieldOf(request, 'top_k')
  checkNumber(temperature, 0, 1)
  checkNumber(topP, 0, 1)
  checkInteger(topK, 0)
  return { temperature: temperature.json, top_p: topP.json, top_k: topK.json }
}

/** Longer ids are left out: OpenAI's API rejects them, and agents send JSON here. */
const maxUserBytes = 66

const toUser = (request: Json): Members => {
  const metadata = fieldOf(request, 'metadata')
  checkObject(metadata)
  if (!isPresent(metadata)) return {}
  const user = memberOf(metadata, 'user_id')
  checkString(user)
  return { user: user.json && user.json.byteLength <= maxUserBytes ? user.json : undefined }
}

const readThinking = (request: Json): MessagesRequest['thinking'] => {
  const thinking = fieldOf(request, 'thinking')
  if (!isPresent(thinking) || blockType(thinking) === 'disabled') return 'none'
  return shortStringOf(thinking.json.get('display')) === 'omitted' ? 'omitted' : 'shown'
}

/** Translates `output_config`, and the budget of `thinking`. */
const toOutputFields = (request: Json): Members => {
  const config = fieldOf(request, 'output_config')
  checkObject(config)
  const format = isPresent(config) ? memberOf(config, 'format') : undefined
  const effort = isPresent(config) ? memberOf(config, 'effort') : undefined
  // The name before structured outputs left beta.
  const given = format?.json ? format : fieldOf(request, 'output_format')
  return {
    response_format: isPresent(given) ? toResponseFormat(given) : undefined,
    reasoning_effort: toEffort(request, effort),
  }
}

const toResponseFormat = (format: PresentField): Json => {
  const type = blockType(format)
  if (type !== 'json_schema') return unsupported(`${format.param}.type`, type)
  const schema = requireField(memberOf(format, 'schema'))
  checkObject(schema)
  return composeObject({
    type: toJson('json_schema'),
    json_schema: composeObject({ name: toJson('output'), schema: schema.json }),
  })
}

/** Efforts of this protocol, by those that chat completions have everywhere. */
const efforts: ReadonlyMap<string, string> = new Map([
  ['low', 'low'],
  ['medium', 'medium'],
  ['high', 'high'],
  ['xhigh', 'high'],
  ['max', 'high'],
])

/** Budgets in tokens up to which the effort is low or medium. */
const lowBudget = 4_096
const mediumBudget = 16_384

/** The effort of the model's reasoning. Undefined where the caller wants none, or leaves it to the model. */
const toEffort = (request: Json, effort: Field | undefined): Json | undefined => {
  const thinking = fieldOf(request, 'thinking')
  const type = isPresent(thinking) ? blockType(thinking) : undefined
  if (type === 'disabled') return undefined
  const named = efforts.get(shortStringOf(effort?.json) ?? '')
  if (named) return toJson(named)
  if (!isPresent(thinking) || type !== 'enabled') return undefined
  const budget = requireField(memberOf(thinking, 'budget_tokens'))
  checkInteger(budget, 1)
  const tokens = Number(budget.json.raw)
  return toJson(tokens <= lowBudget ? 'low' : tokens <= mediumBudget ? 'medium' : 'high')
}
